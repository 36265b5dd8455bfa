"""The files of a bot: which ones belong to it, their hash, copies and tar files, and safe unpacking."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import stat
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

from malice.referee.errors import BotError
from malice.referee.isolation.folders import is_hidden, open_inside

STAMP = ".malice-build"
"""The file in a bot's folder that records its build: the only dot-file there that does not belong to the bot."""
MOST_BYTES = 2 * 1024**3
"""The limit for all files of a bot together: they are read each time a command names the bot."""
MOST_FILES = 200_000
"""The limit for the files of a bot, with the folders."""
PIECE_BYTES = 1024**2
FILE_TYPES: tuple[tuple[Callable[[int], bool], str], ...] = (
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
                raise BotError(where=folder, expected=f"at most {MOST_FILES:,} files in a bot's folder", got="more")
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
    """Inspect one file of a bot, even if `list_files` leaves it out.

    Raises:
        BotError: it is not a regular file, or a symlink that leaves the folder.
        FileNotFoundError: it does not exist.
    """
    home, whole = os.path.realpath(folder), os.path.join(folder, path)
    status = os.lstat(whole)
    if stat.S_ISLNK(status.st_mode):
        return BotFile(path, 0, _resolve_link(home, whole))
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for is_kind, name in FILE_TYPES if is_kind(status.st_mode)), "something else")
        raise BotError(where=whole, expected="a regular file in a bot's folder", got=kind)
    return BotFile(path, status.st_size)


