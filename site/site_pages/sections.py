"""The sections of the front page: a ranking with its tables and charts, for each ruleset and number of seats."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from malice.site_pages.changes import RankMark, mark_moves
from malice.site_pages.chart import Chart, make_chart
from malice.site_pages.colours import assign_colours
from malice.site_pages.crosstable import Crossings, make_crossings, name_versions
from malice.site_pages.deals import Deals
from malice.site_pages.leaders import Leader, list_leaders
from malice.site_pages.luck import LuckTable, make_luck_table
from malice.site_pages.part_chart import PartChart, make_part_chart
from malice.site_pages.rankings import Ranking, make_ranking, make_version_name
from malice.site_pages.series import SeriesRow, find_targets, make_series_rows
from malice.site_pages.source import SiteContents
from malice.site_pages.teams import TeamRow, make_team_rows
from malice.site_pages.wishes import SiteOptions
from malice.tournaments.league.choice import Choice, Picker
from malice.tournaments.league.part_ratings import PartRatings
from malice.tournaments.league.ranking import compute_league_standings
from malice.tournaments.league.series import count_series
from malice.tournaments.league.standings import Standings


class Versions(Struct, frozen=True):
    """A ranking in which older versions have rows of their own."""

    ranking: Ranking
    standings: Standings


class Section(Struct, frozen=True):
    """What the front page shows for one ruleset and number of seats."""

    ranking: Ranking
    crossings: Crossings
    leaders: list[Leader]
    """Of each of its tables."""
    moves: dict[str, RankMark]
    """By the name of the bot's page, how ranks moved."""
    versions: Versions | None
    """None if no entry has older versions."""
    chart: Chart | None
    by_part: PartChart | None
    """None if only one part has rated games."""
    teams: list[TeamRow]
    series: list[SeriesRow]
    series_target: int
    luck: LuckTable | None
    """None unless somebody asked, or if nobody can measure luck under this ruleset."""


def make_rankings(all_standings: Sequence[Standings]) -> list[Ranking]:
    """Return the rankings, in the order of the standings."""
    names = [standings.ruleset for standings in all_standings]
    return [make_ranking(standings, several_sizes=_has_sizes(standings, names)) for standings in all_standings]


def _has_sizes(standings: Standings, names: Sequence[str]) -> bool:
    return names.count(standings.ruleset) > 1 or standings.seats > 2


def _list_versions(source: SiteContents, rankings: Sequence[Ranking]) -> dict[str, Versions]:
    """Return the rankings with rows for older versions, by the anchor of the ranking without them."""
    every = Choice(versions="all")
    if len(Picker(source, every).shown) == len(Picker(source).shown):
        return {}
    labels = frozenset(entry.label for entry in source.entries())
    sizes = {ranking.anchor: len(ranking.rows) for ranking in rankings}
    found: dict[str, Versions] = {}
    for standings in compute_league_standings(source, every):
        ranking = make_ranking(standings, several_sizes=False, make_name=lambda label: make_version_name(label, labels))
        if len(ranking.rows) > sizes.get(ranking.anchor, 0):
            found[ranking.anchor] = Versions(ranking, standings)
    return found


def make_sections(
    source: SiteContents,
    deals: Deals,
    all_standings: Sequence[Standings],
    rankings: Sequence[Ranking],
    by_part: Sequence[PartRatings],
    wishes: SiteOptions,
) -> list[Section]:
    """Return the sections.

    Args:
        source: the league.
        deals: who won which deals.
        all_standings: the standings.
        rankings: the same as rankings.
        by_part: the ratings after each part.
        wishes: what was asked for.
    """
    targets = find_targets(source)
    tallies = (
        count_series((game for game in source.games() if targets[game.ruleset]), targets, source.parts())
        if any(targets.values())
        else {}
    )
    colours = assign_colours(entry.label for entry in source.entries())
    parts = {(found.ruleset, found.seats): found for found in by_part}
    moves = mark_moves(wishes.changes)
    versions, names = _list_versions(source, rankings), name_versions(source)
    return [
        Section(
            ranking=ranking,
            crossings=make_crossings(standings, ranking.anchor, names),
            chart=make_chart(standings, colours),
            leaders=list_leaders(standings, wishes.sharper),
            moves=moves.get((standings.ruleset, standings.seats), {}),
            versions=versions.get(ranking.anchor),
            by_part=make_part_chart(parts.get((standings.ruleset, standings.seats)), standings, colours),
            teams=make_team_rows(deals, (standings.ruleset, standings.seats), colours),
            series=make_series_rows(tallies.get(standings.ruleset, {})),
            series_target=targets[standings.ruleset],
            luck=make_luck_table(wishes.sharper, standings, source.rulesets()),
        )
        for standings, ranking in zip(all_standings, rankings, strict=True)
    ]
