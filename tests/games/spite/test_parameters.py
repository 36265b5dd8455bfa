"""Any parameters without a contradiction play to the end; the others are refused in words."""

from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from malice.referee.errors import RulesetError
from malice.referee.games.spite import SpiteAndMalice
from malice.referee.games.spite.parameters import Parameters
from malice.referee.rulesets import list_rulesets, load_ruleset

from .playouts import make_lively_chooser
from .promises import play_and_check
from .random_parameters import VALUES


def test_every_parameter_is_varied_here() -> None:
    assert {*VALUES, "players"} == set(Parameters.__struct_fields__)


def change(field: str) -> st.SearchStrategy[tuple[str, Any]]:
    return st.tuples(st.just(field), st.sampled_from(VALUES[field]))


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=50, database=None)
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
