"""Private copies of the folders of bots, for bots whose own user may not read the original.

A copy lies in the temporary folder, in a folder of its own that only its owner may enter. The owner holds a lock on
that folder while it lives, and loses it however it ends. So a later process can tell which copies are left over.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from malice.referee.isolation.folders import copy_content, is_hidden, list_inside, open_inside


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
    """Lock a folder for as long as the descriptor is open; programs that we start do not inherit it.

    Raises:
        OSError: another process holds the lock, or there is no such folder.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


PREFIX = "malice-copy-"
MOST_BYTES = 256 << 20
MOST_ENTRIES = 20_000
"""Limits of a copy: one is made at every start of the bot."""


def explain_missing_copy(size: int, entries: int) -> str | None:
    """Why something of this size cannot be copied here; None if it can.

    Args:
        size: bytes of all files.
        entries: how many files and folders.
    """
    if size > MOST_BYTES or entries > MOST_ENTRIES:
        return f"is too large to copy (more than {MOST_BYTES >> 20} MiB or {MOST_ENTRIES} files)"
    place = tempfile.gettempdir()
    if os.statvfs(place).f_flag & os.ST_NOEXEC:
        return f"cannot be copied: nothing in {place} may be executed (set TMPDIR)"
    return None


class Copies:
    """The copies for one bot process; nobody else can reach them by a path.

    Raises:
        OSError: the temporary folder is not writable.
    """

    def __init__(self) -> None:
        self._folder, self._lock = make_locked_folder(PREFIX)
        self._count = self._bytes = 0

    def add(self, source: Path, empty: Collection[Path] = ()) -> Path:
        """Copy a folder or a file so that everybody who sees the copy may read it; return its path.

        Dot-folders, Python's caches and those in `empty` become empty folders. What is neither a file, a folder nor a
        symbolic link is left out. No link is followed, also none that comes while we copy.

        Args:
            source: what to copy; a symbolic link in it stays one.
            empty: files and folders whose copies must be empty.

        Raises:
            OSError: it cannot be read, has grown too large, or there is no room.
        """
        self._count += 1
        target = self._folder / str(self._count)
        if source.is_dir():
            self._copy_folder(source, target, empty)
        else:
            self._copy_file(source.parent, source.name, target, empty)
        return target

    def remove(self) -> None:
        """Remove all of them; safe to call again."""
        if self._lock >= 0:
            shutil.rmtree(self._folder, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1

    def _copy_folder(self, source: Path, target: Path, empty: Collection[Path]) -> None:
        waiting = [""]
        while waiting:
            inside = waiting.pop()
            _make_folder(target / inside)
            with list_inside(source, inside) as entries:
                for entry in entries:
                    path = inside + entry.name
                    if entry.is_symlink():
                        (target / path).symlink_to(os.readlink(source / path))
                    elif entry.is_dir():
                        if is_hidden(entry.name) or source / path in empty:
                            _make_folder(target / path)
                        else:
                            waiting.append(f"{path}/")
                    elif entry.is_file():
                        self._copy_file(source, path, target / path, empty)

    def _copy_file(self, source: Path, path: str, target: Path, empty: Collection[Path]) -> None:
        if source / path in empty:
            # Not even opened: if it is a database of this process, its locks go with the first descriptor that is
            # closed.
            target.touch(0o444, exist_ok=False)
            target.chmod(0o444)
            return
        with open(open_inside(source, path), "rb") as original, target.open("xb") as copy:
            self._bytes += copy_content(original, copy, MOST_BYTES - self._bytes)
            executable = os.fstat(original.fileno()).st_mode & stat.S_IXUSR
            os.fchmod(copy.fileno(), 0o555 if executable else 0o444)


def sweep() -> None:
    """Remove the copies of our user whose owner is gone, for example because it was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            status = folder.lstat()
            if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid():
                lock = lock_folder(folder)
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _make_folder(path: Path) -> None:
    path.mkdir()
    path.chmod(0o755)
