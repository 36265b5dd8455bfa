"""The deal: each team's own shuffled pack becomes its Nuts pile, its columns and its stock."""

from __future__ import annotations

from malice.protocol.cards import HIDDEN, Cards
from malice.referee.games.nuts.messages import Deal, SideDealt
from malice.referee.games.nuts.parameters import Parameters
from malice.referee.games.nuts.state import Side
from malice.referee.games.nuts.views import hide_below


def deal_side(rules: Parameters, pack: Cards) -> Side:
    """Deal from the top of a pack: the Nuts pile, then the columns row by row; the rest stays as the stock."""
    deck = list(pack)
    nuts = tuple(deck.pop() for _ in range(rules.nuts_size))
    columns: list[Cards] = [() for _ in rules.columns]
    for row in range(max(rules.columns)):
        for column, height in enumerate(rules.columns):
            if row < height:
                columns[column] += (deck.pop(),)
    return Side(nuts, tuple(columns), tuple(height - 1 for height in rules.columns), tuple(deck))


def tell_deal(sides: tuple[Side, ...]) -> Deal:
    """Return the event of the deal, with all cards."""
    return Deal(tuple(SideDealt(side.nuts, side.columns, side.stock) for side in sides))


def mask_deal(deal: Deal) -> Deal:
    """Hide all cards that lie face down; every seat sees the same."""
    return Deal(
        tuple(
            SideDealt(hide_below(side.nuts), tuple(map(hide_below, side.columns)), (HIDDEN,) * len(side.stock))
            for side in deal.sides
        )
    )
