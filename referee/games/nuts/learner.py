"""Nuts for programs that learn: each action is a choice of its own, and a vector holds the centre and all sides."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from malice.protocol.cards import HIDDEN, VALUE
from malice.referee.games.nuts.messages import SideView, View
from malice.referee.games.nuts.moves import CENTRE, PACK, TURN, WAIT
from malice.referee.games.nuts.parameters import Parameters
from malice.referee.learning import CARD_FEATURES, CARD_VECTORS, Learner, add_top, keep_action

PARTS = ("nuts", "cards", "both")
FOUNDATIONS = 8
TEAMS = 2
KING = 13


def make_learner(parameters: Parameters, seats: int) -> Learner:
    """The learner knows the cards of its own team as `mine`."""
    columns = len(parameters.columns)
    targets = (*(f"t{column}" for column in range(columns)), CENTRE)
    choices = (*(f"{card}-{target}" for card in PACK for target in targets), TURN, WAIT)
    cards = len(PACK)

    def add_side(vector: array[float], side: SideView) -> None:
        vector.append(side.nuts_left / parameters.nuts_size)
        vector.append(side.stock / cards)
        vector.append(len(side.waste) / cards)
        vector += CARD_VECTORS[side.nuts]
        add_top(vector, side.waste)
        for column in side.columns:
            up = [card for card in column if card != HIDDEN]
            vector.append((len(column) - len(up)) / cards)
            vector.append(len(up) / KING)
            add_top(vector, up)
            vector += CARD_VECTORS[up[0] if up else None]

    def encode(view: View) -> array[float]:
        vector = array("f", [view.part == part for part in PARTS])
        vector.append(min(1.0, view.idle / parameters.idle_ticks))
        vector.extend(VALUE[top] / KING if top else 0.0 for top in view.centre)
        add_side(vector, view.sides[view.team])
        add_side(vector, view.sides[1 - view.team])
        return vector

    return Learner(choices, keep_action, tuple(_name_features(columns)), encode)


def _name_features(columns: int) -> Iterator[str]:
    yield from (f"plays {part}" for part in PARTS)
    yield "idle"
    yield from (f"f{place} height" for place in range(FOUNDATIONS))
    for side in ("mine", "theirs"):
        yield from (f"{side} nuts left", f"{side} stock", f"{side} waste cards")
        yield from (f"{side} nuts {mark}" for mark in CARD_FEATURES)
        yield from (f"{side} waste {mark}" for mark in CARD_FEATURES)
        for column in range(columns):
            yield from (f"{side} t{column} face down", f"{side} t{column} face up")
            yield from (f"{side} t{column} top {mark}" for mark in CARD_FEATURES)
            yield from (f"{side} t{column} lowest face up {mark}" for mark in CARD_FEATURES)
