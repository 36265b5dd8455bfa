"""Worlds of Spite & Malice: uniform over the deals and shuffles in which a seat would have heard what it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import sqrt
from random import Random
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from malice.protocol.cards import HIDDEN, Cards
from malice.referee.course import Course, Dealer, list_asked
from malice.referee.errors import DataError, IllegalAction
from malice.referee.families import load_family
from malice.referee.games.spite import SpiteAndMalice
from malice.referee.games.spite.memory import Hand, Life, Reading, Record
from malice.referee.games.spite.messages import CardMoved, Deal
from malice.referee.games.spite.parameters import Compulsory, Parameters
from malice.referee.games.spite.state import State
from malice.referee.games.spite.worlds import Chain, resample
from malice.referee.rules import Events, Result
from malice.referee.rulesets import load_ruleset
from malice.referee.sample_games import Subject, play_sample
from malice.referee.worlds import arrange_cards
from tests.games.samples import FAR, differ
from tests.samples import sample

WORLDS = 700
"""Drawn by the family, and as many by trial and error."""
SEAT = 0

PACK = ("AC", "AC", "AC", "AD", "AD", "2C", "2C", "2D", "3C", "3C")
"""A small one: an ace completes a stack, and all others are only discarded."""
SMALL = {"decks": 1, "payoff_size": 2, "hand_size": 2, "side_count": 1, "first_player": "seat", "wild_kings": False}
GAMES: dict[str, tuple[dict[str, Any], int, int]] = {
    "copies": ({}, 6, 97),
    "shuffle": ({}, 3, 25),
    "bottom": ({"recycle": "bottom"}, 5, 6),
    "aside": ({"recycle": "aside"}, 4, 12),
    "compulsory": ({"compulsory": Compulsory(hand="A")}, 4, 6),
    "joint ties": ({"first_player": "high_payoff", "first_tie": "redeal_together"}, 1, 49),
}
"""Parameters, actions, and a seed with which all that the name says happens."""
LONG_GAMES = {"aside": 132, "bottom": 120, "joint ties": 132}
"""With a seed: single exchanges of lives hardly lead from one world to another, and there are few."""
LONG = 14
"""Actions."""


def _make_rules(parameters: dict[str, Any]) -> SpiteAndMalice:
    rules = SpiteAndMalice(Parameters(**{**SMALL, "stack_top": 13, **parameters}), 2)
    rules.derived.deck, rules.derived.stack_top = PACK, 1
    return rules


class Shuffler(Dealer):
    """Shuffles at random, but deals what the seat has seen."""

    def __init__(self, random: Random, seen: Cards) -> None:
        self._random = random
        self._seen: Cards | None = seen

    def order(self, size: int) -> list[int]:
        if self._seen is None:
            return self._random.sample(range(size), size)
        unseen = list(PACK)
        for card in self._seen:
            if card != HIDDEN:
                unseen.remove(card)
        self._random.shuffle(unseen)
        cards = [unseen.pop() if card == HIDDEN else card for card in self._seen]
        self._seen = None
        return arrange_cards(PACK, [*cards, *unseen])


def _mask(rules: SpiteAndMalice, events: Events) -> Events:
    return tuple(rules.mask(event, SEAT) for event in events)


def _list_dealt(heard: Events) -> Cards:
    """What the seat saw of the deal, from the top; a pay-off pile is dealt from its bottom."""
    deal, *flips = heard[:3]
    assert isinstance(deal, Deal)
    piles = [[HIDDEN] * size for size in deal.payoffs]
    for pile, flip in zip(piles, flips, strict=True):
        pile[-1] = flip.card  # type: ignore[attr-defined]
    return tuple(card for pile in (*piles, *deal.hands) for card in pile)


def _tell_hidden(state: State) -> object:
    return state.hands[1], [pile[:-1] for pile in state.payoffs], state.stock[-2:]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "shuffle" else pytest.mark.whole) for name in GAMES]
)
def test_worlds_are_as_likely_as_by_trial_and_error(name: str) -> None:
    parameters, most, seed = GAMES[name]
    rules, random = _make_rules(parameters), Random(seed)
    course, heard, played = _play(rules, most, seed, random)
    view = rules.view(course.state, SEAT)
    drawn = Counter(str(_tell_hidden(resample(rules, view, heard, random).state)) for _ in range(WORLDS))
    seen, found = _list_dealt(heard), Counter[str]()
    while found.total() < WORLDS:
        if (state := _try(rules, Shuffler(random, seen), played, heard)) is not None:
            found[str(_tell_hidden(state))] += 1
    assert not differ(drawn, found)


def _play(rules: SpiteAndMalice, most: int, seed: int, random: Random) -> tuple[Course, Events, list[dict[int, str]]]:
    course = Course(rules, Dealer(b"%32d" % seed))
    events, played = list(course.dealt), list[dict[int, str]]()
    while len(played) < most and not isinstance(course.step, Result):
        played.append({seat: random.choice(rules.legal(course.state, seat)) for seat in list_asked(course.step)})
        events += course.play(played[-1])
    return course, _mask(rules, tuple(events)), played


@pytest.mark.parametrize("name", sample(LONG_GAMES, 3))
def test_worlds_are_as_likely_as_their_number_where_all_can_be_counted(name: str) -> None:
    rules, random = _make_rules(GAMES[name][0]), Random(LONG_GAMES[name])
    _, heard, _ = _play(rules, LONG, LONG_GAMES[name], random)
    record = Reading(rules.derived, SEAT, heard).record
    lives = record.list_lives()
    drawn = Counter[str]()
    for _ in range(WORLDS):
        held = Chain(record, random).draw()
        assert held is not None
        drawn[str([lives[life] for life in held])] += 1

    counted = Counter(str(world) for world in _list_worlds(record))

    share = WORLDS / counted.total()
    chi = sum((drawn[world] - count * share) ** 2 / (count * share) for world, count in counted.items())
    assert drawn.keys() <= counted.keys()
    assert chi < len(counted) - 1 + FAR * sqrt(2 * len(counted) - 2)


def _list_worlds(record: Record) -> Iterator[list[Life]]:
    """List the lives by cell in all worlds; those that differ by which of two equal lives is where, each time."""
    number = {id(cell): place for place, cell in enumerate(record.cells)}
    order = sorted(record.cells, key=lambda cell: (cell.card is None, cell.hand is None))
    world: dict[int, Life] = {}

    def fill(place: int, left: list[Life]) -> Iterator[list[Life]]:
        if place == len(order):
            yield [world[cell] for cell in range(len(order))]
            return
        cell = order[place]
        for index, life in enumerate(left):
            if cell.card not in (None, life.card) or life.entry not in record.may_hold[cell.source]:
                continue
            world[number[id(cell)]] = life
            if cell.hand is None or _fits(cell.hand, [world.get(number[id(each)]) for each in cell.hand.cells]):
                yield from fill(place + 1, left[:index] + left[index + 1 :])
            del world[number[id(cell)]]

    yield from fill(0, record.list_lives())


def _fits(hand: Hand, lives: list[Life | None]) -> bool:
    """Tell whether what a hand drew, as far as it is known, contradicts none of its checks."""
    drawn = [life.card for life in lives if life]
    return all(
        len(drawn) < draws or (found := drawn[:draws].count(card)) == copies or (found > copies and not exact)
        for card, checks in hand.checks.items()
        for draws, copies, exact in checks
    )


def test_a_world_is_found_where_six_seats_have_played_to_the_end_of_the_stock() -> None:
    ruleset, seat = load_ruleset("skipbo-short"), 4
    subject = Subject(load_family("spite"), ruleset.rules, seats=6)
    rules, heard = SpiteAndMalice(ruleset.rules, 6), list[Struct]()
    for played in play_sample(subject, 0, rules):
        heard += [rules.mask(event, seat) for event in played.events]
        if played.played == 285:
            break
    view = rules.view(played.state, seat)
    world = resample(rules, view, tuple(heard), Random(1))
    assert rules.view(world.state, seat) == view


@pytest.mark.whole
def test_events_that_fit_no_deal_are_refused() -> None:
    rules, random = SpiteAndMalice(load_ruleset("partners-4").rules, 4), Random(3)
    course, heard, _ = _play(rules, 60, 3, random)
    wrong = [
        replace(event, card="9C") if isinstance(event, CardMoved) and event.seat != SEAT else event for event in heard
    ]
    with pytest.raises(DataError, match=f"expected those of a seat of one game, got {len(wrong)} that fit no deal"):
        resample(rules, rules.view(course.state, SEAT), tuple(wrong), random)


def _try(rules: SpiteAndMalice, dealer: Dealer, played: list[dict[int, str]], heard: Events) -> State | None:
    """Play with other cards; None if the seat would have heard something else."""
    course = Course(rules, dealer)
    left = heard
    try:
        for events in (course.dealt, *(course.play(actions) for actions in played)):
            if _mask(rules, events) != left[: len(events)]:
                return None
            left = left[len(events) :]
    except IllegalAction:
        return None
    state: State = course.state
    return state
