"""The history of ratings as lines: the geometry only, drawn by templates/chart.html."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from site_pages import text
from tournaments.league.standings import Standings

WIDTH, HEIGHT = 880, 380
LEFT, RIGHT, TOP, BOTTOM = 56, 204, 18, 44
LINES = 10
"""More lines than that cannot be told apart; the others stay thin and grey."""


class Tick(Struct, frozen=True):
    """A mark on an axis."""

    at: float
    text: str


class Line(Struct, frozen=True):
    """One entry's curve, its marks, and where its name stands."""

    label: str
    rank: str
    """With its full stop, where one is told."""
    style: int | None
    """Which colour, dashes and marks; None is one of the many in grey."""
    points: str
    marks: list[tuple[float, float]]
    end: tuple[float, float]
    name_y: float
    title: str


class Chart(Struct, frozen=True):
    """All that is drawn."""

    width: int
    height: int
    left: float
    right: float
    top: float
    bottom: float
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    lines: list[Line]
    left_out: int
    summary: str


def make_chart(standings: Standings) -> Chart | None:
    """Lay out the running Elo of every entry; None if nobody has played."""
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
    y_ticks = ticks(min(values), max(values), 6)
    scale = _Scale(last, y_ticks[0], y_ticks[-1])
    lines = [_line(scale, place, *curve) for place, curve in enumerate(drawn)]
    named = lines[:LINES]
    heights = spread([line.end[1] for line in named], 17, TOP + 6, HEIGHT - BOTTOM)
    named = [
        Line(line.label, line.rank, line.style, line.points, line.marks, line.end, y, line.title)
        for line, y in zip(named, heights, strict=True)
    ]
    return Chart(
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=WIDTH - RIGHT,
        top=TOP,
        bottom=HEIGHT - BOTTOM,
        x_ticks=[Tick(scale.x(at), f"{at:,.0f}") for at in ticks(0, last, 6) if at <= last],
        y_ticks=[Tick(scale.y(at), text.format_decimal(at)) for at in y_ticks],
        lines=[*lines[LINES:], *named],
        left_out=len(lines) - len(named),
        summary=f"Running Elo of {text.format_count(len(lines), 'bot')} over {text.format_count(last, 'game')}",
    )


class _Scale:
    """From games and Elo to places in the drawing."""

    def __init__(self, last: int, low: float, high: float) -> None:
        self._last, self._low, self._high = last, low, high

    def x(self, game: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * game / self._last, 1)

    def y(self, elo: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (self._high - elo) / (self._high - self._low), 1)


def _line(scale: _Scale, place: int, rank: str, label: str, points: Sequence[tuple[int, float]]) -> Line:
    at = [(scale.x(game), scale.y(elo)) for game, elo in points]
    final = points[-1][1]
    return Line(
        label=text.format_label(label),
        rank=rank,
        style=place if place < LINES else None,
        points=" ".join(f"{x:g},{y:g}" for x, y in at),
        marks=_marks(at, place) if place < LINES else [],
        end=at[-1],
        name_y=at[-1][1],
        title=f"{text.format_label(label)}: {text.format_decimal(final)} after {text.format_count(points[-1][0], 'game')}",
    )


def _marks(at: Sequence[tuple[float, float]], place: int) -> list[tuple[float, float]]:
    """Choose a few points for marks, shifted from line to line so that they do not cover each other."""
    every = 90.0
    wanted = LEFT + 30 + 9.0 * place
    found = []
    for x, y in at:
        if x >= wanted:
            found.append((x, y))
            wanted += every * (1 + math.floor((x - wanted) / every))
    return found


def ticks(low: float, high: float, about: int) -> list[float]:
    """Return round figures from at or below `low` to at or above `high`, at least two."""
    raw = max(high - low, 1e-9) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * 0.999)
    first, last = math.floor(low / step), math.ceil(high / step)
    if first == last:
        last += 1
    return [round(step * number, 9) for number in range(first, last + 1)]


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move places apart until they are `gap` from each other, in the order they have, within low..high."""
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
