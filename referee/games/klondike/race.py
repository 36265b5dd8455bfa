"""How far each seat is from solving the deal."""

from __future__ import annotations

from malice.referee.games.klondike.messages import View
from malice.referee.games.klondike.table import NUMBER, RANK


def count_left(view: View) -> tuple[int, ...]:
    """Return by seat how many cards are not on the foundations yet, as a spectator sees it."""
    return tuple(
        52 - sum(RANK[NUMBER[top]] + 1 for top in table.foundations if top) if table else 52 for table in view.tables
    )
