"""Which parts of its folder belong to a bot: all but dot-folders and Python's caches."""

from __future__ import annotations

import errno
import math
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

MANIFEST = "bot.toml"
"""The file that makes a folder a bot's."""
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PIECE_BYTES = 1024**2


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


def open_inside(folder: str | Path, path: str, flags: int = os.O_RDONLY) -> int:
    """Open a file or a folder by its path in a folder; follow no link, and do not wait for a fifo.

    Somebody may put a link in the place of a folder after we have seen that.

    Raises:
        OSError: it does not exist, or there is a link on the way.
    """
    flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    *above, name = path.strip("/").split("/")
    at = os.open(folder, _STEP)
    try:
        for part in above:
            before, at = at, os.open(part, _STEP, dir_fd=at)
            os.close(before)
        return os.open(name or os.curdir, flags, dir_fd=at)
    finally:
        os.close(at)


@contextmanager
def list_inside(folder: str | Path, path: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    """Yield the entries of a folder that `open_inside` opens; they can be examined as long as this context lasts."""
    descriptor = open_inside(folder, path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with os.scandir(descriptor) as entries:
            yield entries
    finally:
        os.close(descriptor)


def copy_content(original: BinaryIO, copy: BinaryIO, most: int) -> int:
    """Copy a file as long as it is now, if it is a regular one; return its bytes.

    Raises:
        OSError: it has more than `most` bytes, cannot be read, or there is no room.
    """
    status = os.fstat(original.fileno())
    if not stat.S_ISREG(status.st_mode):
        return 0
    if status.st_size > most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    left = status.st_size
    while piece := original.read(min(left, _PIECE_BYTES)):
        copy.write(piece)
        left -= len(piece)
    return status.st_size
