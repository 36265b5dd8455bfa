"""What malice costs: every figure a ratio, or taken beside what it is compared with, in one run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct


class Row(Struct, frozen=True):
    """One line of the table."""

    what: str
    value: float
    unit: str
    than: str
    """What the ratio compares with."""
    ratio: float | None


def run_benchmarks(parts: Sequence[Callable[[], Iterator[Row]]]) -> Iterator[Row]:
    """Run the parts one after the other and return their rows as they come."""
    for part in parts:
        yield from part()


def format_row(row: Row) -> tuple[str, ...]:
    """Return a row as text."""
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    return (f"{row.value:,.1f}", row.what, row.unit, ratio, row.than)


LEFT = (1, 2, 4)
HEAD = ("figure", "what", "unit", "ratio", "over")
