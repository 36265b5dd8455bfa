"""The geometry of the rating history; templates/chart.html draws it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from site_pages import text
from tournaments.league.standings import Standings

WIDTH, HEIGHT = 880, 380
LEFT, RIGHT, TOP, BOTTOM = 56, 204, 18, 44
LINES = 10
"""Lines with a style of their own; the others stay thin and grey, since more styles look alike."""


class Tick(Struct, frozen=True):
    """A mark on an axis."""

    at: float
    text: str


class Line(Struct, frozen=True):
    """The curve of one entry, its marks, and the place of its name."""

    label: str
    rank: str
    """The rank with a full stop; empty without a rank."""
    style: int | None
    """The number of its colour, dashes and marks; None for grey."""
    points: str
    marks: list[tuple[float, float]]
    end: tuple[float, float]
    name_y: float
    title: str


class Chart(Struct, frozen=True):
    """Everything that the template draws."""

    width: int
    height: int
    left: float
    right: float
    top: float
    bottom: float
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    lines: list[Line]
    grey_lines: int
    summary: str


def make_chart(standings: Standings) -> Chart | None:
    """Lay out the running Elo of every entry; return None if no game has been played."""
    curves = [
        (
            "" if row.rank is None or standings.warning else f"{row.rank}.",
            row.label,
            standings.history.get(row.label, ()),
        )
        for row in standings.rows
    ]
    drawn = [curve for curve in curves if len(curve[2]) > 1]
    if not drawn:
        return None
    values = [elo for _, _, points in drawn for _, elo in points]
    last = max(points[-1][0] for _, _, points in drawn)
    y_ticks = choose_ticks(min(values), max(values), 6)
    scale = _Scale(last, y_ticks[0], y_ticks[-1])
    lines = [_make_line(scale, place, *curve) for place, curve in enumerate(drawn)]
    coloured = lines[:LINES]
    heights = spread([line.end[1] for line in coloured], 17, TOP + 6, HEIGHT - BOTTOM)
    coloured = [
        Line(line.label, line.rank, line.style, line.points, line.marks, line.end, y, line.title)
        for line, y in zip(coloured, heights, strict=True)
    ]
    return Chart(
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=WIDTH - RIGHT,
        top=TOP,
        bottom=HEIGHT - BOTTOM,
        x_ticks=[Tick(scale.x(at), f"{at:,.0f}") for at in choose_ticks(0, last, 6) if at <= last],
        y_ticks=[Tick(scale.y(at), text.format_decimal(at)) for at in y_ticks],
        lines=[*lines[LINES:], *coloured],
        grey_lines=len(lines) - len(coloured),
        summary=f"Running Elo of {text.format_count(len(lines), 'bot')} over {text.format_count(last, 'game')}",
    )


class _Scale:
    """Converts games and Elo to coordinates."""

    def __init__(self, last: int, low: float, high: float) -> None:
        self._last, self._low, self._high = last, low, high

    def x(self, game: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * game / self._last, 1)

    def y(self, elo: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (self._high - elo) / (self._high - self._low), 1)


def _make_line(scale: _Scale, place: int, rank: str, label: str, points: Sequence[tuple[int, float]]) -> Line:
    places = [(scale.x(game), scale.y(elo)) for game, elo in points]
    games, final = points[-1]
    name = text.format_label(label)
    return Line(
        label=name,
        rank=rank,
        style=place if place < LINES else None,
        points=" ".join(f"{x:g},{y:g}" for x, y in places),
        marks=_choose_marks(places, place) if place < LINES else [],
        end=places[-1],
        name_y=places[-1][1],
        title=f"{name}: {text.format_decimal(final)} after {text.format_count(games, 'game')}",
    )


def _choose_marks(places: Sequence[tuple[float, float]], place: int) -> list[tuple[float, float]]:
    """Choose a few points to mark, shifted from line to line so that marks do not cover each other."""
    every = 90.0
    next_x = LEFT + 30 + 9.0 * place
    marks = []
    for x, y in places:
        if x >= next_x:
            marks.append((x, y))
            next_x += every * (1 + math.floor((x - next_x) / every))
    return marks


def choose_ticks(low: float, high: float, about: int) -> list[float]:
    """Return about `about` round figures, at least two, that cover `low` to `high`."""
    step = _round_up(max(high - low, 1e-9) / about)
    first = math.floor(low / step)
    last = max(first + 1, math.ceil(high / step))
    return [round(step * number, 9) for number in range(first, last + 1)]


def _round_up(step: float) -> float:
    """Return a step as the next round figure: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= step * 0.999)


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move places apart until neighbours are `gap` apart; keep their order, and stay within `low` to `high`."""
    order = sorted(range(len(wanted)), key=lambda index: (wanted[index], index))
    placed = [0.0] * len(wanted)
    floor = low
    for index in order:
        placed[index] = max(wanted[index], floor)
        floor = placed[index] + gap
    ceiling = high
    for index in reversed(order):
        placed[index] = round(min(placed[index], ceiling), 1)
        ceiling = placed[index] - gap
    return placed
