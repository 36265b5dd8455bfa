"""The sections of the front page: who leads, the ranking with its tables and charts, and the scores without luck."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from msgspec import Struct

from malice.referee.replay import find_luck
from malice.referee.rulesets import Ruleset
from malice.site_pages import text
from malice.site_pages.changes import RankMark, mark_moves
from malice.site_pages.chart import Chart, make_chart
from malice.site_pages.contents import SiteOptions
from malice.site_pages.crosstable import Crossings, make_crossings, name_versions
from malice.site_pages.deals import Deals
from malice.site_pages.intervals import DealBar, format_ends, format_percents, make_deal_bar
from malice.site_pages.part_chart import PartChart, make_part_chart
from malice.site_pages.rankings import (
    Name,
    Ranking,
    SortableCell,
    assign_colours,
    make_name,
    make_ranking,
    make_version_name,
)
from malice.site_pages.series import SeriesRow, TeamRow, find_targets, make_series_rows, make_team_rows
from malice.tournaments.league.comparison import Comparison
from malice.tournaments.league.contents import Contents
from malice.tournaments.league.formats.decisions import format_points
from malice.tournaments.league.progression import PartRatings
from malice.tournaments.league.ranking import Choice, Picker, compute_league_standings
from malice.tournaments.league.series import count_series
from malice.tournaments.league.standings import Row, Standings
from malice.tournaments.ratings.comparison import Adjustment, Advantage


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
    """The leader of each table in which somebody has a rank.

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
        return format_points(Fraction(ahead)) + (" point" if ahead <= 1 else " points")
    if first.rating.elo is None or second.rating.elo is None:
        return ""
    return f"{text.format_decimal(first.rating.elo - second.rating.elo)} Elo"


def _describe_certainty(standings: Standings, first: Row, second: Row) -> str:
    los = standings.los.get(first.label, {}).get(second.label)
    return "" if los is None else text.format_likelihood(los)


def _find_adjusted(standings: Standings, first: Row, second: Row, sharper: Sequence[Comparison]) -> str:
    """The Elo of the first against the second without luck, whichever of them the comparison names first."""
    for one in sharper:
        elo = one.adjusted.elo if one.adjusted and one.rulesets == (standings.ruleset,) else None
        if elo is None:
            continue
        if (one.new.label, one.base.label) == (first.label, second.label):
            return text.format_signed(elo)
        if (one.base.label, one.new.label) == (first.label, second.label):
            return text.format_signed(-elo)
    return ""


SEATS = 2


class LuckScore(Struct, frozen=True):
    """What the first of two entries has, with luck or without; each interval as text."""

    elo: SortableCell
    elo_interval: str
    score: SortableCell
    score_interval: str


class LuckRow(Struct, frozen=True):
    """Two entries."""

    bot: Name
    other: Name
    deals: SortableCell
    outcomes: DealBar | None
    plain: LuckScore
    adjusted: LuckScore
    factor: SortableCell
    """How many times the games would tell as much with luck."""
    factor_interval: str


class LuckTable(Struct, frozen=True):
    """The pairs of a ranking whose score without luck is the sharper one."""

    rows: list[LuckRow]
    function: str
    """The beginning of the hash of the function that says what luck is."""
    exact: bool
    """Whether a 95 % interval is one."""
    pairs: list[tuple[Comparison, Adjustment]]
    """What the rows are made of."""


def make_luck_table(
    sharper: Sequence[Comparison] | None, standings: Standings, rulesets: Iterable[Ruleset]
) -> LuckTable | None:
    """Make the luck section of a ranking; None without one.

    Args:
        sharper: the pairs of all rulesets; None if nobody asked.
        standings: the ranking.
        rulesets: those of the league.
    """
    if sharper is None or standings.seats != SEATS:
        return None
    luck = next(find_luck(ruleset) for ruleset in rulesets if ruleset.name == standings.ruleset)
    if luck is None:
        return None
    pairs = [(one, one.adjusted) for one in sharper if one.adjusted and one.rulesets == (standings.ruleset,)]
    rows = [_make_row(one, adjusted) for one, adjusted in pairs]
    return LuckTable(rows, luck.hash[:8], all(one.exact for one, _ in pairs), pairs)


