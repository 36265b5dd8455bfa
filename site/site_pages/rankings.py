"""Standings as the templates show them: each figure as text with the value to sort it by, and the colour of each
bot.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache

from msgspec import Struct

from malice.site_pages import text
from malice.site_pages.intervals import (
    Whisker,
    find_span,
    format_ends,
    format_percents,
    format_rank_range,
    make_whisker,
)
from malice.tournaments.league.columns import COLUMNS, SITE, Column, list_columns, list_own, name_columns
from malice.tournaments.league.formats.decisions import format_points
from malice.tournaments.league.standings import PRELIMINARY, Row, Standings, State
from malice.tournaments.ratings.scores import SeatScore


class SortableCell(Struct, frozen=True):
    """A figure as text, and its sort value; None sorts last in both directions."""

    text: str
    sort: float | None = None


class Name(Struct, frozen=True):
    """The label of an entry as pages show it, and the name of its page."""

    label: str
    """As pages show it."""
    slug: str
    exact: str
    """The label itself, for addresses and downloads."""


class RankRow(Struct, frozen=True):
    """A row of the ranking."""

    cells: dict[str, SortableCell | None]
    """By the name of the column; None stays empty. The rank sorts by place in the table."""
    range: str
    of: str
    """The number of bots ranked together, and their group if there are several."""
    bot: Name
    whisker: Whisker | None
    idle: str
    """CPU time off turn; empty unless it is too high."""
    state: State
    preliminary: bool
    """Whether its Elo comes from few games."""


class RankTable(Struct, frozen=True):
    """The rows of a group that met, or of all."""

    title: str
    """Empty if it is the only table of its ranking."""
    rows: list[RankRow]
    away: list[RankRow]
    """Without a rank, since they do not play."""

    @property
    def size(self) -> int:
        """The number of its rows."""
        return len(self.rows) + len(self.away)


class SeatRow(Struct, frozen=True):
    """What a seat is worth, or those of partners."""

    seats: str
    score: SortableCell
    score_interval: str
    elo: SortableCell
    interval: str


class Ranking(Struct, frozen=True):
    """The ranking of one ruleset and number of seats."""

    title: str
    anchor: str
    """The id of its section."""
    ruleset: str
    page: str
    """The file name of the ruleset's page."""
    seats: int
    rows: list[RankRow]
    tables: list[RankTable]
    """The same rows, group by group."""
    relative_to: str
    luck: str
    warning: str
    """Why some rows cannot be compared; empty if all can."""
    games: int
    waiting: int
    exact: bool
    """Whether a 95 % interval is one."""
    live: bool
    """Whether deals are still missing."""
    so_far: bool
    """Whether the intervals of scores hold at all looks together."""
    columns: list[Column]
    small: Mapping[str, Column]
    """By name, all that a column may show in small type."""
    by: str
    """The column that ranks, where it is a figure."""
    by_table: bool
    """Whether the format ranks, and not the ratings."""
    mean_of: str
    """Whose mean Elo is relative to, without an anchor."""
    seat_rows: list[SeatRow]
    preliminary: int
    """The number of games below which an Elo is preliminary; 0 if none is."""


@lru_cache(1 << 12)
def make_name(label: str) -> Name:
    return Name(text.format_label(label), text.make_slug(label), label)


def make_version_name(label: str, entries: Collection[str]) -> Name:
    """Name a version: an older one, such as `greedy@2`, has the page of its entry."""
    own = label if label in entries else label.rpartition("@")[0]
    return Name(text.format_label(label), text.make_slug(own or label), label)


