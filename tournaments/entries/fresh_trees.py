"""Files that come from elsewhere, written to a new folder: nothing lands outside of it or points there."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import IO

from malice.tournaments.entries.bot_files import MOST_BYTES, MOST_FILES, PIECE_BYTES

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
        """Return where a path lies, after its parents were made."""
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
