"""Which partners won: one table for each ruleset that is played in sides."""

from __future__ import annotations

from msgspec import Struct

from site_pages import text
from site_pages.deals import Deals, Kind, Side
from site_pages.rankings import Cell, Name, name


class SideRow(Struct, frozen=True):
    """One line: a side, and how its games went."""

    bots: list[Name]
    games: Cell
    won: Cell
    drawn: Cell
    lost: Cell
    score: Cell


def side_rows(deals: Deals, kind: Kind) -> list[SideRow]:
    """Return the sides of a ruleset, the best score first; none where there are no partners."""
    counts = deals.sides(kind)

    def best_first(side: Side) -> tuple[float, int, Side]:
        return (-_score(counts[side]), -sum(counts[side]), side)

    return [_row(side, counts[side]) for side in sorted(counts, key=best_first)]


def _score(counts: tuple[int, int, int]) -> float:
    won, drawn, lost = counts
    return (won + drawn / 2) / (won + drawn + lost)


def _row(side: Side, counts: tuple[int, int, int]) -> SideRow:
    won, drawn, lost = counts
    score = _score(counts)
    return SideRow(
        bots=[name(label) for label in side],
        games=_count(sum(counts)),
        won=_count(won),
        drawn=_count(drawn),
        lost=_count(lost),
        score=Cell(text.format_percent(score), score),
    )


def _count(count: int) -> Cell:
    return Cell(f"{count:,}", count)
