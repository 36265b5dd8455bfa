"""The picture that stands beside a link to the front page: three cards, and the rating history of the five best.

Whoever shows a link shows its title and description as text below, so the picture has none, and needs no font. It is
drawn here, since no browser and no library is at hand when a site is written: shapes by their distance from each point,
which gives smooth edges, into a PNG.
"""

from __future__ import annotations

import math
import re
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from malice.site_pages.chart import list_drawn
from malice.site_pages.files import GENERATOR
from malice.site_pages.rankings import COLOURS
from malice.tournaments.league.standings import Standings
from malice.tournaments.ratings.running_elo import thin_points

SHARE_IMAGE = "static/share.png"
WIDTH, HEIGHT = 1200, 630
"""As those who show links ask for."""
LEFT, RIGHT, TOP, BOTTOM = 520, 1120, 110, 520
"""The place of the lines."""
CORNERS = 60
"""The most corners of a line."""

Colour = tuple[int, int, int]
Point = tuple[float, float]
Distance = Callable[[float, float], float]
"""How far a point lies outside of a shape, in pixels, or less; inside, how far from its edge, as less than 0."""

HIGH, LOW = (34, 97, 74), (14, 50, 39)
"""The felt, from top to bottom."""
CHALK, CARD, RED, BLACK = (234, 244, 236), (255, 253, 247), (192, 34, 34), (28, 35, 32)


class Canvas:
    """A picture of felt to draw on."""

    def __init__(self) -> None:
        self._rows = [bytearray(bytes(_mix(HIGH, LOW, y / HEIGHT)) * WIDTH) for y in range(HEIGHT)]

    def fill(self, shape: Distance, box: tuple[float, float, float, float], colour: Colour, share: float = 1.0) -> None:
        """Fill a shape that lies within a box: left, top, right, bottom."""
        left, top, right, bottom = box
        last = min(WIDTH, math.ceil(right) + 1)
        for y in range(max(0, math.floor(top)), min(HEIGHT, math.ceil(bottom) + 1)):
            row, x = self._rows[y], max(0, math.floor(left))
            while x < last:
                distance = shape(x, y)
                # The edge is not nearer than that: what lies before it is all inside, or all outside.
                run = max(1, min(int(abs(distance) - 0.5), last - x))
                cover = share * min(1.0, max(0.0, 0.5 - distance))
                if cover == 1:
                    row[3 * x : 3 * (x + run)] = bytes(colour) * run
                elif cover:
                    for at in range(x, x + run):
                        own = (row[3 * at], row[3 * at + 1], row[3 * at + 2])
                        row[3 * at : 3 * at + 3] = bytes(_mix(own, colour, cover))
                x += run

    def draw_line(self, start: Point, end: Point, width: float, colour: Colour, share: float = 1.0) -> None:
        (x, y), (to_x, to_y) = start, end
        run, rise = to_x - x, to_y - y
        square = run * run + rise * rise or 1.0

        def measure(at_x: float, at_y: float) -> float:
            along = min(1.0, max(0.0, ((at_x - x) * run + (at_y - y) * rise) / square))
            return math.hypot(at_x - x - along * run, at_y - y - along * rise) - width / 2

        box = (min(x, to_x) - width, min(y, to_y) - width, max(x, to_x) + width, max(y, to_y) + width)
        self.fill(measure, box, colour, share)

    def encode(self) -> bytes:
        """The picture as a PNG, with the mark of our pages."""
        header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
        chunks = (
            (b"IHDR", header),
            (b"tEXt", b"Comment\0" + GENERATOR.encode("latin-1")),
            (b"IDAT", zlib.compress(b"".join(b"\0" + row for row in self._rows), 9)),
            (b"IEND", b""),
        )
        return b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
            for name, data in chunks
        )


