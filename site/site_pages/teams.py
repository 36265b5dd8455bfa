"""Which teams won: one table for each ruleset with partners."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from malice.site_pages import text
from malice.site_pages.deals import Deals, Kind, Team
from malice.site_pages.rankings import Name, SortableCell, make_name


class TeamRow(Struct, frozen=True):
    """A row of the table: a team and its results."""

    bots: list[Name]
    games: SortableCell
    won: SortableCell
    drawn: SortableCell
    lost: SortableCell
    score: SortableCell


def make_team_rows(deals: Deals, kind: Kind, shown: Collection[str]) -> list[TeamRow]:
    """Return the teams of a ruleset, best score first; none if it has no partners.

    Args:
        deals: the results.
        kind: the ruleset, and how many seats it has.
        shown: the names that have pages; teams of others, older versions, are left out.
    """
    found = deals.count_team_results(kind)
    counts = {team: result for team, result in found.items() if set(team) <= set(shown)}

    def order(team: Team) -> tuple[float, int, Team]:
        return (-_compute_score(counts[team]), -sum(counts[team]), team)

    return [_make_team_row(team, counts[team]) for team in sorted(counts, key=order)]


def _compute_score(counts: tuple[int, int, int]) -> float:
    won, drawn, lost = counts
    return (won + drawn / 2) / (won + drawn + lost)


def _make_team_row(team: Team, counts: tuple[int, int, int]) -> TeamRow:
    won, drawn, lost = counts
    score = _compute_score(counts)
    return TeamRow(
        bots=[make_name(label) for label in team],
        games=_make_count(sum(counts)),
        won=_make_count(won),
        drawn=_make_count(drawn),
        lost=_make_count(lost),
        score=SortableCell(text.format_percent(score), score),
    )


def _make_count(count: int) -> SortableCell:
    return SortableCell(f"{count:,}", count)
