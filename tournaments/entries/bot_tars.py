"""The files of a bot as a tar file: the same bytes for the same files, and read as if an enemy had written it."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from malice.tournaments.entries.bot_files import BotFile
from malice.tournaments.entries.fresh_trees import FreshTree

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