def make_ranking(standings: Standings, *, several_sizes: bool, make_name: Callable[[str], Name] = make_name) -> Ranking:
    """Make a ranking.

    Args:
        standings: the figures.
        several_sizes: whether the title needs the number of seats.
        make_name: names the labels.
    """
    title = standings.ruleset + (f", {standings.seats} seats" if several_sizes else "")
    rows = standings.rows
    columns = list_columns(standings, SITE)
    span = find_span([row.rating for row in rows])
    made = {row.label: _make_rank_row(standings, place, span, make_name(row.label)) for place, row in enumerate(rows)}
    return Ranking(
        title=title,
        anchor=f"{text.make_slug(standings.ruleset)}-{standings.seats}",
        ruleset=standings.ruleset,
        page=text.make_slug(standings.ruleset),
        seats=standings.seats,
        rows=list(made.values()),
        tables=list(_make_tables(standings, made)),
        relative_to=text.format_label(standings.anchor) if standings.anchor is not None else "",
        luck=ALONE if standings.same_deal else _explain_luck(standings.variance_ratio),
        warning=standings.warning or "",
        games=standings.games,
        waiting=standings.waiting,
        exact=standings.exact,
        live=bool(standings.live),
        so_far=standings.so_far,
        columns=columns,
        small=name_columns(standings),
        by="points" if any(column.name == "points" for column in columns) else "elo",
        by_table=standings.by_table,
        mean_of=_describe_mean(standings),
        seat_rows=[_make_seat_row(side) for side in standings.seat_scores if side.score is not None],
        preliminary=PRELIMINARY if any(row.preliminary and row.rating.elo is not None for row in rows) else 0,
    )


def _describe_mean(standings: Standings) -> str:
    if standings.warning:
        return "each group"
    bots = "the bots" if standings.mean_of_all else "those bots that took points off one another"
    return f"{bots}, older versions included" if standings.unlisted else bots


def _make_seat_row(side: SeatScore) -> SeatRow:
    return SeatRow(
        seats=" + ".join(map(str, side.seats)),
        score=SortableCell(text.format_percent(side.score), text.drop_unknown(side.score)),
        score_interval=format_percents(side.score_low, side.score_high),
        elo=SortableCell(text.format_signed(side.elo), text.drop_unknown(side.elo)),
        interval=format_ends(side.elo_low, side.elo_high),
    )


def _make_tables(standings: Standings, made: Mapping[str, RankRow]) -> Iterator[RankTable]:
    tables = standings.list_tables()
    for table in tables:
        title = "Met nobody yet" if table.group is None else f"Group {table.group}"
        yield RankTable(
            title if len(tables) > 1 else "",
            [made[row.label] for row in table.active],
            [made[row.label] for row in table.away],
        )


def _make_rank_row(standings: Standings, place: int, span: tuple[float, float] | None, name: Name) -> RankRow:
    row = standings.rows[place]
    rating = row.rating
    cells = make_cells(row, (*name_columns(standings).values(), *list_own(standings)))
    cells["rank"] = SortableCell("–")
    if row.rank is not None:
        cells["rank"] = SortableCell(f"{'=' if row.tied else ''}{row.rank}", place + 1)
    return RankRow(
        cells=cells,
        range=format_rank_range(rating) if row.points is None else "",
        of=_describe_field(standings, row),
        bot=name,
        whisker=make_whisker(rating, span),
        idle=text.format_milliseconds(row.idle_ms) if row.thinks_off_turn else "",
        state=row.state,
        preliminary=row.preliminary and rating.elo is not None,
    )


def make_cells(row: Row, columns: Iterable[Column] = COLUMNS) -> dict[str, SortableCell | None]:
    """The figures of a row, by column."""
    return {column.name: _WRITERS[column.unit](*column.read(row)) for column in columns if column.unit in _WRITERS}


def _write_elo(elo: float | None) -> SortableCell:
    return SortableCell(text.format_signed(elo), text.drop_unknown(elo))


