"""Writing the site: each file at once, and only when it differs."""

from __future__ import annotations

import os
import re
from pathlib import Path

GENERATOR = '<meta name="generator" content="malice">'
"""Stands in the head of every page; a page without it is never taken away."""

SHARD = re.compile(rb"// malice [a-z]+(?:-\d+)? [0-9a-f]{64}\n")
"""The first line of a data file: its name, and the digest of what it was made from."""

DRAFT = re.compile(r"\..+\.(\d+)\.tmp")
"""The name of a file that is being written, and the process that writes it."""

_PLACES = (("bots", "*.html"), ("docs", "*.html"), ("games", "*.html"), ("rules", "*.html"), ("data", "games-*.js"))


class Folder:
    """The folder of a site; counts what is in it and what was written."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.sizes: dict[str, int] = {}
        """Path relative to the root, with slashes -> bytes."""
        self.written = 0

    @property
    def pages(self) -> int:
        """How many HTML pages the site has so far."""
        return sum(name.endswith(".html") for name in self.sizes)

    @property
    def size(self) -> int:
        """How many bytes the site has so far."""
        return sum(self.sizes.values())

    def put(self, name: str, content: bytes) -> None:
        """Make `content` the file `name`; readers see the old file or the new one, never a part.

        Raises:
            OSError: it cannot be written; the old file is as it was.
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

    def holds(self, name: str, header: bytes) -> bool:
        """Tell whether the file `name` begins with the line `header`; if so, it counts as put."""
        path = self.root / name
        try:
            with path.open("rb") as file:
                same = file.readline(200) == header
        except FileNotFoundError:
            return False
        if same:
            self.sizes[name] = path.stat().st_size
        return same

    def drop_stale(self) -> None:
        """Delete what the site no longer has of an earlier rendering, and the drafts of one that was killed."""
        for folder, pattern in _PLACES:
            for path in (self.root / folder).glob(pattern):
                if f"{folder}/{path.name}" not in self.sizes and _is_ours(path):
                    path.unlink()
        for path in self.root.rglob(".*.tmp"):
            draft = DRAFT.fullmatch(path.name)
            if draft and not Path(f"/proc/{draft[1]}").exists():
                path.unlink()


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(1000)
    return SHARD.match(start) is not None or GENERATOR.encode() in start