def _make_row(one: Comparison, adjusted: Adjustment) -> LuckRow:
    low, high = text.format_decimal(adjusted.factor_low, 2), text.format_decimal(adjusted.factor_high, 2)
    return LuckRow(
        bot=make_name(one.new.label),
        other=make_name(one.base.label),
        deals=SortableCell(f"{one.advantage.deals:,}", one.advantage.deals),
        outcomes=make_deal_bar(one.advantage.counts),
        plain=_make_luck_score(one.advantage),
        adjusted=_make_luck_score(adjusted),
        factor=SortableCell(text.format_decimal(adjusted.factor, 2), adjusted.factor),
        factor_interval=f"{low} … {high}",
    )


def _make_luck_score(found: Advantage | Adjustment) -> LuckScore:
    return LuckScore(
        elo=SortableCell(text.format_signed(found.elo), found.elo),
        elo_interval=format_ends(found.elo_low, found.elo_high),
        score=SortableCell(text.format_percent(found.score), found.score),
        score_interval=format_percents(found.score_low, found.score_high),
    )


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
    """By games if only one part has rated games; None if these are few."""
    teams: list[TeamRow]
    series: list[SeriesRow]
    series_target: int
    luck: LuckTable | None
    """None unless somebody asked, or if nobody can measure luck under this ruleset."""


def make_rankings(all_standings: Sequence[Standings]) -> list[Ranking]:
    names = [standings.ruleset for standings in all_standings]
    return [make_ranking(standings, several_sizes=_has_sizes(standings, names)) for standings in all_standings]


def _has_sizes(standings: Standings, names: Sequence[str]) -> bool:
    return names.count(standings.ruleset) > 1 or standings.seats > 2


def _list_versions(source: Contents, rankings: Sequence[Ranking]) -> dict[str, Versions]:
    """The rankings with rows for older versions, by the anchor of the ranking without them."""
    every = Choice(versions="all")
    if len(Picker(source, every).shown) == len(Picker(source).shown):
        return {}
    labels = frozenset(entry.label for entry in source.entries)
    sizes = {ranking.anchor: len(ranking.rows) for ranking in rankings}
    found: dict[str, Versions] = {}
    for standings in compute_league_standings(source, every):
        ranking = make_ranking(standings, several_sizes=False, make_name=lambda label: make_version_name(label, labels))
        if len(ranking.rows) > sizes.get(ranking.anchor, 0):
            found[ranking.anchor] = Versions(ranking, standings)
    return found


def make_sections(
    source: Contents,
    deals: Deals,
    all_standings: Sequence[Standings],
    rankings: Sequence[Ranking],
    by_part: Sequence[PartRatings],
    options: SiteOptions,
) -> list[Section]:
    """Collect what the pages show of each ruleset and number of seats.

    Args:
        source: the league.
        deals: who won which deals.
        all_standings: the standings.
        rankings: the same as rankings.
        by_part: the ratings after each part, or after so many games.
        options: what the site shows beyond what every site does.
    """
    targets = find_targets(source)
    scores = (
        count_series((game for game in source.games if targets[game.ruleset]), targets, source.parts)
        if any(targets.values())
        else {}
    )
    colours = assign_colours(entry.label for entry in source.entries)
    parts = {(found.ruleset, found.seats): found for found in by_part}
    moves = mark_moves(options.changes)
    versions, names = _list_versions(source, rankings), name_versions(source)
    return [
        Section(
            ranking=ranking,
            crossings=make_crossings(standings, ranking.anchor, names),
            chart=make_chart(standings, colours),
            leaders=list_leaders(standings, options.sharper),
            moves=moves.get((standings.ruleset, standings.seats), {}),
            versions=versions.get(ranking.anchor),
            by_part=make_part_chart(parts.get((standings.ruleset, standings.seats)), standings, colours),
            teams=make_team_rows(deals, (standings.ruleset, standings.seats), colours),
            series=make_series_rows(scores.get(standings.ruleset, {})),
            series_target=targets[standings.ruleset],
            luck=make_luck_table(options.sharper, standings, source.rulesets),
        )
        for standings, ranking in zip(all_standings, rankings, strict=True)
    ]
