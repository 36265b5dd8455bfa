"""A bot's results: its place in each ranking, and its record against each opponent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from malice.site_pages import text
from malice.site_pages.deals import Deals, Pair
from malice.site_pages.intervals import format_ends
from malice.site_pages.outcomes import DealBar, make_deal_bar
from malice.site_pages.rankings import Name, Ranking, RankRow, SortableCell, make_name
from malice.tournaments.league.standings import OpponentScore, Standings
from malice.tournaments.league.statistics import EntryStatistic
from malice.tournaments.ratings.comparison import measure_advantage
from malice.tournaments.ratings.head_to_head import compare_head_to_head


class Duel(Struct, frozen=True):
    """Statistics of two bots from pairs: the two games of a deal, played from both seats."""

    elo: SortableCell
    interval: str
    """Of the Elo difference; empty if unknown."""
    los: SortableCell
    luck: SortableCell
    luck_range: str
    deals: DealBar | None
    """None without complete deals."""


class OpponentRow(Struct, frozen=True):
    """A row of the head-to-head table: a bot's results against one opponent."""

    bot: Name
    record: str
    wins: int
    games: SortableCell
    score: SortableCell
    duel: Duel | None
    """None with more than two seats."""


class StatisticRow(Struct, frozen=True):
    """What a game itself counts, over the games that count for it."""

    caption: str
    games: SortableCell
    mean: SortableCell
    best: SortableCell


class BotResult(Struct, frozen=True):
    """A bot's row in one ranking, with its head-to-head table."""

    title: str
    anchor: str
    page: str
    """The file name of the ruleset's page."""
    row: RankRow
    opponents: list[OpponentRow]
    duels: bool
    statistics: list[StatisticRow]
    """What the game itself counts."""


def list_results(
    label: str, all_standings: Sequence[Standings], rankings: Sequence[Ranking], deals: Deals
) -> list[BotResult]:
    """Return the results of an entry in each ranking that lists it."""
    results = []
    for standings, ranking in zip(all_standings, rankings, strict=True):
        for row, rank_row in zip(standings.rows, ranking.rows, strict=True):
            if row.label == label:
                against = _list_opponents(standings, label, deals)
                duels = _has_duels(standings)
                counted = [_make_statistic(figure) for figure in row.statistics or ()]
                results.append(
                    BotResult(ranking.title, ranking.anchor, ranking.page, rank_row, against, duels, counted)
                )
    return results


def _make_statistic(figure: EntryStatistic) -> StatisticRow:
    if figure.share:
        mean, best = text.format_percent(figure.mean), SortableCell("")
    else:
        mean, best = text.format_decimal(figure.mean, 1), SortableCell(text.format_decimal(figure.best), figure.best)
    return StatisticRow(
        figure.caption.capitalize(),
        SortableCell(f"{figure.games:,}", figure.games),
        SortableCell(mean, figure.mean),
        best,
    )


def _has_duels(standings: Standings) -> bool:
    """Return whether two play each deal twice, from both seats."""
    return standings.seats == 2 and not standings.same_deal


def _list_opponents(standings: Standings, label: str, deals: Deals) -> list[OpponentRow]:
    meetings = standings.crosstable.get(label, {})
    return [
        _make_opponent_row(standings, label, row.label, meeting, deals)
        for row in standings.rows
        if row.label != label and (meeting := meetings.get(row.label)) is not None
    ]


def _make_opponent_row(
    standings: Standings, label: str, other: str, meeting: OpponentScore, deals: Deals
) -> OpponentRow:
    cells = deals.count_pairs(standings.ruleset, label, other) if _has_duels(standings) else None
    return OpponentRow(
        bot=make_name(other),
        record=f"{meeting.wins}–{meeting.draws}–{meeting.losses}",
        wins=meeting.wins,
        games=SortableCell(f"{meeting.games:,}", meeting.games),
        score=SortableCell(text.format_percent(meeting.score), meeting.score),
        duel=None if cells is None else _make_duel(cells),
    )


@lru_cache(1 << 14)
def _make_duel(cells: frozenset[tuple[Pair, int]]) -> Duel:
    """Return the statistics of deals, counted by their points; whoever renders again asks for most of them again."""
    record = compare_head_to_head(Counter(dict(sorted(cells))).elements())
    pairs = record.pairs
    found = measure_advantage(record.pair_counts, 2)
    low, high = record.luck_low, record.luck_high
    return Duel(
        elo=SortableCell(text.format_signed(pairs.elo), pairs.elo),
        interval="" if found.elo_low is found.elo_high is None else format_ends(found.elo_low, found.elo_high),
        los=SortableCell(text.format_likelihood(found.los), found.los),
        luck=SortableCell(text.format_rounded_percent(record.luck), record.luck),
        luck_range=""
        if low is None or high is None
        else f"{text.format_decimal(100 * low)} … {text.format_decimal(100 * high)}",
        deals=make_deal_bar(record.pair_counts),
    )
