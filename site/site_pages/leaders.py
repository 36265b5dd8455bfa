"""Who leads: a sentence for each table of a ranking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from malice.site_pages import text
from malice.site_pages.rankings import Name, make_name
from malice.tournaments.league.comparison import Comparison
from malice.tournaments.league.standings import Row, Standings


class Leader(Struct, frozen=True):
    """Who leads one table, and how far the second is behind."""

    group: str
    """Empty if there is only one table."""
    first: list[Name]
    """Several if they share the lead."""
    second: Name | None
    """None if nobody is behind."""
    lead: str
    """In points or Elo; empty if it is unknown, or what the format ranks by has no figure."""
    certainty: str
    """How certain it is that the first is better than the second; empty if the games do not tell."""
    surely: bool
    """Whether the games leave it no other rank, even where they do not tell how certain that is."""
    without_luck: str
    """The difference between the two without the luck of the cards; empty if nobody measured it."""


def list_leaders(standings: Standings, sharper: Sequence[Comparison] | None = None) -> list[Leader]:
    """Return the leader of each table in which somebody has a rank.

    Args:
        standings: the ranking.
        sharper: the pairs whose score without luck is the sharper one, if somebody asked.
    """
    return list(_find_leaders(standings, sharper or ()))


def _find_leaders(standings: Standings, sharper: Sequence[Comparison]) -> Iterator[Leader]:
    tables = [table for table in standings.list_tables() if table.active and table.active[0].rank is not None]
    for table in tables:
        first = [row for row in table.active if row.rank == 1]
        rest = [row for row in table.active if row.rank is not None and row.rank > 1]
        behind = rest[0] if rest and len(first) == 1 else None
        yield Leader(
            group=f"Group {table.group}" if len(tables) > 1 else "",
            first=[make_name(row.label) for row in first],
            second=None if behind is None else make_name(behind.label),
            lead="" if behind is None else _describe_lead(first[0], behind, by_table=standings.by_table),
            certainty="" if behind is None else _describe_certainty(standings, first[0], behind),
            surely=first[0].rating.rank_high == 1,
            without_luck="" if behind is None else _find_adjusted(standings, first[0], behind, sharper),
        )


def _describe_lead(first: Row, second: Row, *, by_table: bool) -> str:
    if by_table:
        if first.points is None or second.points is None:
            return ""
        ahead = first.points - second.points
        return text.format_decimal(ahead, 1).removesuffix(".0") + (" point" if ahead == 1 else " points")
    if first.rating.elo is None or second.rating.elo is None:
        return ""
    return f"{text.format_decimal(first.rating.elo - second.rating.elo)} Elo"


def _describe_certainty(standings: Standings, first: Row, second: Row) -> str:
    los = standings.los.get(first.label, {}).get(second.label)
    return "" if los is None else text.format_likelihood(los)


def _find_adjusted(standings: Standings, first: Row, second: Row, sharper: Sequence[Comparison]) -> str:
    """Return the Elo of the first against the second without luck, whichever of them the comparison names first."""
    for one in sharper:
        elo = one.adjusted.elo if one.adjusted and one.rulesets == (standings.ruleset,) else None
        if elo is None:
            continue
        if (one.new.label, one.base.label) == (first.label, second.label):
            return text.format_signed(elo)
        if (one.base.label, one.new.label) == (first.label, second.label):
            return text.format_signed(-elo)
    return ""
