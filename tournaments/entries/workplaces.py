"""Folders for unfinished work beside what it will become; those of dead processes are swept.

The owner of a workplace holds a lock on it while it lives, and loses the lock however it ends.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tournaments.entries.built_copies import remove_tree

PREFIX = ".work-"


@contextmanager
def open_workplace(parent: Path) -> Iterator[Path]:
    """Yield a new folder that only we may enter, and remove it with what is left in it; sweep leftovers first.

    Raises:
        OSError: the parent is not writable.
    """
    sweep(parent)
    folder, lock = _make_locked_folder(parent)
    try:
        yield folder
    finally:
        remove_tree(folder)
        os.close(lock)


def sweep(parent: Path) -> None:
    """Remove the workplaces whose owner is gone, for example because it was killed."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            lock = _lock(folder)
            try:
                remove_tree(folder)
            finally:
                os.close(lock)


def _make_locked_folder(parent: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        with suppress(BlockingIOError, FileNotFoundError):  # another process swept it before we locked it
            lock = _lock(folder)
            if folder.exists():
                return folder, lock
            os.close(lock)


def _lock(folder: Path) -> int:
    """Return a descriptor that holds the lock on a folder.

    Raises:
        OSError: another process holds it, or there is no such folder.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
