"""A position of Nuts, from the first shuffle to the end of the hand."""

from __future__ import annotations

from msgspec import Struct

from malice.protocol.cards import Cards

PLACES = 8
"""Foundations in the centre: one for each ace of two packs. Places 2n and 2n + 1 take the nth suit of `CDHS`."""


class Side(Struct, frozen=True, gc=False):
    """The cards of a team that are not in the centre; every pile runs bottom to top, and is played from its end."""

    nuts: Cards
    columns: tuple[Cards, ...]
    hidden: tuple[int, ...]
    """By column: how many of its cards, from the bottom, lie face down."""
    stock: Cards
    waste: Cards = ()
    centre: int = 0
    """Cards that the team has played to the centre."""


class State(Struct, frozen=True, gc=False):
    """All cards and counters: never changed, only replaced."""

    busy: tuple[int, ...]
    """By seat: the tick before which it is not asked."""
    packs: tuple[Cards, ...] = ()
    """The packs shuffled so far, by team, until all are and the cards are dealt."""
    sides: tuple[Side, ...] = ()
    """By team; none before the deal."""
    heights: tuple[int, ...] = (0,) * PLACES
    """By foundation: the value of its top card, 0 without one."""
    tick: int = 0
    """The tick that is played, from 1; 0 before the deal."""
    idle: int = 0
    """Idle ticks in a row."""
    burned: bool = False
    """The stocks were burned, and may not be burned again until that is allowed."""
    pending: tuple[tuple[int, str], ...] = ()
    """The actions of this tick, by seat, while chance draws their order."""
    out: tuple[int, ...] = ()
    """The teams that left, all at the same moment."""
    reason: str = ""
    """Why the hand is over; empty while it is played."""
