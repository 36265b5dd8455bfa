"""How a bot stands in each ranking, and what it did against each of the others."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from site_pages import text
from site_pages.deals import Deals
from site_pages.rankings import Cell, Name, Ranking, RankRow, name
from tournaments.league.standings import Meeting, Standings
from tournaments.ratings.pairs import HeadToHead, head_to_head


class Duel(Struct, frozen=True):
    """What the pairs of two bots say: the games of a deal, played from both seats, taken together."""

    elo: Cell
    error: str
    los: Cell
    luck: Cell
    luck_range: str


class Against(Struct, frozen=True):
    """One line of a bot's page: how it did against another."""

    bot: Name
    record: str
    wins: int
    games: Cell
    score: Cell
    duel: Duel | None
    """None with more than two seats."""


class Result(Struct, frozen=True):
    """How a bot stands in one ranking, with its head-to-head table."""

    title: str
    anchor: str
    page: str
    """The file name of the ruleset's page."""
    row: RankRow
    against: list[Against]
    duels: bool


def list_results(
    label: str, all_standings: Sequence[Standings], rankings: Sequence[Ranking], deals: Deals
) -> list[Result]:
    """Return how an entry stands in each ranking that it is in."""
    found = []
    for standings, shown in zip(all_standings, rankings, strict=True):
        for row, rank_row in zip(standings.rows, shown.rows, strict=True):
            if row.label == label:
                against = _all_against(standings, label, deals)
                duels = standings.seats == 2
                found.append(Result(shown.title, shown.anchor, shown.page, rank_row, against, duels))
    return found


def _all_against(standings: Standings, label: str, deals: Deals) -> list[Against]:
    meetings = standings.crosstable.get(label, {})
    return [
        _against(standings, label, row.label, meeting, deals)
        for row in standings.rows
        if row.label != label and (meeting := meetings.get(row.label)) is not None
    ]


def _against(standings: Standings, label: str, other: str, meeting: Meeting, deals: Deals) -> Against:
    pairs = deals.pairs(standings.ruleset, label, other) if standings.seats == 2 else None
    return Against(
        bot=name(other),
        record=f"{meeting.wins}–{meeting.draws}–{meeting.losses}",
        wins=meeting.wins,
        games=Cell(f"{meeting.games:,}", meeting.games),
        score=Cell(text.format_percent(meeting.score), meeting.score),
        duel=None if pairs is None else _duel(head_to_head(pairs)),
    )


def _duel(told: HeadToHead) -> Duel:
    pairs = told.pairs
    low, high = told.luck_low, told.luck_high
    return Duel(
        elo=Cell(text.format_signed(pairs.elo), pairs.elo),
        error=f"± {text.format_decimal(pairs.error)}" if pairs.elo is not None else "",
        los=Cell(text.format_likelihood(pairs.los), pairs.los),
        luck=Cell(text.format_whole_percent(told.luck), told.luck),
        luck_range=""
        if low is None or high is None
        else f"{text.format_decimal(100 * low)} … {text.format_decimal(100 * high)}",
    )
