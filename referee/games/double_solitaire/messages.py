"""What a bot sees of Double Solitaire: the view of the table, and the events since its last request."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from malice.protocol.cards import Cards
from malice.protocol.messages import Out
from malice.referee.games.double_solitaire.parameters import PACK, SEATS, Parameters


class SeatView(Struct, frozen=True, gc=False):
    """The pack of a seat: it wins when it has none of it left."""

    stock: int
    """How many cards its stock holds; they lie face down."""
    discard: Cards
    """Its discard pile, bottom to top."""
    out: bool
    """Whether the seat has left the game."""


class View(Struct, frozen=True, gc=False):
    """The table as one seat sees it; seats and piles are absolute and count from 0."""

    turn: int
    """Counts the turns of the game, from 1; 0 while the stocks may be exchanged."""
    seat: int
    """The seat that is asked."""
    card: str | None
    """The card in hand: it came from the stock of the seat whose turn it is; null once it was played."""
    foundations: tuple[int, ...]
    """How many cards lie on the foundations of clubs, diamonds, hearts and spades."""
    table: tuple[Cards, ...]
    """Each table pile, bottom to top; an empty one keeps its index."""
    quiet: tuple[int, ...]
    """By seat: turns since anybody last made a play."""
    seats: tuple[SeatView, ...]


class Deal(Struct, frozen=True, tag="deal", tag_field="type"):
    """Cards were dealt."""

    table: tuple[Cards, ...]
    """The table piles, each with one card."""
    stocks: tuple[int, ...]
    """By seat: how many cards its stock holds."""


class Exchanged(Struct, frozen=True, tag="exchange", tag_field="type"):
    """`seat` exchanged the two stocks, unseen."""

    seat: int


class TurnedOver(Struct, frozen=True, tag="turn_over", tag_field="type"):
    """`seat` turned its discard pile over, which is its stock again: the lowest card is drawn first."""

    seat: int
    count: int
    """How many cards."""


class Draw(Struct, frozen=True, tag="draw", tag_field="type"):
    """A turn of `seat` begins: it takes the top card of its stock in hand, face up."""

    seat: int
    card: str


class CardsMoved(
    Struct, frozen=True, tag="move", tag_field="type", rename={"source": "from", "target": "to"}, gc=False
):
    """`seat` moved cards between two piles, named absolutely: `h 0d t2 f`."""

    seat: int
    source: str
    """`h` is the hand, `0d` the discard pile of seat 0, `t2` a table pile."""
    target: str
    """`f` is the foundation of the card's suit; otherwise as in `from`."""
    cards: Cards
    """In the order in which they lie, bottom to top; more than one only from one table pile to another."""


class End(Struct, frozen=True, tag="end", tag_field="type"):
    """`seat` ended its turn without a discard."""

    seat: int


Event = Deal | Exchanged | TurnedOver | Draw | CardsMoved | End | Out

PUBLIC: frozenset[type] = frozenset({Deal, Exchanged, TurnedOver, Draw, CardsMoved, End})
"""All events: a card is named only once it lies face up, and then everybody sees it."""


def count_left(view: View) -> tuple[int, ...]:
    """Count by seat the cards its pack has left; the card in hand belongs to the seat whose turn it is."""
    held = [view.card is not None and seat == view.seat for seat in range(len(view.seats))]
    return tuple(pack.stock + len(pack.discard) + card for pack, card in zip(view.seats, held, strict=True))


def list_figures(rules: Parameters, seats: int) -> Mapping[str, str]:
    """The numbers of cards that follow from the parameters, for `malice rules show`."""
    stock = (PACK - rules.table_piles) // SEATS
    return {"cards": str(PACK), "table piles": str(rules.table_piles), "in each stock": str(stock)}