def draw_share_image(standings: Standings, colours: Mapping[str, int]) -> bytes:
    """Draw the picture of a ranking as a PNG.

    Args:
        standings: the ranking.
        colours: the number of each entry.
    """
    canvas = Canvas()
    for number, pip in enumerate((_diamond, _spade, _heart)):
        _draw_card(canvas, (170 + 95 * number, 330 - 14 * (number == 1)), math.radians(12 * (number - 1)), pip)
    for step in range(5):
        y = TOP + (BOTTOM - TOP) * step / 4
        canvas.draw_line((LEFT, y), (RIGHT, y), 1.5, CHALK, 0.22)
    drawn = [entry for entry in list_drawn(standings, colours) if not entry.faint]
    curves = [thin_points(standings.history[entry.label], CORNERS) for entry in drawn]
    elos = [elo for curve in curves for _, elo in curve]
    if elos:
        last, low, high = max(curve[-1][0] for curve in curves), min(elos), max(elos)
        # The worst first: the lines of the best lie above.
        for entry, curve in reversed(list(zip(drawn, curves, strict=True))):
            corners = [_place(games / last, (elo - low) / max(high - low, 1.0)) for games, elo in curve]
            _draw_curve(canvas, corners, _load_colours()[entry.number % COLOURS])
    return canvas.encode()


def _place(across: float, up: float) -> Point:
    return LEFT + (RIGHT - LEFT) * across, BOTTOM - (BOTTOM - TOP) * up


def _draw_curve(canvas: Canvas, corners: Sequence[Point], colour: Colour) -> None:
    for start, end in pairwise(corners):
        canvas.draw_line(start, end, 7, colour)
    canvas.draw_line(corners[-1], corners[-1], 26, CHALK)
    canvas.draw_line(corners[-1], corners[-1], 20, colour)


def _draw_card(canvas: Canvas, middle: Point, angle: float, pip: Distance) -> None:
    """Draw a card with one pip, turned by an angle."""
    (x, y), (sine, cosine) = middle, (math.sin(angle), math.cos(angle))
    box = (x - 170, y - 190, x + 170, y + 190)

    def turn(shape: Distance) -> Distance:
        def measure(at_x: float, at_y: float) -> float:
            across, down = at_x - x, at_y - y
            return shape(across * cosine + down * sine, down * cosine - across * sine)

        return measure

    ink = BLACK if pip is _spade else RED
    canvas.fill(turn(lambda across, down: _card(across, down) - 4), box, _mix(LOW, BLACK, 0.4))
    canvas.fill(turn(_card), box, CARD)
    canvas.fill(turn(lambda across, down: 0.45 * pip((across + 62) / 0.45, (down + 100) / 0.45)), box, ink)
    canvas.fill(turn(lambda across, down: pip(across - 6, down - 22)), box, ink)


def _card(x: float, y: float) -> float:
    across, down = abs(x) - 86, abs(y) - 127
    return math.hypot(max(across, 0), max(down, 0)) + min(max(across, down), 0) - 14


def _diamond(x: float, y: float) -> float:
    return (abs(x) / 44 + abs(y) / 60 - 1) * 35


def _heart(x: float, y: float) -> float:
    """Two circles, and the corner whose sides touch them."""
    lobe = math.hypot(abs(x) - 26, y + 22) - 33
    tip = max((abs(x) + y - 50.7) / math.sqrt(2), (0.473 * abs(x) - 22 - y) / 1.106)
    return min(lobe, tip)


def _spade(x: float, y: float) -> float:
    """A heart upside down, on a foot."""
    foot = max(abs(x) - 3 - max(0.0, y - 16) * 0.4, y - 66, 2 - y)
    return min(_heart(x, -2 - y), foot)


@cache
def _load_colours() -> list[Colour]:
    """The colours of bots on a dark ground, as all pages have them."""
    sheet = (Path(__file__).parent / "static" / "colours.css").read_text("utf-8")
    found = re.findall(r"\.bot\d+ \{ --bot: light-dark\(#\w+, #(\w\w)(\w\w)(\w\w)\)", sheet)
    return [(int(red, 16), int(green, 16), int(blue, 16)) for red, green, blue in found]


def _mix(one: Colour, other: Colour, share: float) -> Colour:
    red, green, blue = (round(own + (to - own) * share) for own, to in zip(one, other, strict=True))
    return red, green, blue
