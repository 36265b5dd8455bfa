"""Any parameters without a contradiction play to the end; the others are refused in words."""

from itertools import product
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from malice.referee.errors import RulesetError
from malice.referee.games.spite import SpiteAndMalice
from malice.referee.games.spite.parameters import Compulsory, Parameters
from malice.referee.rulesets import list_rulesets, load_ruleset

from .playouts import make_lively_chooser
from .promises import play_and_check

RANK_SETS = ["", "A", "2", "A2", "A7", "Q", "K"]
VALUES: dict[str, list[Any]] = {
    "teams": ["none", "2x2", "3x2"],
    "decks": [1, 2, 3, "players"],
    "jokers": [0, 1, 6],
    "deck_kind": ["french", "skipbo"],
    "payoff_source": ["mixed", "separate_pack"],
    "payoff_size": [1, 3, 8, 13, 20, 26, 0.2, 0.425],
    "hand_size": [1, 3, 5, 7],
    "refill_at": ["turn_start", "turn_end"],
    "wild_kings": [True, False],
    "wild_ban": RANK_SETS,
    "stack_top": [12, 13, 10],
    "centre_limit": [1, 2, 4, "unlimited", "players+1"],
    "side_count": [1, 2, 4, 5],
    "side_rule": ["any", "equal_or_one_lower"],
    "side_initial": [0, 1, 2],
    "fill_empty_sides": [True, False],
    "discard": ["mandatory", "optional"],
    "compulsory": [Compulsory(*zones) for zones in product(RANK_SETS[:5], repeat=3)],
    "loading": ["none", "suit_adjacent"],
    "recycle": ["shuffle", "bottom", "aside"],
    "last_resort_recycle": [True, False],
    "stock_out_when": ["need", "empty", "none", "play_on"],
    "stock_out_result": ["draw", "fewest"],
    "stalemate": ["end", "must_play", "redeal"],
    "stalemate_result": ["draw", "fewest"],
    "redeals": [0, 1, 4],
    "first_player": ["high_payoff", "low_payoff", "random", "seat"],
    "first_tie": ["reshuffle_own", "redeal_together"],
    "side_visible": ["all", "top"],
    "payoff_count": ["public", "on_request", "on_request_own"],
    "scoring": ["win_only", "five_plus", "remain_only", "skipbo"],
    "match_target": [0, 50],
    "max_turns": [1, 5, 40],
    "no_progress": [1, 5, 40],
    "tie_cap": [0, 1, 5],
}


def test_every_parameter_is_varied_here() -> None:
    assert {*VALUES, "players"} == set(Parameters.__struct_fields__)


def change(field: str) -> st.SearchStrategy[tuple[str, Any]]:
    return st.tuples(st.just(field), st.sampled_from(VALUES[field]))


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=100, database=None)
@given(
    name=st.sampled_from(list_rulesets("spite")),
    seats=st.sampled_from([2, 2, 3, 4, 6, 8]),
    changes=st.lists(st.sampled_from(sorted(VALUES)).flatmap(change), min_size=1, max_size=5),
    seed=st.integers(0, 10**6),
)
def test_any_parameters_are_refused_in_words_or_play_to_the_end(
    name: str, seats: int, changes: list[tuple[str, Any]], seed: int
) -> None:
    rules = replace(load_ruleset(name).rules, **{"players": (2, 8), "max_turns": 40, **dict(changes)})
    try:
        engine = SpiteAndMalice(rules, seats)
    except RulesetError:
        event("refused")
    else:
        event("played")
        play_and_check(engine, str(seed), make_lively_chooser(str(seed)), samples=0.05)
