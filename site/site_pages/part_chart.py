"""The chart of Elo by part, or by games where there is one part, and the same figures as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from malice.site_pages import text
from malice.site_pages.chart import (
    BOTTOM,
    HEIGHT,
    TOP,
    Bar,
    Chart,
    ChartColumn,
    CurvePoint,
    Drawn,
    Line,
    Scale,
    Tick,
    choose_ticks,
    list_drawn,
    make_elo_ticks,
    make_line,
    place_names,
)
from malice.site_pages.intervals import format_interval
from malice.site_pages.rankings import Name, make_name
from malice.tournaments.league.progression import PartRatings, PartStep
from malice.tournaments.league.standings import Standings
from malice.tournaments.ratings.fit import Rating
from malice.tournaments.sanitizer import sanitize

CAPTION = (
    "Elo as in the ranking above, after each part of the tournament: every point fits all games up to then at once."
    " The upright bars are 95 % intervals; one that is dashed and has no end goes on."
)
BY_GAMES = (
    "Elo as in the ranking above, after so many games of all bots, each time about twice as many: every point fits all"
    " games up to then at once. The upright bars are 95 % intervals; one that is dashed and has no end goes on."
)
APART = "Up to {}, some bots had not met yet, not even through others; compare only those that had."
REACH = 1.0
"""How far intervals may stretch the vertical axis on either side, as a share of the range of the points."""
SHORTEST_REACH = 50.0
"""The least stretch, in Elo."""
GAP = 8.0
"""Most distance between the points of two bots after the same part; the bars would cover each other."""
SPREAD = 0.7
"""The share of the room of a part that its points take."""


class StepName(Struct, frozen=True):
    """A part, several that were merged, or a number of games."""

    number: str
    name: str
    """The number with its word."""
    title: str
    games: str
    """Empty where the name says it."""


class EloRow(Struct, frozen=True):
    """An entry of the table."""

    bot: Name
    cells: list[tuple[str, str]]
    """For each step the Elo and its interval; empty before the entry came in."""


class PartChart(Struct, frozen=True):
    """Elo by part or by games, drawn and in words."""

    chart: Chart
    steps: list[StepName]
    rows: list[EloRow]


def make_part_chart(found: PartRatings | None, standings: Standings, colours: Mapping[str, int]) -> PartChart | None:
    """Lay out the Elo of every entry after each part, or after so many games.

    Args:
        found: what the standings were then; None if nobody knows.
        standings: what they are now.
        colours: the number of each entry.
    """
    if found is None:
        return None
    steps = found.steps
    drawn = [entry for entry in list_drawn(standings, colours) if _has_elo(entry.label, steps)]
    if not drawn:
        return None
    names, by_part = [_name_step(step) for step in steps], bool(steps[0].parts)
    after = f"after {text.format_count(len(steps), 'part')}" if by_part else f"over {names[-1].name}"
    scale, y_ticks = _make_scale(steps, drawn)
    offsets = _find_offsets(scale, drawn)
    lines = [_make_line(scale, names, steps, entry, beside) for entry, beside in zip(drawn, offsets, strict=True)]
    chart = Chart(
        name="Elo by part" if by_part else "Elo by games",
        summary=f"Elo of {text.format_count(len(lines), 'bot')} {after}, with 95 % intervals;"
        " a table of the figures follows",
        caption=CAPTION if by_part else BY_GAMES,
        axis="parts" if by_part else "games",
        warning=_warn(names, steps),
        x_ticks=_make_part_ticks(scale, names),
        y_ticks=make_elo_ticks(scale, y_ticks),
        lines=place_names(lines),
        columns=[_make_column(scale, at, name) for at, name in enumerate(names)],
        faint_lines=sum(entry.faint for entry in drawn),
    )
    return PartChart(chart, names, [_make_row(entry.label, steps) for entry in drawn])


def _has_elo(label: str, steps: Sequence[PartStep]) -> bool:
    ratings = [step.ratings.get(label) for step in steps]
    return any(rating is not None and rating.elo is not None for rating in ratings)


def _name_step(step: PartStep) -> StepName:
    games = text.format_count(step.games, "game")
    if not step.parts:
        return StepName(f"{step.games:,}", games, "", "")
    first, last = step.parts[0], step.parts[-1]
    titles = [sanitize(title, 60) for title in step.titles]
    number = str(first) if first == last else f"{first}–{last}"
    return StepName(
        number=number,
        name=f"{'Part' if first == last else 'Parts'} {number}",
        title=titles[0] if len(titles) == 1 else f"{titles[0]} … {titles[-1]}",
        games=games,
    )


def _make_scale(steps: Sequence[PartStep], drawn: Sequence[Drawn]) -> tuple[Scale, list[float]]:
    """Cover all points, and of their intervals what is not out of all proportion."""
    shown = {entry.label for entry in drawn}
    ratings = [rating for step in steps for label, rating in step.ratings.items() if label in shown]
    points = [rating.elo for rating in ratings if rating.elo is not None]
    reach = max(REACH * (max(points) - min(points)), SHORTEST_REACH)
    lows = [rating.low for rating in ratings if rating.low is not None]
    highs = [rating.high for rating in ratings if rating.high is not None]
    low = max(min([*points, *lows]), min(points) - reach)
    high = min(max([*points, *highs]), max(points) + reach)
    y_ticks = choose_ticks(low, high, 6)
    return Scale(-0.5, len(steps) - 0.5, y_ticks[0], y_ticks[-1]), y_ticks


def _make_part_ticks(scale: Scale, names: Sequence[StepName]) -> list[Tick]:
    """Name as many parts as there is room for."""
    room = scale.x(1) - scale.x(0)
    every = 1 + int((7 * max(len(name.number) for name in names) + 4) / room)
    return [Tick(scale.x(at), name.number) for at, name in enumerate(names) if at % every == 0]


def _make_column(scale: Scale, at: int, name: StepName) -> ChartColumn:
    left = scale.x(at - 0.5)
    title = f"{name.name}: {name.title}; {name.games} so far" if name.games else name.name
    return ChartColumn(left, round(scale.x(at + 0.5) - left, 1), title)


def _make_line(scale: Scale, names: Sequence[StepName], steps: Sequence[PartStep], entry: Drawn, beside: float) -> Line:
    label = text.format_label(entry.label)
    marks = []
    told = ""
    for at, (name, step) in enumerate(zip(names, steps, strict=True)):
        rating = step.ratings.get(entry.label)
        if rating is not None and rating.elo is not None:
            told = f"{text.format_signed(rating.elo)} ({format_interval(rating)}) after {_begin_small(name.name)}"
            x = round(scale.x(at) + beside, 1)
            marks.append(CurvePoint(x, scale.y(rating.elo), f"{label}: {told}", _make_bar(scale, rating)))
    return make_line(entry, [(mark.x, mark.y) for mark in marks], marks, told)


def _find_offsets(scale: Scale, drawn: Sequence[Drawn]) -> list[float]:
    """How far beside the middle of its part each entry has its points; faint ones have none."""
    named = sum(not entry.faint for entry in drawn)
    gap = min(GAP, SPREAD * (scale.x(1) - scale.x(0)) / max(named, 1))
    places = iter(range(named))
    return [0.0 if entry.faint else gap * (next(places) - (named - 1) / 2) for entry in drawn]


def _make_bar(scale: Scale, rating: Rating) -> Bar:
    top = -math.inf if rating.high is None else scale.y(rating.high)
    bottom = math.inf if rating.low is None else scale.y(rating.low)
    return Bar(
        top=max(top, TOP), bottom=min(bottom, HEIGHT - BOTTOM), open_top=top < TOP, open_bottom=bottom > HEIGHT - BOTTOM
    )


def _warn(names: Sequence[StepName], steps: Sequence[PartStep]) -> str:
    """Say until when the bots fell into groups."""
    apart = [_begin_small(name.name) for name, step in zip(names, steps, strict=True) if step.groups > 1]
    return APART.format(apart[-1]) if apart else ""


def _begin_small(name: str) -> str:
    return name[0].lower() + name[1:]


def _make_row(label: str, steps: Sequence[PartStep]) -> EloRow:
    ratings = [step.ratings.get(label) for step in steps]
    cells = [(text.format_signed(each.elo), format_interval(each)) if each else ("", "") for each in ratings]
    return EloRow(make_name(label), cells)
