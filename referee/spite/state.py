"""A position of Spite & Malice, from the first shuffle to the result."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from protocol.messages import Cards
from referee.rules import Result

Piles = tuple[Cards, ...]

Phase = Literal["deal", "tie", "lot", "recycle", "bottom", "refill", "turn", "over"]
"""What the position waits for: a shuffle of some pile, a seat's action, or nothing.

`deal` all cards, before they are dealt · `tie` the pay-off pile of the first waiting seat · `lot` the tied seats,
for one of them to start · `recycle` the stock with a completed stack · `bottom` a completed stack, to go under the
stock · `refill` what was set aside, to go under the stock in the middle of a draw.
"""


class State(Struct, frozen=True, gc=False):
    """All cards and counters; every pile runs bottom to top, and is drawn or played from its end."""

    phase: Phase
    seat: int
    """Whose turn it is."""
    turn: int
    """Turns begun so far."""
    quiet: int
    """Turns begun since a pay-off card was played."""
    hands: Piles
    """Each in listing order."""
    payoffs: Piles
    sides: tuple[Piles, ...]
    centre: Piles
    heights: tuple[int, ...]
    stock: Cards
    mixing: Cards = ()
    """A pile that was taken off the table for its shuffle."""
    aside: Cards = ()
    out: tuple[int, ...] = ()
    """Seats that were withdrawn, in that order."""
    tied: tuple[int, ...] = ()
    """Seats with equal first pay-off cards."""
    waiting: tuple[int, ...] = ()
    """Those of them that are still to shuffle their piles."""
    ties: int = 0
    """How often first pay-off cards were equal."""
    result: Result | None = None


def with_item(items: tuple[Cards, ...], index: int, item: Cards) -> tuple[Cards, ...]:
    """Return `items` with one of them replaced."""
    return items[:index] + (item,) + items[index + 1 :]
