"""Writes the files of a site, tables to download too: atomically, and only if their content changes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from malice.tournaments.terminal.tables import Cell, write_csv

GENERATOR = '<meta name="generator" content="malice">'
"""Part of the head of every page; a page without it is never deleted."""

SHARD = re.compile(rb"// malice [a-z]+(?:-\d+)* [0-9a-f]{64}(?: \d+)*\n")
"""The first line of a data file: its name, the digest of its input, and where its other parts begin."""
FIRST_LINE = 2000
"""More than the longest first line."""

DRAFT = re.compile(r"\..+\.(\d+)\.tmp")
"""The name of a draft, with the id of the process that writes it."""

DOWNLOADS = "data/downloads.txt"
"""Lists the files for download, line by line: CSV and JSON have no place for a mark of ours."""
_DOWNLOAD = re.compile(r"data/[^/\0]+\.(?:csv|json)")

_STALE = (
    ("bots", "*.html"),
    ("docs", "*.html"),
    ("rules", "*.html"),
    ("data", "games-*.js"),
    ("data", "list-*.js"),
    ("data", "meetings-*.js"),
    ("data", "opinions-*.js"),
    ("static", "share.png"),
)


class Folder:
    """The folder of a site; tracks its files, and counts those written."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.sizes: dict[str, int] = {}
        """Path relative to the root, with slashes -> size in bytes."""
        self.written = 0
        self._downloads: list[str] = []

    @property
    def downloads(self) -> tuple[str, ...]:
        """The files for download so far."""
        return tuple(sorted(self._downloads))

    @property
    def pages(self) -> int:
        """The number of HTML pages so far."""
        return sum(name.endswith(".html") for name in self.sizes)

    @property
    def size(self) -> int:
        """The size of all files so far, in bytes."""
        return sum(self.sizes.values())

    def write(self, name: str, content: bytes) -> None:
        """Write `content` to the file `name`; readers see either the old file or the new one, never a part.

        Raises:
            OSError: the file cannot be written; the old one is unchanged.
        """
        path = self.root / name
        self.sizes[name] = len(content)
        if _read(path) == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            draft.write_bytes(content)
            os.replace(draft, path)
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise OSError(error.errno, error.strerror, str(path)) from None
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        self.written += 1

    def write_download(self, name: str, content: bytes) -> None:
        """Write a file that later renderings know as ours without a mark in it.

        Raises:
            OSError: as `write`.
        """
        self.write(name, content)
        self._downloads.append(name)

    def read_first_line(self, name: str) -> bytes:
        """Read the first line of a data file without its end; empty if there is no such file."""
        try:
            with (self.root / name).open("rb") as file:
                return file.readline(FIRST_LINE).rstrip(b"\n")
        except FileNotFoundError:
            return b""

    def keep(self, name: str) -> None:
        """Keep the file `name` as it is."""
        self.sizes[name] = (self.root / name).stat().st_size

    def delete_stale(self) -> None:
        """Delete files of earlier renderings that the site no longer has, and drafts of killed ones."""
        self._replace_downloads()
        for folder, pattern in _STALE:
            for path in (self.root / folder).glob(pattern):
                if f"{folder}/{path.name}" not in self.sizes and _is_ours(path):
                    path.unlink()
        for path in self.root.rglob(".*.tmp"):
            draft = DRAFT.fullmatch(path.name)
            if draft and not Path(f"/proc/{draft[1]}").exists():
                path.unlink()

    def _replace_downloads(self) -> None:
        """Delete the downloads that the list of the last rendering has and this one lacks; write the new list."""
        listed = (_read(self.root / DOWNLOADS) or b"").decode("utf-8", "replace").splitlines()
        for name in listed:
            if _DOWNLOAD.fullmatch(name) and name not in self.sizes:
                (self.root / name).unlink(missing_ok=True)
        if listed or self._downloads:
            self.write(DOWNLOADS, "".join(f"{name}\n" for name in sorted(self._downloads)).encode())


def is_page(path: Path) -> bool:
    """Whether a file is a page that a rendering wrote."""
    try:
        return _is_ours(path)
    except OSError:
        return False


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(1000)
    return SHARD.match(start) is not None or GENERATOR.encode() in start


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
