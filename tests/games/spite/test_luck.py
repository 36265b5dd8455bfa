"""What lies hidden, and what chance did for each seat."""

import copy
import statistics
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from malice.protocol.cards import CARDS, VALUE
from malice.referee.games.spite import SpiteAndMalice
from malice.referee.games.spite.fit_luck import fit
from malice.referee.games.spite.luck import (
    FEATURES,
    WEIGHTS,
    Counts,
    FeatureMeter,
    FollowedTable,
    LuckMeter,
    Weights,
    count_values,
    find_luck,
    hash_rules,
)
from malice.referee.games.spite.messages import Draw, Flip
from malice.referee.games.spite.state import State
from malice.referee.rules import Ask, Result
from malice.referee.rulesets import load_ruleset

from .playouts import Chooser, Moment, make_lively_chooser, make_uniform_chooser, play_moments
from .tables import act, game, list_legal, to_act

RECYCLING = (
    "standard",
    "catsatcards",
    "multi-3-decks",
    "skipbo",
    "book",
    "loading",
    "g4a",
    "partners-4",
    "jokers-kings",
)
"""Rulesets with every kind of recycling, several packs, jokers, partners, and loaded cards."""


def read_weights(name: str = "standard") -> Weights:
    return msgspec.json.decode((WEIGHTS / f"{name}.json").read_bytes(), type=Weights)


def from_first_ask(moments: Iterator[Moment]) -> Iterator[Moment]:
    """Skip the deal: yield first the position of the first ask."""
    for moment in moments:
        if moment.state.turn:
            yield moment
            break
    yield from moments


def check_table(table: FollowedTable, state: State) -> None:
    """Compare every pile, the layers of the stock one by one."""
    assert table.hands == [count_values(hand) for hand in state.hands]
    assert table.sides == [[[VALUE[card] for card in pile] for pile in own] for own in state.sides]
    assert table.centre == [[VALUE[card] for card in stack] for stack in state.centre]
    assert table.heights == list(state.heights)
    assert sorted(table.aside) == sorted(VALUE[card] for card in state.aside)
    assert table.left == [len(pile) for pile in state.payoffs]
    for seat, pile in enumerate(state.payoffs):
        known = len(table.open[seat])
        assert table.open[seat] == [VALUE[card] for card in pile[len(pile) - known :]]
        assert table.covered[seat] == count_values(pile[: len(pile) - known])
    begin = 0
    for layer in table.stock:
        assert layer == count_values(state.stock[begin : begin + sum(layer)])
        begin += sum(layer)
    assert begin == len(state.stock)


def follow_and_check(engine: SpiteAndMalice, seed: str, choose: Chooser) -> int:
    """Return how many cards chance turned up in a game."""
    turned_up: list[int] = []

    def meet(kind: type[Struct], seat: int, value: int, pool: Counts) -> None:
        assert pool[value] > 0
        turned_up.append(value)

    moments = from_first_ask(play_moments(engine, seed, choose))
    table = FollowedTable(engine.derived, next(moments).state, meet)
    for moment in moments:
        table.follow(moment.events)
        if moment.state.phase in ("turn", "over"):
            check_table(table, moment.state)
    return len(turned_up)


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(RECYCLING), st.integers(0, 10_000), st.booleans())
def test_whoever_follows_a_game_knows_what_is_hidden_at_every_step(preset: str, number: int, lively: bool) -> None:
    seed = f"{preset} {number}"
    choose = (make_lively_chooser if lively else make_uniform_chooser)(seed)

    assert follow_and_check(game(preset), seed, choose) > 0


@pytest.mark.parametrize(
    "changes",
    [
        {"recycle": "bottom", "last_resort_recycle": True, "payoff_size": 5},
        {"recycle": "aside", "last_resort_recycle": True, "hand_size": 7},
        {"stalemate": "redeal", "discard": "optional", "decks": 1, "payoff_size": 8, "stock_out_when": "play_on"},
    ],
)
def test_rare_shuffles_are_followed(changes: dict[str, Any]) -> None:
    engine = game("standard", **changes)

    for number in range(2):
        assert follow_and_check(engine, str(number), make_lively_chooser(str(number))) > 0


def list_possible(before: State, event: Draw | Flip) -> Counts:
    """Return what could come first, from the position itself."""
    if isinstance(event, Draw):
        return count_values(before.stock)
    # After a tie a pile holds a card that all have seen, and the other does not.
    piles = [before.payoffs[event.seat]] if before.ties else before.payoffs
    return count_values(card for pile in piles for card in pile[:-1])


def name_card(value: int) -> str:
    return next(card for card in CARDS if VALUE[card] == value)


