"""Tables to download: each as CSV for a spreadsheet, and as JSON for a script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from malice.site_pages.files import Folder
from malice.tournaments.terminal.tables import Cell, write_csv


def write_table(folder: Folder, name: str, head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    """Write `data/NAME.csv`, defused for spreadsheets, and `data/NAME.json`, a list with an object for each row.

    Args:
        folder: that of the site.
        name: part of a file name, the same in every rendering; `text.make_slug` makes one of a label.
        head: the names of the columns; no two are equal.
        rows: what the objects hold; texts as they are, unknown figures as None.

    Raises:
        ValueError: two columns have one name, or a row has more or fewer cells than there are columns.
        OSError: a file cannot be written.
    """
    if len(set(head)) < len(head):
        raise ValueError(f"expected columns with different names in {name}, got: {', '.join(head)}")
    kept = [tuple(row) for row in rows]
    objects = [msgspec.json.encode(dict(zip(head, row, strict=True))) for row in kept]
    folder.write_download(f"data/{name}.csv", write_csv(head, kept).encode("utf-8", "replace"))
    folder.write_download(f"data/{name}.json", b"[\n" + b",\n".join(objects) + b"\n]\n")
