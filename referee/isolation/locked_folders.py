"""Folders that their owner holds a lock on while it lives, and loses however it ends, so that leftovers show."""

from __future__ import annotations

import fcntl
import os
import tempfile
from contextlib import suppress
from pathlib import Path


def make_locked_folder(prefix: str, parent: Path | None = None) -> tuple[Path, int]:
    """Make a folder that only we may enter; return it, and the descriptor that holds its lock.

    Args:
        prefix: how its name begins.
        parent: where to make it; by default in the temporary folder.

    Raises:
        OSError: the parent is not writable.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        with suppress(BlockingIOError, FileNotFoundError):  # another process swept it before we locked it
            lock = lock_folder(folder)
            if folder.exists():
                return folder, lock
            os.close(lock)


def lock_folder(folder: Path) -> int:
    """Return a descriptor that holds the lock on a folder; programs that we start do not inherit it.

    Raises:
        OSError: another process holds it, or there is no such folder.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
