"""Which parts of its folder belong to a bot: all but dot-folders and Python's caches."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

MANIFEST = "bot.toml"
"""The file that makes a folder a bot's."""


class FolderWalk(Struct, frozen=True):
    """The result of a walk through a bot's folder."""

    hidden: tuple[Path, ...]
    """The folders that a bot does not see; the walk does not enter them."""
    unreadable: Path | None
    """The first file or folder that not every user may read, or None."""
    size: int
    """Bytes of all files that a bot sees."""
    entries: int
    """How many files and folders a bot sees."""
    special: Path | None
    """The first entry that is neither a file, a folder nor a symbolic link, or None."""


def is_hidden(name: str) -> bool:
    """Tell whether a folder of this name is not part of a bot."""
    return name.startswith(".") or name == "__pycache__"


def is_bots_own(folder: Path) -> bool:
    """Tell whether a folder belongs to one bot; if not, it is just the folder in which a command line runs."""
    return (folder / MANIFEST).is_file()


def walk_folder(folder: Path, most: float = math.inf, closed: Collection[Path] = ()) -> FolderWalk:
    """Walk through a folder until more than `most` entries are counted; do not follow symbolic links.

    Args:
        folder: the folder.
        most: how many entries to count.
        closed: folders that a bot may not see either.
    """
    hidden: list[Path] = []
    special: Path | None = None
    unreadable = None if everybody_may_read(folder.stat()) else folder
    size = entries = 0
    queue = [folder]
    while queue and entries <= most:
        inside = queue.pop()
        try:
            inner = list(os.scandir(inside))
        except PermissionError:  # we may not list it either
            unreadable = unreadable or inside
            continue
        for entry in inner:
            with suppress(FileNotFoundError):  # a build that runs at the same time removes its files again
                status = entry.stat(follow_symlinks=False)
                entries += 1
                if stat.S_ISDIR(status.st_mode) and (is_hidden(entry.name) or Path(entry.path) in closed):
                    hidden.append(Path(entry.path))
                    continue
                if stat.S_ISDIR(status.st_mode):
                    queue.append(Path(entry.path))
                elif stat.S_ISREG(status.st_mode):
                    size += status.st_size
                elif not stat.S_ISLNK(status.st_mode):
                    special = special or Path(entry.path)
                if unreadable is None and not everybody_may_read(status):
                    unreadable = Path(entry.path)
    return FolderWalk(tuple(sorted(hidden)), unreadable, size, entries, special)


def everybody_may_read(status: os.stat_result) -> bool:
    """Tell whether every user may read a file, or list and enter a folder; anything else counts as readable."""
    needed = stat.S_IROTH
    if stat.S_ISDIR(status.st_mode):
        needed |= stat.S_IXOTH
    elif not stat.S_ISREG(status.st_mode):
        return True
    elif status.st_mode & stat.S_IXUSR:
        needed |= stat.S_IXOTH
    return status.st_mode & needed == needed
