"""Worlds of Spite & Malice: uniform over the deals and shuffles in which a seat would have heard what it did."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from malice.protocol.cards import HIDDEN, Cards
from malice.referee.course import Course, Dealer, list_asked
from malice.referee.errors import IllegalAction
from malice.referee.games.spite import SpiteAndMalice
from malice.referee.games.spite.messages import Deal
from malice.referee.games.spite.parameters import Compulsory, Parameters
from malice.referee.games.spite.state import State
from malice.referee.games.spite.worlds import resample
from malice.referee.rules import Events, Result
from malice.referee.worlds import arrange_cards
from tests.games.samples import differ

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


@pytest.mark.parametrize("name", GAMES)
def test_worlds_are_as_likely_as_by_trial_and_error(name: str) -> None:
    parameters, most, seed = GAMES[name]
    rules, random = _make_rules(parameters), Random(seed)
    course = Course(rules, Dealer(b"%32d" % seed))
    events, played = list(course.dealt), list[dict[int, str]]()
    while len(played) < most and not isinstance(course.step, Result):
        played.append({seat: random.choice(rules.legal(course.state, seat)) for seat in list_asked(course.step)})
        events += course.play(played[-1])
    heard, view = _mask(rules, tuple(events)), rules.view(course.state, SEAT)
    drawn = Counter(str(_tell_hidden(resample(rules, view, heard, random).state)) for _ in range(WORLDS))
    seen, found = _list_dealt(heard), Counter[str]()
    while found.total() < WORLDS:
        if (state := _try(rules, Shuffler(random, seen), played, heard)) is not None:
            found[str(_tell_hidden(state))] += 1
    assert not differ(drawn, found)


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
