"""Private folders for bots: copies of what their own user may not read, and a place to write where no sandbox has one.

Each lies in the temporary folder, in a folder of its own that others may not list. The owner holds a lock on that
folder while it lives, and loses it however it ends. So a later process can tell which of them are left over.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import secrets
import stat
import tempfile
import time
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


REMOVE_WAIT_S = 0.5
"""How long killed processes may go on to write into a folder that is removed."""


def remove_folder(folder: Path) -> bool:
    """Remove a folder with all that is in it, however deep a bot has nested that; tell whether it is gone.

    No link is followed. A folder inside is moved to the top before it is emptied, so that no path grows too long.
    """
    try:
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return not os.path.lexists(folder)
    prefix, numbers, waiting = secrets.token_hex(8), itertools.count(), [os.curdir]
    try:
        while waiting:
            name = waiting.pop()
            at = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=top)
            try:
                with os.scandir(at) as entries:
                    for entry in entries:
                        if not entry.is_dir(follow_symlinks=False):
                            os.unlink(entry.name, dir_fd=at)
                        elif not (name == os.curdir and entry.name.startswith(prefix)):
                            os.chmod(entry.name, 0o700, dir_fd=at)
                            waiting.append(f"{prefix}{next(numbers)}")
                            os.rename(entry.name, waiting[-1], src_dir_fd=at, dst_dir_fd=top)
                if name != os.curdir:
                    os.rmdir(name, dir_fd=top)
            finally:
                os.close(at)
        os.rmdir(folder)
    except OSError:
        return False
    finally:
        os.close(top)
    return True


def _remove_locked(folder: Path, lock: int) -> None:
    deadline = time.monotonic() + REMOVE_WAIT_S
    while not remove_folder(folder) and time.monotonic() < deadline:
        time.sleep(0.001)
    os.close(lock)


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
            _remove_locked(self._folder, self._lock)
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


class Scratch:
    """A folder that one bot process may write in; it is removed with all that the bot has left there.

    Args:
        uid: the bot's own user, to whom the folder belongs; None if the bot has ours.

    Raises:
        OSError: the temporary folder is not writable.
    """

    def __init__(self, uid: int | None) -> None:
        self._folder, self._lock = make_locked_folder(PREFIX)
        self.path = self._folder / "tmp"
        self.path.mkdir(mode=0o700)
        if uid is not None:
            self._folder.chmod(0o711)
            os.chown(self.path, uid, uid)

    def remove(self) -> None:
        """Remove it; safe to call again."""
        if self._lock >= 0:
            _remove_locked(self._folder, self._lock)
            self._lock = -1


def sweep() -> None:
    """Remove the folders of our user whose owner is gone, for example because it was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            status = folder.lstat()
            if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid():
                _remove_locked(folder, lock_folder(folder))


def _make_folder(path: Path) -> None:
    path.mkdir()
    path.chmod(0o755)
