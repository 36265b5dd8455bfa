"""A position of Double Solitaire, from the shuffle to the result."""

from __future__ import annotations

from msgspec import Struct

from malice.protocol.cards import Cards
from malice.referee.rules import Result

Piles = tuple[Cards, ...]


class State(Struct, frozen=True, gc=False):
    """All cards and counters; every pile runs bottom to top, and cards are drawn or played from its end."""

    stocks: Piles = ()
    """By seat; there are none before the deal."""
    discards: Piles = ()
    """By seat."""
    table: Piles = ()
    heights: tuple[int, ...] = (0, 0, 0, 0)
    """How many cards lie on the foundations of clubs, diamonds, hearts and spades."""
    card: str | None = None
    """The card in hand of the seat whose turn it is, until it is played or discarded."""
    seat: int = 0
    """Whose turn it is."""
    turn: int = 0
    """Turns begun so far; 0 while seat 0 may exchange the stocks, where it may."""
    played: bool = False
    """The seat has made a play in this turn."""
    before: frozenset[Piles] = frozenset()
    """The tables that the seat has left since its last play that nothing undoes, each sorted: the places of its piles
    do not matter. All else that lies on the table is the same in these positions."""
    quiet: tuple[int, ...] = (0, 0)
    """By seat: turns in a row without a play of anybody."""
    barren: int = 0
    """Turns in a row without a card to a foundation."""
    out: tuple[tuple[int, ...], ...] = ()
    """The seats that were withdrawn, each group at one moment."""
    result: Result | None = None


def count_cards(state: State, seat: int) -> int:
    """Return how many cards the pack of a seat has left, the card in its hand included."""
    held = state.card is not None and seat == state.seat
    return len(state.stocks[seat]) + len(state.discards[seat]) + held
