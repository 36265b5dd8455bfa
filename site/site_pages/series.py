"""Series of games: where one stands after a game, and who won how many."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from site_pages import text
from site_pages.rankings import Cell, Name, name
from tournaments.league.series import Score, Tally


class SeriesRow(Struct, frozen=True):
    """One line: an entry, and its series that were decided."""

    bot: Name
    won: Cell
    played: Cell
    share: Cell


def standing(score: Score | None) -> str:
    """Return where a series stands after a game, the points by seat; nothing for a single game."""
    if score is None:
        return ""
    points = " – ".join(map(str, score.points))
    return f"series {score.series}: {points}{', won' if score.won else ''}"


def series_rows(tallies: Mapping[str, Tally]) -> list[SeriesRow]:
    """Return the entries by the share of series that they won."""
    order = sorted(tallies, key=lambda label: (-tallies[label].won / tallies[label].played, label))
    return [_row(label, tallies[label]) for label in order]


def _row(label: str, tally: Tally) -> SeriesRow:
    share = tally.won / tally.played
    return SeriesRow(
        bot=name(label),
        won=Cell(f"{tally.won:,}", tally.won),
        played=Cell(f"{tally.played:,}", tally.played),
        share=Cell(text.format_percent(share), share),
    )
