"""The files that make a bot: which of those in its folder count, one hash of them, and a copy."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from referee.errors import BotError
from referee.isolation.folders import is_hidden

STAMP = ".malice-build"
"""The file in a bot's folder that says what was built: the only dot-file there that is no part of the bot."""
MOST_BYTES = 2 * 1024**3
"""The most that all files of a bot may hold together: they are read whenever it is named."""
PIECE_BYTES = 1024**2
KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISFIFO, "a fifo"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class OwnFile(NamedTuple):
    """A file that is part of a bot."""

    path: str
    """From the bot's folder."""
    size: int
    target: str | None = None
    """Where a symlink leads, from the bot's folder; None for a regular file."""


def list_files(folder: Path, ignore: tuple[str, ...] = ()) -> Iterator[OwnFile]:
    """List the files that make the bot in `folder`, dot-files too, in no order.

    Dot-folders, `__pycache__`, our own stamp and what `ignore` names are no part of it, and are not looked at. A
    symlink is never followed: it counts as the place that it leads to.

    Raises:
        BotError: something is neither a file nor a folder, cannot be read, or is a symlink that leaves the folder;
            the message names it.
    """
    home = os.path.realpath(folder)
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        for entry in _entries(os.path.join(folder, inside)):
            path = inside + entry.name
            # What a build leaves may be a thousand times what it is made from: it is not even looked at.
            if not _counts(path, _is_folder(entry), ignore):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(f"{path}/")
            else:
                # A build that runs beside us takes its files away again.
                with contextlib.suppress(FileNotFoundError):
                    yield own_file(home, path)


def own_file(folder: str | Path, path: str) -> OwnFile:
    """Return one file of a bot, which need not be listed.

    Raises:
        BotError: it is no regular file, or a symlink that leaves the folder.
        FileNotFoundError: there is none.
    """
    home, whole = os.path.realpath(folder), os.path.join(folder, path)
    found = os.lstat(whole)
    if stat.S_ISLNK(found.st_mode):
        return OwnFile(path, 0, _target(home, whole))
    if not stat.S_ISREG(found.st_mode):
        kind = next((name for is_kind, name in KINDS if is_kind(found.st_mode)), "something else")
        raise BotError(f"{whole}: expected a regular file in a bot's folder, got {kind}")
    return OwnFile(path, found.st_size)


def contents(folder: Path, ignore: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Return by path what every file that makes the bot holds: its exec bit and hash, or where a symlink leads.

    Raises:
        BotError: as `walk`; or the files are too large, and the message names the largest.
    """
    found = sorted(list_files(folder, ignore))
    total = sum(each.size for each in found)
    if total > MOST_BYTES:
        largest = max(found, key=lambda each: each.size)
        raise BotError(
            f"{folder / largest.path}: expected at most {MOST_BYTES:,} bytes in all files of a bot, got {total:,},"
            f" {largest.size:,} of them in this one; name in `ignore` what is no part of the bot"
        )
    told = {}
    for each in found:
        with contextlib.suppress(FileNotFoundError):  # as above
            told[each.path] = _content(folder, each)
    return told


def content_hash(files: Mapping[str, bytes]) -> str:
    """Return what makes a bot the same bot: one hash of all that `contents` gives, in the order of the paths."""
    whole = hashlib.sha256()
    for path, told in sorted(files.items()):
        whole.update(os.fsencode(path) + b"\0" + told)
    return whole.hexdigest()


def copy_files(source: Path, target: Path, ignore: tuple[str, ...]) -> None:
    """Copy the files that make a bot: contents, exec bits and symlinks, and nothing else of their modes.

    Raises:
        BotError: as `walk`.
    """
    for each in list_files(source, ignore):
        copy = target / each.path
        copy.parent.mkdir(parents=True, exist_ok=True)
        if each.target is not None:
            copy.symlink_to(os.path.relpath(each.target, os.path.dirname(each.path) or "."))
            continue
        # Where malice is installed files may be read-only.
        shutil.copyfile(source / each.path, copy, follow_symlinks=False)
        copy.chmod(copy.stat().st_mode | (source / each.path).stat().st_mode & 0o111)


def file_hash(path: Path, *, follow: bool = True) -> tuple[bytes, bool]:
    """Return the SHA-256 of a regular file, read in pieces, and whether its owner may execute it.

    Raises:
        BotError: it is no regular file, is too large, or cannot be read.
        FileNotFoundError: there is none.
    """
    whole, read = hashlib.sha256(), 0
    # Without waiting: what was a file a moment ago may be a fifo now.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        with open(os.open(path, flags), "rb", buffering=0) as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise BotError(f"{path}: expected a regular file")
            while piece := file.read(PIECE_BYTES):
                whole.update(piece)
                read += len(piece)
                if read > MOST_BYTES:
                    raise BotError(f"{path}: expected at most {MOST_BYTES:,} bytes, got more")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BotError(f"{path}: {error.strerror}") from None
    return whole.digest(), bool(mode & 0o100)


def _content(folder: Path, file: OwnFile) -> bytes:
    if file.target is not None:
        return b"l" + hashlib.sha256(os.fsencode(file.target)).digest()
    digest, executable = file_hash(folder / file.path, follow=False)
    return (b"x" if executable else b"-") + digest


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:  # a build that runs beside us
        return []
    except OSError as error:
        raise BotError(f"{folder}: {error.strerror}") from None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Tell whether it is a folder, or a symlink to one."""
    try:
        return entry.is_dir()
    except OSError:  # a symlink that leads to itself, or where we may not look
        return False


def _target(home: str, link: str) -> str:
    target = os.path.realpath(link)
    if target != home and not target.startswith(os.path.join(home, "")):
        raise BotError(
            f"{link}: a symlink that leaves the bot's folder, to {target}; put what it leads to into the folder,"
            " or name the link in `ignore`"
        )
    return os.path.relpath(target, home)


def _counts(path: str, folder: bool, ignore: tuple[str, ...]) -> bool:
    name = path.rpartition("/")[2]
    hidden = is_hidden(name) if folder else path == STAMP
    return not hidden and not any(fnmatch(path, pattern.rstrip("/")) for pattern in ignore)
