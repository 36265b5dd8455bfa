"""What a bot is shown of its own folder: all but dot-folders and Python's caches."""

from __future__ import annotations

import math
import os
import stat
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

MANIFEST = "bot.toml"


class Survey(Struct, frozen=True):
    """What a walk through a bot's folder has found."""

    hidden: tuple[Path, ...]
    """The folders that are not shown; what is in them was not looked at."""
    unreadable: Path | None
    """The first file or folder that only some users may read, or None."""
    size: int
    """Bytes of all files that are shown."""
    entries: int
    """How many files and folders are shown."""
    special: Path | None
    """The first that is neither a file, a folder nor a symbolic link, or None."""


def is_hidden(name: str) -> bool:
    """Tell whether a folder of this name is no part of a bot."""
    return name.startswith(".") or name == "__pycache__"


def is_bots_own(folder: Path) -> bool:
    """Tell whether a folder belongs to one bot, rather than being where a command line is run."""
    return (folder / MANIFEST).is_file()


def survey(folder: Path, most: float = math.inf) -> Survey:
    """Walk through a folder, until more than `most` entries are found; symbolic links are not followed."""
    hidden: list[Path] = []
    special: Path | None = None
    unreadable = None if everybody_may_read(folder.stat()) else folder
    size = entries = 0
    unseen = [folder]
    while unseen and entries <= most:
        inside = unseen.pop()
        try:
            found = list(os.scandir(inside))
        except PermissionError:  # not even we may list it
            unreadable = unreadable or inside
            continue
        for entry in found:
            with suppress(FileNotFoundError):  # a build that runs beside us takes its files away again
                told = entry.stat(follow_symlinks=False)
                entries += 1
                if stat.S_ISDIR(told.st_mode) and is_hidden(entry.name):
                    hidden.append(Path(entry.path))
                    continue
                if stat.S_ISDIR(told.st_mode):
                    unseen.append(Path(entry.path))
                elif stat.S_ISREG(told.st_mode):
                    size += told.st_size
                elif not stat.S_ISLNK(told.st_mode):
                    special = special or Path(entry.path)
                if unreadable is None and not everybody_may_read(told):
                    unreadable = Path(entry.path)
    return Survey(tuple(sorted(hidden)), unreadable, size, entries, special)


def everybody_may_read(status: os.stat_result) -> bool:
    """Tell whether every user may read a file, or list and enter a folder; what is neither counts as readable."""
    wanted = stat.S_IROTH
    if stat.S_ISDIR(status.st_mode):
        wanted |= stat.S_IXOTH
    elif not stat.S_ISREG(status.st_mode):
        return True
    elif status.st_mode & stat.S_IXUSR:
        wanted |= stat.S_IXOTH
    return status.st_mode & wanted == wanted
