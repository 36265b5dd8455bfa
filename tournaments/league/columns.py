"""The columns of the standings, each described once: terminal, JSON, CSV and site show what stands here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Literal, NamedTuple

from malice.tournaments.league.standings import Row, Standings

Value = str | float | None
Measure = Literal["elo", "elo interval", "share", "share interval", "record", "count", "fault", "points", "ms", "tally"]
Unit = Measure | Literal["rank", "bot", "rating", ""]
"""What the values are; the terminal and the site each know how to write one. Empty for what only CSV has."""


class Column(NamedTuple):
    fields: Mapping[str, str | Callable[[Row], Value]]
    """By name in CSV: the path of the value in a row, such as `rating.elo`, or what computes it. The first name is also
    the column's. JSON has the whole rows, and each computed value beside them under its name."""
    unit: Unit = ""
    caption: str = ""
    """Above the column in the terminal."""
    head: str = ""
    """Above the column on the site; before the figure, where that is in small type."""
    help: str = ""
    """Its tooltip on the site."""
    small: str = ""
    """The column that the site shows in small type below this one."""
    shown: Callable[[Standings], bool] = lambda standings: True
    """Whether terminal and site have it; CSV has every column."""

    @property
    def name(self) -> str:
        return next(iter(self.fields))

    def read(self, row: Row) -> tuple[Value, ...]:
        """The values of a row, in the order of `fields`; a boolean as the word that JSON has for it."""
        found = (attrgetter(field)(row) if isinstance(field, str) else field(row) for field in self.fields.values())
        return tuple(str(value).lower() if isinstance(value, bool) else value for value in found)


def _has_points(standings: Standings) -> bool:
    return any(row.points is not None for row in standings.rows)


def _has_buchholz(standings: Standings) -> bool:
    return any(row.buchholz is not None for row in standings.rows)


def _take(*paths: str) -> Mapping[str, str]:
    return {path.rpartition(".")[2]: path for path in paths}


COLUMNS = (
    Column(_take("rank"), "rank", "rank", "Rank", "In small type: the ranks that the games leave possible"),
    Column({"bot": "label"}, "bot", "bot", "Bot"),
    Column(_take("games"), "count", "games", "Games"),
    Column(_take("rating.elo"), "rating", "elo", "Elo", "The rating that fits all games best"),
    Column(_take("rating.low", "rating.high"), "elo interval", "95 %", "95 % interval"),
    Column(_take("rating.rank_low", "rating.rank_high")),
    Column(_take("rating.wins", "rating.draws", "rating.losses"), "record", "W-D-L", "Won–drawn–lost"),
    Column(
        _take("rating.score"),
        *("share", "score", "Score", "Share of the points; its 95 % interval in small type", "score_low"),
    ),
    Column(_take("rating.score_low", "rating.score_high"), "share interval", "95 %", help="95 % interval"),
    Column(_take("rating.average_opponent"), "elo", "opponents", "Opponents", "Average Elo of the opponents"),
    Column(
        _take("mean_ms"),
        *("ms", "ms/action", "ms/action", "Mean thinking time; its CPU time in small type", "cpu_ms"),
    ),
    Column(_take("cpu_ms"), "ms", "CPU ms/action", "CPU ", "CPU time"),
    Column(_take("idle_ms")),
    Column(_take("forfeits"), "fault", "forfeits", "Forfeits", "Games that the bot lost by a verdict"),
    Column(
        _take("group"),
        *("count", "", "Group", "Elo compares only within a group that met"),
        shown=lambda standings: standings.by_table and bool(standings.warning),
    ),
    Column(_take("state")),
    Column(
        _take("points"),
        *("points", "points", "Points", "Match points: a match or a bye is 1, a drawn match ½"),
        shown=_has_points,
    ),
    Column(
        _take("buchholz"),
        *("points", "buchholz", "Buchholz", "The sum of the opponents' points"),
        shown=_has_buchholz,
    ),
    Column(_take("preliminary")),
)
"""In the order of CSV."""

OWN = "what the game counts"
"""Stands for the columns that only one game has."""
TERMINAL = (
    *("rank", "points", "buchholz", "bot", "elo", "low", "games", "wins", "score", "score_low", "average_opponent"),
    *("mean_ms", "cpu_ms", "forfeits", OWN),
)
SITE = (
    *("rank", "group", "bot", "points", "buchholz", "elo", "low", "wins", "games", OWN, "score", "average_opponent"),
    *("mean_ms", "forfeits"),
)
"""The orders in which terminal and site show columns, by name."""

NAMED = {column.name: column for column in COLUMNS}


def _read_so_far(end: int, field: str) -> Callable[[Row], Value]:
    return lambda row: row.score_so_far[end] if row.score_so_far else getattr(row.rating, field)


WATCHED = NAMED | {
    "score": NAMED["score"]._replace(help="Share of the points; its 95 % interval of all looks together in small type"),
    "score_low": Column(
        {"score_low": _read_so_far(0, "score_low"), "score_high": _read_so_far(1, "score_high")},
        *("share interval", "95 % so far"),
        help="95 % interval of all looks together",
    ),
}
"""The columns while deals are missing, where the intervals of scores hold at all looks; CSV keeps those of one look."""


def name_columns(standings: Standings) -> Mapping[str, Column]:
    """The columns of these standings by name, without those that only their game has."""
    return WATCHED if standings.so_far else NAMED


def list_columns(standings: Standings, order: Sequence[str]) -> list[Column]:
    """The columns that standings show, in the order of `TERMINAL` or `SITE`."""
    named = name_columns(standings)
    found = [column for name in order for column in (list_own(standings) if name == OWN else [named[name]])]
    return [column for column in found if column.shown(standings)]


def list_own(standings: Standings) -> list[Column]:
    """A column for each share that the game itself counts."""
    figures = (figure for row in standings.rows for figure in row.statistics or ())
    captions = {figure.name: figure.caption for figure in figures if figure.share}
    return [
        Column(
            {name: _read_own(name, "mean"), "games": _read_own(name, "games")}, "tally", caption, caption.capitalize()
        )
        for name, caption in captions.items()
    ]


def _read_own(name: str, field: str) -> Callable[[Row], Value]:
    return lambda row: next((getattr(each, field) for each in row.statistics or () if each.name == name), None)


def compute_fields(row: Row) -> dict[str, Value]:
    """What columns compute from a row, by name."""
    fields = (each for column in COLUMNS for each in column.fields.items())
    return {name: field(row) for name, field in fields if not isinstance(field, str)}
