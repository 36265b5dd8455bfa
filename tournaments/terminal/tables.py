"""Tables of anything: columns of text, and CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

from malice.tournaments.sanitizer import sanitize

Cell = str | int | float | None

FORMULA = re.compile(r"\s*[=+\-@\uff0b\uff0d\uff1d\uff20]")
"""The beginning of a text that a spreadsheet may run: a sign, full-width ones too, perhaps after spaces."""
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def format_number(value: float | None, digits: int) -> str:
    """A figure, or n/a for None."""
    return "n/a" if value is None else f"{value:z.{digits}f}"  # z: no -0


def format_table(head: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (1,)) -> Iterator[str]:
    """Yield lines with aligned columns: those in `left` to the left, the others to the right."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    for row in (head, *rows):
        yield "  ".join(_align(row, widths, left)).rstrip()


def _align(row: Sequence[str], widths: Sequence[int], left: Sequence[int]) -> Iterator[str]:
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        yield cell.ljust(width) if column in left else cell.rjust(width)


def write_csv(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Write a head and rows as CSV, with every text defused."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(map(_defuse_row, (head, *rows)))
    return out.getvalue()


def _defuse_row(row: Sequence[Cell]) -> list[Cell]:
    return [defuse(cell) if isinstance(cell, str) else cell for cell in row]


def defuse(text: str) -> str:
    """Write the text of a cell so that a spreadsheet shows it and never runs it.

    Control characters and invisible ones are spelled out, such as `\\x09` for a tab. A text that begins like a
    formula and is not a number gets an apostrophe in front. Everything else stays as it is.
    """
    shown = sanitize(text)
    return f"'{shown}" if FORMULA.match(shown) and not NUMBER.fullmatch(shown) else shown


def format_bytes(count: float) -> str:
    """A number of bytes as people write it: 900 B, 2.4 kB, 58 MB."""
    units = ["B", "kB", "MB", "GB"]
    while count >= 999.5 and len(units) > 1:
        count /= 1000
        del units[0]
    return f"{count:.1f} {units[0]}" if count < 9.95 and units[0] != "B" else f"{count:.0f} {units[0]}"