_WRITERS: Mapping[str, Callable[..., SortableCell | None]] = {
    "rating": _write_elo,
    "elo": _write_elo,
    "elo interval": lambda low, high: SortableCell(format_ends(low, high)),
    "share": lambda share: SortableCell(text.format_percent(share), text.drop_unknown(share)),
    "share interval": lambda low, high: SortableCell(format_percents(low, high)),
    "record": lambda wins, draws, losses: SortableCell(f"{wins}–{draws}–{losses}", wins),
    "count": lambda count: SortableCell(text.NONE if count is None else f"{count:,}", count),
    "fault": lambda count: SortableCell(str(count), count),
    "points": lambda points: None if points is None else SortableCell(format_points(Fraction(points)), points),
    "ms": lambda ms: SortableCell(text.format_milliseconds(ms), text.drop_unknown(ms)),
    "tally": lambda mean, games: SortableCell(
        text.NONE if mean is None else f"{round(mean * games):,} of {games:,}", mean
    ),
}


def _describe_field(standings: Standings, row: Row) -> str:
    if row.rank is None:
        return "not ranked"
    if standings.by_table:
        return f"of {sum(other.rank is not None for other in standings.rows)}"
    size = sum(other.rank is not None and other.group == row.group for other in standings.rows)
    return f"of {size}" + (f" in group {row.group}" if standings.groups > 1 else "")


ALONE = "All seats play the same deal, each alone, so a deal is one game, and nobody has better cards than another."


def _explain_luck(ratio: float | None) -> str:
    """Explain the variance ratio in one sentence."""
    ratio = text.drop_unknown(ratio)
    if ratio is None:
        return ""
    start = f"Variance ratio {text.format_decimal(ratio, 2)}: "
    if ratio < 0.05:
        return (
            start + "because every deal is played from every seat, the luck of the cards cancels out almost completely."
        )
    if ratio < 0.95:
        return start + (
            "because every deal is played from every seat, the luck of the cards partly cancels out, and"
            f" {text.format_decimal(100 * ratio)} games here say as much as 100 independent games."
        )
    if ratio > 1.05:
        return start + (
            "games of the same deal resemble each other, and it takes"
            f" {text.format_decimal(100 * ratio)} games here to say as much as 100 independent games."
        )
    return start + "the games say about as much as the same number of independent games."


COLOURS = 12
"""`bot0` to `bot11` in static/colours.css."""
SHAPES = 5
"""The shapes of discs and of marks in charts; no divisor in common with the colours, so 60 discs differ."""
DASHES = 5
"""The dashes of lines; with the shapes, they tell 25 lines apart where nobody sees a colour."""


def assign_colours(labels: Iterable[str]) -> dict[str, int]:
    """Number the bots in the order of entry, from 0: a bot that enters later changes no colour.

    `name_disc` and `name_line` turn a number into classes of the style sheet.
    """
    return {label: number for number, label in enumerate(labels)}


def find_colour(colours: Mapping[str, int], label: str) -> int:
    """The number of a bot; an older version (`label@2`) has that of its newest.

    Raises:
        KeyError: no bot entered under this label.
    """
    return colours[label if label in colours else label.rpartition("@")[0]]


def find_shape(number: int) -> int:
    return number % SHAPES


def name_disc(number: int) -> str:
    """The classes of the disc of the bot with this number; static/game.js has the same."""
    return f"bot{number % COLOURS} shape{find_shape(number)}"


def name_line(number: int) -> str:
    """The classes of the line of the bot with this number."""
    return f"{name_disc(number)} dash{number // SHAPES % DASHES}"


class Marks:
    """The classes of the discs beside names; for templates, which know names and pages, not labels.

    Args:
        labels: those of all entries, in the order of entry.
    """

    def __init__(self, labels: Iterable[str]) -> None:
        self._classes = {
            text.make_slug(label): f"marked {name_disc(number)}" for label, number in assign_colours(labels).items()
        }

    def find(self, bot: Name) -> str:
        """The classes of the link to a bot; empty for one that never entered."""
        found = self._classes.get(bot.slug)
        return self._classes.get(text.make_slug(bot.label.rpartition("@")[0]), "") if found is None else found
