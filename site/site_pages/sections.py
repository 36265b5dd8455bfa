"""The sections of the front page: a ranking with its tables and charts, for each ruleset and number of seats."""

from __future__ import annotations

from collections.abc import Sequence

from site_pages.chart import make_chart
from site_pages.colours import assign_colours
from site_pages.crosstable import make_crossings
from site_pages.deals import Deals
from site_pages.luck import make_luck_table
from site_pages.pages import Section
from site_pages.part_chart import make_part_chart
from site_pages.rankings import Ranking, make_ranking
from site_pages.series import make_series_rows
from site_pages.source import Source
from site_pages.teams import make_team_rows
from tournaments.league.comparison import Comparison
from tournaments.league.part_ratings import compute_part_ratings
from tournaments.league.series import tally_series
from tournaments.league.standings import Standings


def make_rankings(all_standings: Sequence[Standings]) -> list[Ranking]:
    """Return the rankings, in the order of the standings."""
    names = [standings.ruleset for standings in all_standings]
    return [
        make_ranking(standings, several_sizes=names.count(standings.ruleset) > 1 or standings.seats > 2)
        for standings in all_standings
    ]


def make_sections(
    source: Source,
    deals: Deals,
    all_standings: Sequence[Standings],
    rankings: Sequence[Ranking],
    sharper: Sequence[Comparison] | None = None,
) -> list[Section]:
    """Return the sections.

    Args:
        source: the league.
        deals: who won which deals.
        all_standings: the standings.
        rankings: the same as rankings.
        sharper: the pairs whose score without luck is the sharper one; None for no such section.
    """
    targets = {ruleset.name: ruleset.match.target for ruleset in source.rulesets()}
    tallies = (
        tally_series((game for game in source.games() if targets[game.ruleset]), targets, source.parts())
        if any(targets.values())
        else {}
    )
    colours = assign_colours(entry.label for entry in source.entries())
    by_part = {(found.ruleset, found.seats): found for found in compute_part_ratings(source)}
    return [
        Section(
            ranking=ranking,
            crossings=make_crossings(standings, ranking.anchor),
            chart=make_chart(standings, colours),
            by_part=make_part_chart(by_part.get((standings.ruleset, standings.seats)), standings, colours),
            teams=make_team_rows(deals, (standings.ruleset, standings.seats), colours),
            series=make_series_rows(tallies.get(standings.ruleset, {})),
            series_target=targets[standings.ruleset],
            luck=make_luck_table(sharper, standings, source.rulesets()),
        )
        for standings, ranking in zip(all_standings, rankings, strict=True)
    ]
