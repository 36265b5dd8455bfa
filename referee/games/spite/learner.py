"""Spite & Malice for programs that learn: choices by rank, since suits matter only to what is loaded, and vectors."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from functools import cache

from malice.protocol.cards import CARDS, HIDDEN, RANKS, VALUE
from malice.referee.games.spite.actions import can_pass
from malice.referee.games.spite.messages import View
from malice.referee.games.spite.parameters import DerivedRules, Parameters, list_fitting_cards
from malice.referee.learning import Learner, make_units

LONGEST = 20
"""So many cards of a side stack count as a full one."""
TOPS = (*RANKS, "none")
"""What may lie on top of a pile."""


def make_learner(rules: Parameters, seats: int) -> Learner:
    """The standard game of two has 106 choices and 213 features."""
    derived = DerivedRules(rules, seats)
    slots = _count_slots(derived)
    encoder = Encoder(derived, slots)
    return Learner(tuple(_list_choices(derived, slots)), find_choice, tuple(encoder.name_features()), encoder.encode)


def find_choice(action: str) -> str:
    """Leave the suit off a card of the hand: equal ranks are one choice."""
    return action[:2] + action[3:] if action[0] == "h" else action


def _count_slots(derived: DerivedRules) -> int:
    """Count the centre stacks that there may be at a time: where nothing limits them, as many as cards begin one.

    A stack that gives up all cards but its top gives up the one that began it: then only all cards are a limit.
    """
    if derived.centre_slots is not None:
        return derived.centre_slots
    cards = derived.payoff_pack + derived.deck
    if derived.rules.last_resort_recycle:
        return len(cards)
    first = list_fitting_cards(derived.rules, 0)
    return sum(card in first for card in cards)


def _list_choices(derived: DerivedRules, slots: int) -> Iterator[str]:
    """List the choices in the order of legal actions: by source, then by target."""
    rules, seats = derived.rules, range(derived.seats)
    own = [f"s{side}" for side in range(rules.side_count)]
    centre = [f"-c{slot}" for slot in range(slots)]
    loads = [] if rules.loading == "none" else [f"-{seat}p" for seat in seats]
    yield from (f"p{target}" for target in (*centre, *loads))
    if rules.teams != "none":
        yield from (f"{seat}{pile}{target}" for seat in seats for pile in ("p", *own) for target in centre)
    cards = {card[0] for card in derived.payoff_pack + derived.deck}
    hand = [f"h{rank}" for rank in RANKS if rank in cards]
    yield from (f"{card}{target}" for card in hand for target in (*centre, *(f"-{side}" for side in own), *loads))
    yield from (f"{side}{target}" for side in own for target in centre)
    if can_pass(rules):
        yield "pass"
    if rules.payoff_count != "public":
        yield "count"


class Encoder:
    """Encodes views.

    Args:
        derived: the ruleset.
        slots: how many centre stacks there may be at a time.
    """

    def __init__(self, derived: DerivedRules, slots: int) -> None:
        self._seats = derived.seats
        self._sides = derived.rules.side_count
        self._slots = slots
        self._heights = make_units(derived.stack_top)
        self._empty = self._heights[0]
        self._cards = len(derived.payoff_pack + derived.deck)
        self._payoff = max(1, derived.payoff_size)
        self._hand = derived.hand_size
        self._blank = array("f", bytes(4 * (1 + len(RANKS))))
        units = make_units(len(TOPS))
        self._tops: dict[str | None, array[float]] = {card: units[VALUE[card] - 1] for card in CARDS}
        self._tops |= {None: units[-1], HIDDEN: array("f", bytes(4 * len(TOPS)))}
        self._own, self._side = cache(self._encode_own), cache(self._encode_side)

    def name_features(self) -> Iterator[str]:
        """Name each place of a vector."""
        yield "stock"
        yield from (f"hand {rank}" for rank in RANKS)
        for slot in range(self._slots):
            yield from (f"c{slot} needs {rank}" for rank in RANKS[: len(self._heights)])
        for place in range(self._seats):
            name = "me" if place == 0 else f"next{place}"
            yield from (f"{name} pay-off {top}" for top in TOPS)
            yield from (f"{name} pay-off left", f"{name} hand")
            for side in range(self._sides):
                yield from (f"{name} s{side} {top}" for top in TOPS)
                yield f"{name} s{side} cards"

    def encode(self, view: View) -> array[float]:
        vector = self._blank[:]
        vector[0] = view.stock / self._cards
        share = 1 / self._hand
        for card in view.hand:
            vector[VALUE[card]] += share
        heights = self._heights
        for stack in view.centre:
            vector += heights[stack.height]
        for _ in range(self._slots - len(view.centre)):
            vector += self._empty
        seats = view.seats
        for seat in (*seats[view.seat :], *seats[: view.seat]):
            vector += self._own(seat.payoff.top, seat.payoff.left, seat.hand)
            for side in seat.side:
                vector += self._side(side[-1] if side else None, len(side))
        return vector

    def _encode_own(self, top: str | None, left: int | None, hand: int) -> array[float]:
        shares = (left or 0) / self._payoff, hand / self._hand
        return self._tops[top] + array("f", [min(1.0, share) for share in shares])

    def _encode_side(self, top: str | None, count: int) -> array[float]:
        return self._tops[top] + array("f", [min(1.0, count / LONGEST)])
