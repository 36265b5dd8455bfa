"""How long the actions of a bot took, drawn over powers of two of microseconds; templates/bot_times.html draws it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct

from malice.site_pages import text
from malice.site_pages.chart import Tick

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
    """Return a time with about two significant digits: 1.0 ms, 33 ms, 1.1 s."""
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
    """Return the first bucket up to which there is this share of the actions."""
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
