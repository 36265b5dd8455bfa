"""Copies of the folders of bots as built, made beside where they will lie, readable for everybody and safe on the
disk.

The owner of a workplace holds a lock on it while it lives, and loses the lock however it ends.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from malice.referee.errors import BotError
from malice.referee.isolation.copies import lock_folder, make_locked_folder
from malice.referee.isolation.folders import copy_content, is_hidden, list_inside, open_inside
from malice.tournaments.entries.bot_files import MOST_BYTES, MOST_FILES


def copy_as_built(source: Path, target: Path, apart: Collection[Path]) -> None:
    """Copy a folder, with the output of its build, to a new one that everybody may read.

    Dot-folders, `__pycache__`, and what is neither a file, a folder nor a symlink are left out. A symlink stays one: if
    it leads into the folder it leads into the copy, else it leads where it did. None is followed, also none that comes
    while we copy. Times of files stay, for `make`.

    Args:
        source: what to copy.
        target: the copy, which does not exist.
        apart: files and folders that are not copied.

    Raises:
        BotError: something cannot be read, vanished meanwhile, or everything is too large.
        OSError: something cannot be written.
    """
    home = os.path.realpath(source)
    waiting, total, count = [""], 0, 0
    while waiting:
        inside = waiting.pop()
        os.mkdir(target / inside, 0o700)
        with _list(source, inside) as entries:
            for entry in entries:
                path = inside + entry.name
                count += 1
                if count > MOST_FILES:
                    raise BotError(
                        where=source,
                        expected=f"at most {MOST_FILES:,} files with the output of the build",
                        got="more",
                        hint="what is needed only to build may lie in a dot-folder",
                    )
                if Path(home, path) in apart:
                    continue
                if entry.is_symlink():
                    os.symlink(_aim_link(home, path), target / path)
                elif entry.is_dir(follow_symlinks=False):
                    if not is_hidden(entry.name):
                        waiting.append(f"{path}/")
                elif entry.is_file(follow_symlinks=False):
                    # Before it is copied: a sparse file can be larger than the disk.
                    total += entry.stat(follow_symlinks=False).st_size
                    if total > MOST_BYTES:
                        raise BotError(
                            where=source,
                            expected=f"at most {MOST_BYTES:,} bytes with the output of the build",
                            got="more",
                            hint="what is needed only to build may lie in a dot-folder",
                        )
                    _copy_file(source, path, target / path)


def settle(folder: Path) -> None:
    """Let everybody read a folder with all that it holds, and write it to the disk.

    Raises:
        OSError: the disk is full or fails.
    """
    for inside, _, names in os.walk(folder, topdown=False):
        for name in names:
            path = os.path.join(inside, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                _settle(path, os.O_RDONLY | os.O_NOFOLLOW)
        _settle(inside, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def sync(path: Path) -> None:
    """Write a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_tree(folder: Path) -> None:
    """Remove a folder of ours; a build may have left folders in it that even their owner may not write to."""
    if os.geteuid() != 0:
        for inside, _, _ in os.walk(folder):
            os.chmod(inside, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def measure_tree(folder: Path) -> int:
    """The total bytes of all files below a folder."""
    total = 0
    for inside, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(inside, name)).st_size
            except FileNotFoundError:
                continue
    return total


def _aim_link(home: str, path: str) -> str:
    """What a symlink must say to lead from a copy to where it leads now."""
    link = os.path.join(home, path)
    where = os.path.dirname(link)
    target = os.path.realpath(link)
    if not _is_inside(home, target):
        # One step only: the next may be another link in the folder, or a link that leads to a virtual environment.
        target = os.path.normpath(os.path.join(where, os.readlink(link)))
    return os.path.relpath(target, where) if _is_inside(home, target) else target


def _is_inside(home: str, path: str) -> bool:
    return path == home or path.startswith(os.path.join(home, ""))


@contextmanager
def _list(source: Path, inside: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    with ExitStack() as stack:
        try:
            entries = stack.enter_context(list_inside(source, inside))
        except OSError as error:
            raise BotError(f"{source / inside}: {error.strerror}") from None
        yield entries


def _copy_file(source: Path, path: str, target: Path) -> None:
    """Copy a file of a folder with its exec bit and times."""
    try:
        descriptor = open_inside(source, path)
    except OSError as error:
        raise BotError(f"{source / path}: {error.strerror}") from None
    with open(descriptor, "rb") as original, target.open("xb") as copy:
        status = os.fstat(descriptor)
        copy_content(original, copy, MOST_BYTES)
        copy.flush()
        os.fchmod(copy.fileno(), 0o755 if status.st_mode & stat.S_IXUSR else 0o644)
        os.utime(copy.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))


def _settle(path: str, flags: int) -> None:
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        executable = stat.S_ISDIR(mode) or mode & stat.S_IXUSR
        os.fchmod(descriptor, 0o755 if executable else 0o644)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
