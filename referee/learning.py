"""What a family tells programs that learn: choices and vectors, whose places are ids."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from malice.protocol.cards import make_french_pack


class Learner(Struct, frozen=True):
    """What a seat chooses among, and what it sees, under parameters for a number of seats."""

    choices: tuple[str, ...]
    """Every choice that a seat may ever have; several actions may be one choice, such as cards of one rank."""
    choice: Callable[[str], str]
    """Returns the choice that an action is; the first legal action that is a choice plays it."""
    features: tuple[str, ...]
    """What each place of a vector says. Whoever sees is `me`, those after it at the table are `next1`, `next2`, ..."""
    encode: Callable[[Any], array[float]]
    """Returns the vector of the view of a seat, an array of type "f", each place from 0 to 1."""


def keep_action(action: str) -> str:
    """For games in which each action is a choice of its own."""
    return action


def make_units(size: int) -> list[array[float]]:
    """Make the unit vectors of a size."""
    return [array("f", [place == one for place in range(size)]) for one in range(size)]


CARD_FEATURES = (*"A23456789TJQK", *"CDHS")
"""What each place of the vector of a card says: its rank, then its suit."""
CARD_VECTORS: Mapping[str | None, array[float]] = {
    None: array("f", bytes(4 * len(CARD_FEATURES))),
    **{card: array("f", [mark in card for mark in CARD_FEATURES]) for card in make_french_pack()},
}
"""By card of the French pack; of no card, and of one that is not shown, all places are 0."""


def add_top(vector: array[float], pile: Sequence[str]) -> None:
    """Append the card on top of a pile."""
    vector += CARD_VECTORS.get(pile[-1] if pile else None, CARD_VECTORS[None])
