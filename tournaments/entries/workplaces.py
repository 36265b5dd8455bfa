"""Folders for unfinished work beside what it will become; those of dead processes are swept.

The owner of a workplace holds a lock on it while it lives, and loses the lock however it ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from malice.referee.isolation.locked_folders import lock_folder, make_locked_folder
from malice.tournaments.entries.built_copies import remove_tree

PREFIX = ".work-"


@contextmanager
def open_workplace(parent: Path) -> Iterator[Path]:
    """Yield a new folder that only we may enter, and remove it with what is left in it; sweep leftovers first.

    Raises:
        OSError: the parent is not writable.
    """
    sweep(parent)
    folder, lock = make_locked_folder(PREFIX, parent)
    try:
        yield folder
    finally:
        remove_tree(folder)
        os.close(lock)


def sweep(parent: Path) -> None:
    """Remove the workplaces whose owner is gone, for example because it was killed."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            lock = lock_folder(folder)
            try:
                remove_tree(folder)
            finally:
                os.close(lock)
