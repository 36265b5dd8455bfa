"""CSV that a spreadsheet opens without taking any text for a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from tournaments.sanitizer import sanitize

Cell = str | int | float | None

FORMULA = re.compile(r"\s*[=+\-@\uff0b\uff0d\uff1d\uff20]")
"""What a spreadsheet may run: also the full-width signs, and also behind spaces that it cuts off."""
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def write_csv(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Return a head and rows as CSV; every text in it is defused."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in (head, *rows):
        writer.writerow([defuse(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()


def defuse(text: str) -> str:
    """Return the text of a cell as a spreadsheet shows it and never runs it.

    Control characters, and others that nobody sees, are spelled out, such as `\\x09` for a tab; what begins like a
    formula and is no number gets an apostrophe in front. All else stays as it is.
    """
    shown = sanitize(text)
    return f"'{shown}" if FORMULA.match(shown) and not NUMBER.fullmatch(shown) else shown
