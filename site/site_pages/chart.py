"""The geometry of the charts: the rating history, and how long the actions of a bot took; templates/ draws them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from malice.site_pages import text
from malice.site_pages.rankings import find_colour, find_shape, name_line
from malice.tournaments.league.standings import Row, Standings
from malice.tournaments.ratings.running_elo import thin_points

FONT = 12
"""The size of letters in charts, in their own units."""
JOINERS = "\u200d\ufe0f"
"""Characters without a width that join or change their neighbours."""


def shorten_name(name: str, room: float) -> str:
    """As much of a name as surely fits into `room`, whatever the font of the reader."""
    if sum(map(_measure, name)) * FONT <= room:
        return name
    used = _measure("…")
    kept = ""
    for char in name:
        used += _measure(char)
        if used * FONT > room:
            break
        kept += char
    return f"{kept.rstrip(JOINERS + ' ')}…"


def _measure(char: str) -> float:
    """How wide a character is at most, in ems of a bold and wide font."""
    if unicodedata.combining(char) or char in JOINERS:
        return 0.0
    if unicodedata.east_asian_width(char) in "WF" or char > "\uffff":
        return 1.4
    if char in "mwMW@%…—" or unicodedata.category(char) in ("So", "Lo"):
        return 1.15
    return 0.42 if char in "ijltfrI.,:;|!'() " else 0.85 if char.isupper() else 0.72


WIDTH, HEIGHT = 880, 380
LEFT, RIGHT, TOP, BOTTOM = 56, 204, 18, 44
LINES = 5
"""Lines with a name at their end, those of the best; the others are faint, since more would hide one another."""
SHIFTS = 12
"""Of how many neighbours the marks lie beside one another."""
POINTS, FAINT_POINTS = 240, 60
"""The most corners of a line: about one for three pixels, and fewer where nobody looks closely."""
NAME_GAP = 29
"""From the end of a line to its name."""
HISTORY = (
    "Running Elo; every bot starts at 1500. It follows the games in order and shows how ratings developed, whereas the"
    " ranking above fits all games at once."
)


class Tick(Struct, frozen=True):
    """A mark on an axis."""

    at: float
    text: str


class ChartColumn(Struct, frozen=True):
    """A place of the horizontal axis that has more to say than its tick."""

    left: float
    width: float
    title: str


class Bar(Struct, frozen=True):
    """An interval, upright; an end that is unknown or outside of the chart is open."""

    top: float
    bottom: float
    open_top: bool
    open_bottom: bool


class CurvePoint(Struct, frozen=True):
    """A point of a curve."""

    x: float
    y: float
    title: str = ""
    bar: Bar | None = None


class Line(Struct, frozen=True):
    """The curve of one entry, its marks, and the place of its name."""

    label: str
    name: str
    """What stands at its end: the rank and as much of the label as there is room for; empty for a faint line."""
    classes: str
    """Those of its colour, shape and dashes."""
    shape: int
    """The number of the shape of its marks."""
    points: str
    marks: list[CurvePoint]
    """Charts of many lines draw none on faint ones."""
    end: tuple[float, float]
    """Where its last figure is, before it goes on flat to the edge."""
    name_y: float
    title: str


class Drawn(Struct, frozen=True):
    """An entry with a curve."""

    label: str
    rank: str
    """The rank with a full stop; empty without a rank."""
    number: int
    """That of its colour."""
    faint: bool


class Chart(Struct, frozen=True):
    """Everything that the template draws."""

    name: str
    """What it shows, in two or three words."""
    summary: str
    """The same in a sentence, with figures."""
    caption: str
    """How to read it."""
    axis: str
    """What the horizontal axis counts."""
    warning: str
    """Why its curves cannot all be compared; empty if they can."""
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    lines: list[Line]
    """The faint ones come first, and the others cover them."""
    columns: list[ChartColumn] = []
    faint_lines: int = 0
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT
    top: float = TOP
    bottom: float = HEIGHT - BOTTOM


class Scale:
    """Converts figures to coordinates.

    Args:
        first: what lies at the left edge.
        last: what lies at the right edge.
        low: the lowest Elo.
        high: the highest Elo.
    """

    def __init__(self, first: float, last: float, low: float, high: float) -> None:
        self._first, self._last, self._low, self._high = first, last, low, high

    def x(self, value: float) -> float:
        """How far to the right a figure lies."""
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (value - self._first) / (self._last - self._first), 1)

    def y(self, elo: float) -> float:
        """How far down an Elo lies."""
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (self._high - elo) / (self._high - self._low), 1)


def list_drawn(standings: Standings, colours: Mapping[str, int]) -> list[Drawn]:
    """The entries with a curve, the best first, in the order of the ranking.

    Args:
        standings: what they are now.
        colours: the number of each entry.
    """
    rows = [row for row in standings.rows if len(standings.history.get(row.label, ())) > 1]
    named = {row.label for row in sorted(rows, key=_compare_rank)[:LINES]}
    return [
        Drawn(
            label=row.label,
            rank="" if row.rank is None or standings.warning else f"{row.rank}.",
            number=find_colour(colours, row.label),
            faint=row.label not in named,
        )
        for row in rows
    ]


def _compare_rank(row: Row) -> tuple[bool, int]:
    """Compare by rank, whatever the group: the best of every group get a name."""
    return row.rank is None, row.rank or 0


def make_chart(standings: Standings, colours: Mapping[str, int]) -> Chart | None:
    """Lay out the running Elo of every entry; return None if no game has been played."""
    drawn = list_drawn(standings, colours)
    if not drawn:
        return None
    curves = [thin_points(standings.history[one.label], FAINT_POINTS if one.faint else POINTS) for one in drawn]
    values = [elo for points in curves for _, elo in points]
    last = max(points[-1][0] for points in curves)
    y_ticks = choose_ticks(min(values), max(values), 6)
    scale = Scale(0, last, y_ticks[0], y_ticks[-1])
    lines = [_make_line(scale, entry, points) for entry, points in zip(drawn, curves, strict=True)]
    return Chart(
        name="Rating history",
        summary=f"Running Elo of {text.format_count(len(lines), 'bot')} over {text.format_count(last, 'game')}",
        caption=HISTORY,
        axis="games",
        warning=standings.warning or "",
        x_ticks=[Tick(scale.x(at), f"{at:,.0f}") for at in choose_ticks(0, last, 6) if at <= last],
        y_ticks=make_elo_ticks(scale, y_ticks),
        lines=place_names(lines),
        faint_lines=sum(entry.faint for entry in drawn),
    )


def make_elo_ticks(scale: Scale, ticks: Sequence[float]) -> list[Tick]:
    return [Tick(scale.y(at), text.format_decimal(at)) for at in ticks]


def place_names(lines: Sequence[Line]) -> list[Line]:
    """The lines in drawing order, with their names apart; faint ones have none."""
    named = [line for line in lines if line.name]
    heights = spread([line.end[1] for line in named], 17, TOP + 6, HEIGHT - BOTTOM)
    placed = [replace(line, name_y=y) for line, y in zip(named, heights, strict=True)]
    return [*(line for line in lines if not line.name), *placed]


def make_line(entry: Drawn, places: Sequence[tuple[float, float]], marks: list[CurvePoint], figure: str) -> Line:
    """The curve of an entry, which goes on flat from its last place to the edge of the chart.

    Args:
        entry: whose it is.
        places: its corners.
        marks: its marks.
        figure: the last one in words.
    """
    label = text.format_label(entry.label)
    name = f"{entry.rank} {label}".strip()
    edge = (float(WIDTH - RIGHT), places[-1][1])
    return Line(
        label=label,
        name="" if entry.faint else shorten_name(name, RIGHT - NAME_GAP),
        classes=name_line(entry.number),
        shape=find_shape(entry.number),
        points=" ".join(f"{x:g},{y:g}" for x, y in [*places, *([edge] if edge[0] > places[-1][0] else [])]),
        marks=marks,
        end=places[-1],
        name_y=places[-1][1],
        title=f"{label}: {figure}",
    )


def _make_line(scale: Scale, entry: Drawn, points: Sequence[tuple[int, float]]) -> Line:
    places = [(scale.x(game), scale.y(elo)) for game, elo in points]
    games, final = points[-1]
    figure = f"{text.format_decimal(final)} after {text.format_count(games, 'game')}"
    marks = [] if entry.faint else _choose_marks(places, entry.number % SHIFTS)
    return make_line(entry, places, marks, figure)


def _choose_marks(places: Sequence[tuple[float, float]], place: int) -> list[CurvePoint]:
    """Choose a few points to mark, shifted from line to line so that marks do not cover each other."""
    every = 90.0
    next_x = LEFT + 30 + 9.0 * place
    marks = []
    for x, y in places:
        if x >= next_x:
            marks.append(CurvePoint(x, y))
            next_x += every * (1 + math.floor((x - next_x) / every))
    return marks


def choose_ticks(low: float, high: float, about: int) -> list[float]:
    """At most about `about` round and whole figures, at least two, that cover `low` to `high`."""
    step = _round_up(max((high - low) / about, 1.0))
    first = math.floor(low / step)
    last = max(first + 1, math.ceil(high / step))
    return [step * number for number in range(first, last + 1)]


def _round_up(step: float) -> float:
    """Round a step up to a whole figure: 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    factors = (1, 2, 2.5, 5, 10) if power > 1 else (1, 2, 5, 10)
    return next(power * factor for factor in factors if power * factor >= step * 0.999)


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move places apart until neighbours are `gap` apart; keep their order, and stay within `low` to `high`.

    They move as little as can be: those that would touch share what is in the way, up and down.
    """
    order = sorted(range(len(wanted)), key=lambda index: (wanted[index], index))
    blocks: list[list[float]] = []  # of neighbours that touch: where each would have the first of all
    for rank, index in enumerate(order):
        blocks.append([wanted[index] - rank * gap])
        while len(blocks) > 1 and fmean(blocks[-2]) > fmean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    firsts = [fmean(block) for block in blocks for _ in block]
    last_first = max(low, high - gap * (len(wanted) - 1))
    placed = [0.0] * len(wanted)
    for rank, index in enumerate(order):
        placed[index] = round(min(max(firsts[rank], low), last_first) + rank * gap, 1)
    return placed


TIMES_WIDTH, TIMES_HEIGHT = 640, 190
TIMES_LEFT, TIMES_RIGHT, TIMES_TOP, TIMES_BOTTOM = 10, 10, 22, 34
LEAST = 8
"""The least number of buckets drawn, so that a bar is not as wide as the chart."""
UNITS = ((1_000_000, "s"), (1000, "ms"), (1, "µs"))


class TimeBar(Struct, frozen=True):
    """The actions of one bucket."""

    x: float
    y: float
    width: float
    height: float
    span: str
    """From when to when, in words."""
    least: int
    """Microseconds, included."""
    most: int
    """Microseconds, not included."""
    count: int
    share: str


class Histogram(Struct, frozen=True):
    """Everything that the template draws."""

    summary: str
    bars: list[TimeBar]
    ticks: list[Tick]
    width: float = TIMES_WIDTH
    height: float = TIMES_HEIGHT
    bottom: float = TIMES_HEIGHT - TIMES_BOTTOM


def make_histogram(times: Sequence[int]) -> Histogram | None:
    """Lay out how long actions took; None without actions.

    Args:
        times: the number of actions by bucket, as in `ActionTimes`.
    """
    total = sum(times)
    if not total:
        return None
    filled = [bucket for bucket, count in enumerate(times) if count]
    first, last = filled[0], filled[-1]
    spare = max(0, LEAST - (last - first + 1))
    low, high = max(0, first - spare // 2), last + spare - spare // 2
    wide = (TIMES_WIDTH - TIMES_LEFT - TIMES_RIGHT) / (high - low + 1)
    return Histogram(
        summary=_summarize(times, total),
        bars=[_make_bar(bucket, times, TIMES_LEFT + wide * (bucket - low), wide) for bucket in range(first, last + 1)],
        ticks=list(_make_ticks(low, high, wide)),
    )


def format_micros(micros: float) -> str:
    """A time with about two significant digits: 1.0 ms, 33 ms, 1.1 s."""
    size, unit = next(each for each in (*UNITS, UNITS[-1]) if micros >= each[0] or each is UNITS[-1])
    value = micros / size
    return f"{value:.1f} {unit}" if value < 10 and size > 1 else f"{value:,.0f} {unit}"


def _summarize(times: Sequence[int], total: int) -> str:
    half, most = _find_quantile(times, 0.5), _find_quantile(times, 0.99)
    end = max(bucket for bucket, count in enumerate(times) if count)
    return (
        f"{text.format_count(total, 'action')}: half took less than {format_micros(2**half)}, 99 % less than"
        f" {format_micros(2**most)}, all less than {format_micros(2**end)}"
    )


def _find_quantile(times: Sequence[int], share: float) -> int:
    """The first bucket up to which there is this share of the actions."""
    least, seen = share * sum(times), 0
    for bucket, count in enumerate(times):
        seen += count
        if seen >= least:
            return bucket
    return len(times)


def _make_bar(bucket: int, times: Sequence[int], x: float, wide: float) -> TimeBar:
    count, room = times[bucket], TIMES_HEIGHT - TIMES_TOP - TIMES_BOTTOM
    height = max(room * count / max(times), 1.0 if count else 0.0)
    least, most = (1 << bucket) >> 1, 1 << bucket
    return TimeBar(
        x=round(x + 0.5, 1),
        y=round(TIMES_TOP + room - height, 1),
        width=round(wide - 1, 1),
        height=round(height, 1),
        span=f"{format_micros(least)} to {format_micros(most)}",
        least=least,
        most=most,
        count=count,
        share=text.format_percent(count / sum(times)),
    )


def _make_ticks(low: int, high: int, wide: float) -> Iterator[Tick]:
    """Yield the powers of ten; bucket b begins at 2 ** (b - 1)."""
    for power in range(17):
        place = math.log2(10**power) + 1 - low
        if 0 <= place <= high - low + 1:
            yield Tick(round(TIMES_LEFT + wide * place, 1), format_micros(10**power).replace(".0 ", " "))