def hash_files(folder: Path, ignore: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Digest every file of the bot, by path: its exec bit and content, or the target of a symlink.

    Raises:
        BotError: as in `list_files`; or the files are too large, and the message names the largest.
    """
    files = sorted(list_files(folder, ignore))
    total = sum(file.size for file in files)
    if total > MOST_BYTES:
        largest = max(files, key=lambda file: file.size)
        raise BotError(
            where=folder / largest.path,
            expected=f"at most {MOST_BYTES:,} bytes in all files of a bot",
            got=f"{total:,}, {largest.size:,} of them in this one",
            hint="list in `ignore` the files that do not belong to the bot",
        )
    digests = {}
    for file in files:
        with contextlib.suppress(FileNotFoundError):  # as in `list_files`
            digests[file.path] = _hash_content(folder, file)
    return digests


def hash_bot(digests: Mapping[str, bytes]) -> str:
    """The identity of a bot: one hash over everything that `hash_files` returns, in the order of the paths."""
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


def hash_file(path: Path, folder: Path | None = None) -> tuple[bytes, bool]:
    """SHA-256 of a regular file, read in pieces, and whether its owner may execute it.

    Args:
        path: the file.
        folder: the folder of a bot in which it lies; then no link below that is followed.

    Raises:
        BotError: it is not a regular file, is too large, or cannot be read.
        FileNotFoundError: it does not exist.
    """
    whole, read = hashlib.sha256(), 0
    try:
        # Nonblocking: the file may have become a fifo a moment ago.
        if folder is None:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        else:
            descriptor = open_inside(folder, str(path.relative_to(folder)))
        with open(descriptor, "rb", buffering=0) as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise BotError(where=path, expected="a regular file")
            while piece := file.read(PIECE_BYTES):
                whole.update(piece)
                read += len(piece)
                if read > MOST_BYTES:
                    raise BotError(where=path, expected=f"at most {MOST_BYTES:,} bytes", got="more")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BotError(f"{path}: {error.strerror}") from None
    return whole.digest(), bool(mode & 0o100)


def _hash_content(folder: Path, file: BotFile) -> bytes:
    if file.target is not None:
        return b"l" + hashlib.sha256(os.fsencode(file.target)).digest()
    digest, executable = hash_file(folder / file.path, folder)
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
    """Whether an entry is a folder, or a symlink to one."""
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


LONGEST_PATH = 1024
"""In bytes. A chain of symlinks with long names could otherwise exceed what the kernel resolves."""


class FreshTree:
    """A new folder that receives files one by one.

    Symlinks are made last, by `finish`, so no file is ever written through one.

    Raises:
        FileExistsError: the folder exists.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._links: dict[str, str] = {}
        self._count = self._bytes = 0
        folder.mkdir(mode=0o700)

    def add_folder(self, path: str) -> None:
        """Make a folder, which may exist; raise ValueError if it leaves the tree or a file is in its way."""
        self._place(path, "folder").mkdir(parents=True, exist_ok=True)

    def add_file(self, path: str, content: IO[bytes], size: int, *, executable: bool) -> None:
        """Write a file.

        Args:
            path: relative to the folder.
            content: what `size` bytes are read from.
            size: in bytes.
            executable: whether it gets exec bits.

        Raises:
            ValueError: the path leaves the tree, is taken, the content is too short, or everything is too large.
            OSError: it cannot be written.
        """
        place = self._place(path, "file")
        self._bytes += size
        if self._bytes > MOST_BYTES:
            raise ValueError(f"expected at most {MOST_BYTES:,} bytes in all files, got more, with {path!r}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(place, flags, 0o755 if executable else 0o644)
        except FileExistsError:
            raise ValueError(f"expected every path once, got {path!r} twice") from None
        with open(descriptor, "wb") as file:
            while size:
                piece = content.read(min(size, PIECE_BYTES))
                if not piece:
                    raise ValueError(f"{path!r}: expected {size:,} bytes more, got the end")
                file.write(piece)
                size -= len(piece)

    def add_link(self, path: str, target: str) -> None:
        """Note a symlink, which `finish` makes.

        Raises:
            ValueError: the path leaves the tree or is taken, or the target is absolute or empty.
        """
        if path in self._links or os.path.lexists(self._place(path, "link")):
            raise ValueError(f"expected every path once, got {path!r} twice")
        if not target or target.startswith("/") or "\0" in target or len(os.fsencode(target)) > LONGEST_PATH:
            raise ValueError(f"{path!r}: expected a symlink that stays inside, got one to {target!r:.100}")
        self._links[path] = target

    def finish(self) -> None:
        """Make the symlinks.

        Raises:
            ValueError: one of them leaves the tree, or lies where a file does.
        """
        for path, target in self._links.items():
            try:
                os.symlink(target, self._folder / path)
            except (FileExistsError, NotADirectoryError):
                raise ValueError(f"expected every path once, got {path!r} twice") from None
        home = os.path.realpath(self._folder)
        for path, target in self._links.items():
            if _leaves(home, os.path.join(home, path)):
                raise ValueError(f"{path!r}: expected a symlink that stays inside, got one to {target!r}")

    def _place(self, path: str, kind: str) -> Path:
        """Make the parents of a path; the result is where it lies."""
        parts = path.split("/")
        if "\0" in path or len(os.fsencode(path)) > LONGEST_PATH or {"", ".", ".."} & set(parts):
            raise ValueError(f"expected the path of a {kind} inside, got {path!r:.100}")
        self._count += 1
        if self._count > MOST_FILES:
            raise ValueError(f"expected at most {MOST_FILES:,} files, got more")
        for depth in range(1, len(parts)):
            if "/".join(parts[:depth]) in self._links:
                raise ValueError(f"expected no file below a symlink, got {path!r}")
        place = self._folder.joinpath(*parts)
        try:
            (place if kind == "folder" else place.parent).mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise ValueError(f"expected no file below a file, got {path!r}") from None
        return place


def _leaves(home: str, link: str) -> bool:
    """Tell whether a symlink leads out of `home`, asking the kernel where its target exists."""
    try:
        target = os.path.realpath(link, strict=True)
    except FileNotFoundError:
        target = os.path.realpath(link)  # it leads nowhere, and must not lead there from outside
    except OSError as error:
        return error.errno != errno.ELOOP  # nobody can follow a circle
    return target != home and not target.startswith(os.path.join(home, ""))


_UTF_8, _ESCAPED = "utf-8", "surrogateescape"  # a file name may be any bytes


def write_tar(folder: Path, files: Iterable[BotFile], target: IO[bytes]) -> None:
    """Write files of a folder, sorted by path: content, exec bit and symlinks; no time, owner or other mode bits.

    Raises:
        OSError: a file cannot be read, or there is no room.
    """
    with tarfile.open(fileobj=target, mode="w", format=tarfile.GNU_FORMAT, encoding=_UTF_8, errors=_ESCAPED) as tar:
        for file in sorted(files):
            member = tarfile.TarInfo(file.path)
            if file.target is not None:
                member.type = tarfile.SYMTYPE
                member.linkname = os.path.relpath(file.target, os.path.dirname(file.path) or ".")
                member.mode = 0o777
                tar.addfile(member)
                continue
            with open(os.open(folder / file.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as content:
                status = os.fstat(content.fileno())
                member.size = status.st_size
                member.mode = 0o755 if status.st_mode & 0o100 else 0o644
                tar.addfile(member, content)


def unpack_tar(source: Path, target: Path) -> None:
    """Write the files of a tar file to a new folder.

    Raises:
        ValueError: it is damaged, or holds anything but files, folders and symlinks that stay inside.
        OSError: it cannot be opened, or there is no room.
    """
    tree = FreshTree(target)
    with source.open("rb") as stream:
        try:
            with tarfile.open(fileobj=stream, mode="r:", encoding=_UTF_8, errors=_ESCAPED) as tar:
                for member in tar:
                    _unpack_member(tar, member, tree)
        except (tarfile.TarError, EOFError, OverflowError) as error:
            raise ValueError(f"not a whole tar file: {error}") from None
    tree.finish()


def _unpack_member(tar: tarfile.TarFile, member: tarfile.TarInfo, tree: FreshTree) -> None:
    if member.isdir():
        tree.add_folder(member.name)
    elif member.issym():
        tree.add_link(member.name, member.linkname)
    elif member.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
        content = tar.extractfile(member)
        assert content is not None
        tree.add_file(member.name, content, member.size, executable=bool(member.mode & 0o100))
    else:
        raise ValueError(f"{member.name!r}: expected a file, a folder or a symlink, got type {member.type!r}")
