"""The files of a bot: which files in its folder belong to it, their hash, and a copy."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from malice.referee.errors import BotError
from malice.referee.isolation.folders import is_hidden

STAMP = ".malice-build"
"""The file in a bot's folder that records its build: the only dot-file there that does not belong to the bot."""
MOST_BYTES = 2 * 1024**3
"""The limit for all files of a bot together: they are read each time a command names the bot."""
MOST_FILES = 200_000
"""The limit for the files of a bot, with the folders."""
PIECE_BYTES = 1024**2
KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISFIFO, "a fifo"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class BotFile(NamedTuple):
    """A file that belongs to a bot."""

    path: str
    """Relative to the bot's folder."""
    size: int
    target: str | None = None
    """The target of a symlink, relative to the bot's folder; None for a regular file."""


def list_files(folder: Path, ignore: tuple[str, ...] = ()) -> Iterator[BotFile]:
    """Yield the files of the bot in `folder`, dot-files too, in no order.

    Dot-folders, `__pycache__`, our own stamp and the patterns in `ignore` do not belong to it and are not even
    examined. A symlink is never followed: its target counts.

    Raises:
        BotError: an entry is neither a file nor a folder, cannot be read, or is a symlink that leaves the folder; the
            message names it. Or there are too many.
    """
    home = os.path.realpath(folder)
    waiting, count = [""], 0
    while waiting:
        inside = waiting.pop()
        for entry in _scan_folder(os.path.join(folder, inside)):
            path = inside + entry.name
            count += 1
            if count > MOST_FILES:
                raise BotError(f"{folder}: expected at most {MOST_FILES:,} files in a bot's folder, got more")
            # The output of a build may be a thousand times as large as its source: it is not even examined.
            if not _counts(path, _is_folder(entry), ignore):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(f"{path}/")
            else:
                # A build that runs at the same time may delete its files.
                with contextlib.suppress(FileNotFoundError):
                    yield inspect_file(home, path)


def is_ignored(path: str, ignore: tuple[str, ...]) -> bool:
    """Tell whether a folder of this path in the bot's, or one above it, does not belong to the bot."""
    parts = path.split("/")
    return any(not _counts("/".join(parts[: depth + 1]), True, ignore) for depth in range(len(parts)))


def inspect_file(folder: str | Path, path: str) -> BotFile:
    """Return one file of a bot, even if `list_files` leaves it out.

    Raises:
        BotError: it is not a regular file, or a symlink that leaves the folder.
        FileNotFoundError: it does not exist.
    """
    home, whole = os.path.realpath(folder), os.path.join(folder, path)
    status = os.lstat(whole)
    if stat.S_ISLNK(status.st_mode):
        return BotFile(path, 0, _resolve_link(home, whole))
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for is_kind, name in KINDS if is_kind(status.st_mode)), "something else")
        raise BotError(f"{whole}: expected a regular file in a bot's folder, got {kind}")
    return BotFile(path, status.st_size)


def hash_files(folder: Path, ignore: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Return by path a digest of every file of the bot: its exec bit and content, or the target of a symlink.

    Raises:
        BotError: as in `list_files`; or the files are too large, and the message names the largest.
    """
    files = sorted(list_files(folder, ignore))
    total = sum(file.size for file in files)
    if total > MOST_BYTES:
        largest = max(files, key=lambda file: file.size)
        raise BotError(
            f"{folder / largest.path}: expected at most {MOST_BYTES:,} bytes in all files of a bot, got {total:,},"
            f" {largest.size:,} of them in this one; list in `ignore` the files that do not belong to the bot"
        )
    digests = {}
    for file in files:
        with contextlib.suppress(FileNotFoundError):  # as in `list_files`
            digests[file.path] = _hash_content(folder, file)
    return digests


def hash_bot(digests: Mapping[str, bytes]) -> str:
    """Return the identity of a bot: one hash over everything that `hash_files` returns, in the order of the paths."""
    whole = hashlib.sha256()
    for path, digest in sorted(digests.items()):
        whole.update(os.fsencode(path) + b"\0" + digest)
    return whole.hexdigest()


def copy_files(source: Path, target: Path, ignore: tuple[str, ...]) -> None:
    """Copy the files of a bot: contents, exec bits and symlinks; no other mode bits.

    Raises:
        BotError: as `list_files`.
    """
    for file in list_files(source, ignore):
        copy = target / file.path
        copy.parent.mkdir(parents=True, exist_ok=True)
        if file.target is not None:
            copy.symlink_to(os.path.relpath(file.target, os.path.dirname(file.path) or "."))
            continue
        # Installed files of malice may be read-only, and the copy must not be.
        shutil.copyfile(source / file.path, copy, follow_symlinks=False)
        copy.chmod(copy.stat().st_mode | (source / file.path).stat().st_mode & 0o111)


def hash_file(path: Path, *, follow: bool = True) -> tuple[bytes, bool]:
    """Return the SHA-256 of a regular file, read in pieces, and whether its owner may execute it.

    Raises:
        BotError: it is not a regular file, is too large, or cannot be read.
        FileNotFoundError: it does not exist.
    """
    whole, read = hashlib.sha256(), 0
    # Nonblocking: the file may have become a fifo a moment ago.
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


def _hash_content(folder: Path, file: BotFile) -> bytes:
    if file.target is not None:
        return b"l" + hashlib.sha256(os.fsencode(file.target)).digest()
    digest, executable = hash_file(folder / file.path, follow=False)
    return (b"x" if executable else b"-") + digest


def _scan_folder(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(islice(entries, MOST_FILES + 1))
    except FileNotFoundError:  # deleted by a build that runs at the same time
        return []
    except OSError as error:
        raise BotError(f"{folder}: {error.strerror}") from None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder, or a symlink to one."""
    try:
        return entry.is_dir()
    except OSError:  # a symlink to itself, or to where we have no access
        return False


def _resolve_link(home: str, link: str) -> str:
    target = os.path.realpath(link)
    if target != home and not target.startswith(os.path.join(home, "")):
        raise BotError(
            f"{link}: a symlink that leaves the bot's folder, to {target}; copy the target into the folder,"
            " or list the link in `ignore`"
        )
    return os.path.relpath(target, home)


def _counts(path: str, folder: bool, ignore: tuple[str, ...]) -> bool:
    name = path.rpartition("/")[2]
    hidden = is_hidden(name) if folder else path == STAMP
    return not hidden and not any(fnmatch(path, pattern.rstrip("/")) for pattern in ignore)
