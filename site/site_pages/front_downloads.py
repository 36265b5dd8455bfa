"""The tables of the front page as CSV and JSON."""

from __future__ import annotations

from collections.abc import Sequence

from malice.site_pages.downloads import write_table
from malice.site_pages.files import Folder
from malice.site_pages.front import Front
from malice.site_pages.overall import Overall
from malice.site_pages.sections import Section
from malice.site_pages.series import SeriesRow
from malice.site_pages.teams import TeamRow
from malice.tournaments.league.standings import Standings
from malice.tournaments.ratings.seats import SeatScore
from malice.tournaments.terminal.adjusted_pairs import ADJUSTED_HEAD
from malice.tournaments.terminal.adjusted_pairs import list_cells as list_adjusted
from malice.tournaments.terminal.results import RANKING_HEAD, list_cells
from malice.tournaments.terminal.tables import Cell

SEATS_HEAD = ("seats", "score", "score_low", "score_high", "elo", "elo_low", "elo_high")
TEAMS_HEAD = ("team", "games", "won", "drawn", "lost", "score")
SERIES_HEAD = ("bot", "won", "played", "share")


def write_front_downloads(folder: Folder, front: Front, all_standings: Sequence[Standings]) -> None:
    """Write every table of the front page beside it.

    Raises:
        OSError: a file cannot be written.
    """
    for section, standings in zip(front.sections, all_standings, strict=True):
        _write_section(folder, section, standings)
    if front.overall is not None:
        _write_overall(folder, front.overall)


def _write_section(folder: Folder, section: Section, standings: Standings) -> None:
    name = section.ranking.anchor
    _write_ranking(folder, f"ranking-{name}", standings)
    if section.versions is not None:
        _write_ranking(folder, f"versions-{name}", section.versions.standings)
    if section.ranking.seat_rows:
        write_table(folder, f"seats-{name}", SEATS_HEAD, map(_list_seat_cells, standings.seat_scores))
    if section.teams:
        write_table(folder, f"teams-{name}", TEAMS_HEAD, map(_list_team_cells, section.teams))
    if section.series:
        write_table(folder, f"series-{name}", SERIES_HEAD, map(_list_series_cells, section.series))
    if section.luck is not None and section.luck.rows:
        write_table(folder, f"luck-{name}", ADJUSTED_HEAD, [list_adjusted(*pair) for pair in section.luck.pairs])


def _write_ranking(folder: Folder, name: str, standings: Standings) -> None:
    write_table(folder, name, RANKING_HEAD, [list_cells(standings, row) for row in standings.rows])


def _list_seat_cells(side: SeatScore) -> list[Cell]:
    return [" + ".join(map(str, side.seats)), *(getattr(side, field) for field in SEATS_HEAD[1:])]


def _list_team_cells(row: TeamRow) -> list[Cell]:
    cells = (row.games, row.won, row.drawn, row.lost, row.score)
    return [" + ".join(bot.exact for bot in row.bots), *(cell.sort for cell in cells)]


def _list_series_cells(row: SeriesRow) -> list[Cell]:
    return [row.bot.exact, row.won.sort, row.played.sort, row.share.sort]


def _write_overall(folder: Folder, overall: Overall) -> None:
    head = ("group", "rank", "bot", "state", "score", *(f"score {ruleset}" for ruleset in overall.rulesets), "rulesets")
    rows = [
        [
            table.title,
            row.rank_number,
            row.bot.exact,
            row.state,
            *(cell.sort for cell in (row.score, *row.by_ruleset, row.played)),
        ]
        for table in overall.tables
        for row in (*table.rows, *table.away)
    ]
    write_table(folder, "overall", head, rows)
