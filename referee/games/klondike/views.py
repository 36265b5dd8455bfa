"""What a seat, or a spectator, sees of the tables."""

from __future__ import annotations

from malice.protocol.cards import HIDDEN, Cards
from malice.referee.games.klondike.messages import Column, TableView, View
from malice.referee.games.klondike.plays import name_cards
from malice.referee.games.klondike.table import PACK, Pile, Table


def make_view(tables: tuple[Table, ...], turn: int, seat: int | None) -> View:
    """Return the table of a seat and nothing of the others; for a spectator all tables, without what is hidden."""
    if seat is None:
        return View(turn, None, tuple(map(view_table, tables)))
    shown: list[TableView | None] = [None] * len(tables)
    shown[seat] = view_table(tables[seat])
    return View(turn, seat, tuple(shown))


def view_table(table: Table) -> TableView:
    """Return a table as its seat sees it: a card that lies face down is `??` unless it has been face up."""
    layout, seen = table.layout, table.seen
    foundations = layout.foundations
    return TableView(
        tuple([Column(_hide(down, seen), name_cards(up)) for down, up in zip(layout.downs, layout.ups, strict=True)]),
        tuple([PACK[13 * suit + foundations[suit] - 1] if foundations[suit] else None for suit in range(4)]),
        _hide(layout.stock, seen),
        name_cards(layout.waste),
        table.moves,
        table.passes,
        table.actions,
        table.idle,
        bool(table.end),
    )


def _hide(cards: Pile, seen: int) -> Cards:
    return tuple([PACK[card] if seen >> card & 1 else HIDDEN for card in cards])