def list_gains(meter: LuckMeter, event: Draw | Flip, possible: Counts) -> list[float]:
    """Return what seat 0 would gain by each of the cards that could have come."""
    gains = []
    for value, many in enumerate(possible):
        if many:
            other = copy.deepcopy(meter)
            card = name_card(value)
            other.follow([Draw(event.seat, (card,)) if isinstance(event, Draw) else Flip(event.seat, card)])
            gains += [other.total()[0] - meter.total()[0]] * many
    return gains


@pytest.mark.parametrize(("seed", "ties"), [("zero", 1), ("one", 0)])
def test_over_all_hidden_cards_a_card_is_worth_nothing(seed: str, ties: int) -> None:
    engine = game("standard")
    moments = from_first_ask(play_moments(engine, seed, make_lively_chooser(seed)))
    state = next(moments).state
    assert state.ties == ties
    meter = LuckMeter(read_weights(), engine.derived, state)
    seen: set[type] = set()
    for moment in moments:
        for place, event in enumerate(moment.events[:3]):
            # Only what follows without a shuffle: then the position before tells what is hidden.
            if isinstance(event, Draw | Flip) and state.phase == "turn" and state.turn % 3 == 0:
                before = copy.deepcopy(meter)
                before.follow(moment.events[:place])
                gains = list_gains(before, event, list_possible(state, event))
                assert abs(statistics.fmean(gains)) < 1e-9
                assert max(gains) > 1e-3
                seen.add(type(event))
        meter.follow(moment.events)
        state = moment.state
    assert seen == {Draw, Flip}
    assert sum(meter.total()) == 0


def play(engine: SpiteAndMalice, deal: str, choosers: Sequence[Chooser], weights: Weights) -> tuple[float, float]:
    """Play one game; return the score and the luck of the first chooser, which sits at seat 0."""
    moments = play_moments(engine, deal, lambda legal: legal[0])
    state = next(from_first_ask(moments)).state
    meter = LuckMeter(weights, engine.derived, state)
    chance = Random(deal)
    while not isinstance(step := engine.next(state), Result):
        if isinstance(step, Ask):
            state, events = act(engine, state, choosers[to_act(engine, state)](list_legal(engine, state)))
        else:
            state, events = engine.shuffled(state, chance.sample(range(step.size), step.size))
        meter.follow(events)
    return (step.places[1] - step.places[0] + 1) / 2, meter.total()[0]


def test_luck_is_nothing_on_average_however_unequal_the_bots_are() -> None:
    engine, weights = game("standard"), read_weights()
    choosers = make_lively_chooser("strong"), make_uniform_chooser("weak")
    games = [play(engine, f"unequal {number}", choosers, weights) for number in range(40)]

    lucks = [luck for _, luck in games]
    assert statistics.fmean(score for score, _ in games) > 0.8
    assert statistics.stdev(lucks) > 0.05
    assert abs(statistics.fmean(lucks)) < 2 * statistics.stdev(lucks) / len(lucks) ** 0.5


def test_a_function_holds_for_the_parameters_it_was_fitted_for() -> None:
    weights, rules = read_weights(), load_ruleset("standard").rules
    luck = find_luck(rules, 2)

    assert luck
    assert len(luck.hash) == 64
    assert (weights.ruleset, weights.rules) == ("standard", hash_rules(rules))
    assert len(weights.plain) == len(weights.close) == FEATURES
    assert find_luck(msgspec.structs.replace(rules, hand_size=6), 2) is None
    assert find_luck(load_ruleset("multi-3").rules, 3) is None


def test_luck_is_measured_as_ever() -> None:
    """The hash names the weights alone: who changes what they weigh has to fit them anew."""
    engine = game("standard")
    moments = from_first_ask(play_moments(engine, "golden", make_lively_chooser("golden")))
    meter = LuckMeter(read_weights(), engine.derived, next(moments).state)
    for moment in moments:
        meter.follow(moment.events)

    assert meter.total()[0] == pytest.approx(0.4856786687020487, abs=1e-9)


def test_the_fit_finds_what_a_feature_is_worth() -> None:
    """On results that follow from one feature, without noise."""
    engine = game("standard")
    examples = []
    for number in range(6):
        moments = from_first_ask(play_moments(engine, f"fit {number}", make_lively_chooser(str(number))))
        meter = FeatureMeter(engine.derived, next(moments).state)
        for moment in moments:
            meter.follow(moment.events)
        examples.append(meter.sums)
    games = np.tile(np.array(examples), (100, 1))
    worth = fit([(each, 0.01 * each[3]) for each in games])

    assert games @ worth == pytest.approx(0.01 * games[:, 3], abs=1e-3)
