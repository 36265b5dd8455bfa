"""Who solved the deal, or came closest."""

from __future__ import annotations

from collections.abc import Sequence

from malice.referee.families import Statistic
from malice.referee.games.klondike.table import Table
from malice.referee.rules import Result

STATISTICS = (
    Statistic(name="solved", caption="deals solved", share=True),
    Statistic(name="cards", caption="cards on the foundations", best="most"),
    Statistic(name="moves", caption="moves to solve a deal", within="solved"),
    Statistic(name="passes", caption="passes through the stock to solve a deal", within="solved"),
    Statistic(name="time_ms", caption="thinking time to solve a deal, in ms", within="solved", timed=True),
)
"""What is counted for each seat; the texts of solitaire.com name moves, time and passes, and "beat your record"."""


def rank_tables(tables: Sequence[Table], out: Sequence[Sequence[int]], *, forfeit: bool) -> Result:
    """Return the result: who solved the deal comes first, then who has more cards on the foundations.

    Among equals fewer moves come first, then fewer passes through the stock; who is equal in all of that is tied. Seats
    that were withdrawn come last, the first of them at the very end.

    Args:
        tables: by seat.
        out: the seats that were withdrawn, each group at one moment.
        forfeit: whether the game is over because only one seat is left.
    """
    ranks = [(0, -table.solved, -table.cards, table.moves, table.passes) for table in tables]
    for order, group in enumerate(out):
        for seat in group:
            ranks[seat] = (1, -order, 0, 0, 0)
    places = tuple(1 + sum(other < own for other in ranks) for own in ranks)
    solved = any(table.solved for table in tables)
    reason = "forfeit" if forfeit else "solved" if solved else "unsolved"
    cards = tuple(table.cards for table in tables)
    figures = tuple((int(table.solved), table.cards, table.moves, table.passes) for table in tables)
    return Result(places, cards, reason, figures)
