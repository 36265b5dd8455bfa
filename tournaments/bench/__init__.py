"""What malice costs: every figure is a ratio, or measured next to its reference in the same run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct


class BenchRow(Struct, frozen=True):
    """One figure, a line of the table."""

    what: str
    value: float
    unit: str
    than: str
    """The reference of the ratio."""
    ratio: float | None


def run_benchmarks(benchmarks: Sequence[Callable[[], Iterator[BenchRow]]]) -> Iterator[BenchRow]:
    """Run benchmarks one after the other and yield their rows as they come."""
    for benchmark in benchmarks:
        yield from benchmark()


def format_row(row: BenchRow) -> tuple[str, ...]:
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    return (f"{row.value:,.1f}", row.what, row.unit, ratio, row.than)


LEFT = (1, 2, 4)
HEAD = ("figure", "what", "unit", "ratio", "over")
