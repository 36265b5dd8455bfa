"""What a bot sees of Klondike: the view of its table, and the events since its last request."""

from __future__ import annotations

from msgspec import Struct

from malice.protocol.cards import Cards
from malice.protocol.messages import Out
from malice.referee.games.klondike.table import NUMBER, RANK


class Column(Struct, frozen=True, gc=False):
    """A column of the tableau."""

    down: Cards
    """The cards that lie face down, from the bottom; `??` unless an undone action has shown it."""
    up: Cards
    """The cards that lie face up on them, the one that covers all others last."""


class TableView(Struct, frozen=True, gc=False):
    """The table of a seat."""

    columns: tuple[Column, ...]
    """`t0` to `t6`."""
    foundations: tuple[str | None, ...]
    """The top cards of `fC`, `fD`, `fH` and `fS`; null where there is none."""
    stock: Cards
    """From the bottom: the last card is turned up next; `??` unless it has been face up."""
    waste: Cards
    """From the bottom: only the last card can be played."""
    moves: int
    """Actions so far, without `undo`; with free undo, without those that were taken back."""
    passes: int
    """How often the last card of the stock was turned up."""
    actions: int
    """All actions so far."""
    idle: int
    """Actions since a card was seen for the first time, or the foundations held more cards than ever."""
    done: bool
    """Whether the seat has come to its end."""


class View(Struct, frozen=True, gc=False):
    """The table as a seat sees it."""

    turn: int
    """Counts the actions of a seat, from 1."""
    seat: int | None
    """The seat that is asked; null for a spectator."""
    tables: tuple[TableView | None, ...]
    """By seat; null for those of the others, which nobody sees but a spectator."""


class Dealt(Struct, frozen=True, tag="deal", tag_field="type"):
    """The cards were dealt, the same for all seats."""

    columns: tuple[Cards, ...]
    """From the bottom; the last card of each lies face up, the others are `??`."""
    stock: Cards
    """From the bottom; all are `??`."""


class Moved(Struct, frozen=True, tag="move", tag_field="type", rename={"source": "from", "target": "to"}):
    """`seat` moved cards from one pile to another: `w`, `t0` to `t6`, `fC` to `fS`."""

    seat: int
    source: str
    target: str
    cards: Cards
    """From the bottom of the run."""


class Flip(Struct, frozen=True, tag="flip", tag_field="type"):
    """The card at the end of a column was turned up."""

    seat: int
    column: str
    card: str


class Turned(Struct, frozen=True, tag="turn", tag_field="type"):
    """`seat` turned up cards from the stock; the last of them lies on top of the waste."""

    seat: int
    cards: Cards


class Redealt(Struct, frozen=True, tag="redeal", tag_field="type"):
    """`seat` turned the waste over: it is the stock again."""

    seat: int


class Undone(Struct, frozen=True, tag="undo", tag_field="type"):
    """`seat` took its last action back."""

    seat: int
    action: str
    """As it was played, such as `t0-t3`."""
    cards: Cards
    """Those that go back: to the column or the foundation that they came from, or to the stock."""
    hidden: str
    """The card that lies face down again; empty if there is none."""


class Ended(Struct, frozen=True, tag="end", tag_field="type"):
    """`seat` has come to its end: `solved`, `done`, `idle` or `limit`."""

    seat: int
    how: str
    cards: int
    """Cards on its foundations."""


Event = Dealt | Moved | Flip | Turned | Redealt | Undone | Ended | Out


def count_left(view: View) -> tuple[int, ...]:
    """Count by seat the cards that are not on the foundations yet, as a spectator sees it."""
    return tuple(
        52 - sum(RANK[NUMBER[top]] + 1 for top in table.foundations if top) if table else 52 for table in view.tables
    )
