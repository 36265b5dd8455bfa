"""The files that a sandbox shows beside the system's own: by which names, from where, and which not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from referee.isolation import copies, folders
from referee.isolation.copies import Copies

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
SETTINGS = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/mono")
LITTLE = 4096
"""The size of a file system that nothing is to be written to, in bytes: the kernel's least."""
MOST_COVERS = 32
"""How many folders are covered one by one; where there are more, a copy without them is made sooner."""

_TOO_MUCH = (Path("/"), Path("/tmp"))
"""Folders that are never shown as a whole."""


class View:
    """What the sandbox of one command shows.

    Args:
        command: as it is written.
        program: the file that its first word means.
        folder: where it is started.
        hidden: files that may not be read.
    """

    def __init__(self, command: Sequence[str], program: Path, folder: Path, hidden: Sequence[str] = ()) -> None:
        self.folder = folder.resolve()
        wanted = [*list_installations(program), *files_of(command, folder)]
        if self.folder not in _TOO_MUCH:
            wanted.append(self.folder)
        self.roots = [path for path in dict.fromkeys(wanted) if not _is_system(path)]
        """What is shown, by the names that it has outside."""
        self._hidden = [path for path in hidden if os.path.exists(path)]
        self._sources: dict[Path, Path] = {}
        self._own = self.folder in self.roots and folders.is_bots_own(self.folder)
        self._survey = folders.survey(self.folder) if self._own else None

    def is_crowded(self) -> bool:
        """Tell whether so much of the folder is to be hidden that a copy without it is the quicker way."""
        return self._survey is not None and len(self._survey.hidden) > MOST_COVERS

    def private(self) -> list[Path]:
        """List what a user of the bot's own may not read, and could if it were copied: the folder, and files."""
        folder = [self.folder] if self.folder in self.roots and not self._folder_is_public() else []
        files = [root for root in self.roots if root.is_file() and not folders.everybody_may_read(root.stat())]
        return folder + [path for path in files if not (folder and self._is_copied_with_folder(path))]

    def user_lack(self) -> str | None:
        """Return why no user but ours could read all of this, not even copied, or None."""
        for root in self.roots:
            if root.is_dir() and root != self.folder and not folders.everybody_may_read(root.stat()):
                return f"others may not read {root}"
        return self.copy_lack(self.private())

    def copy_lack(self, paths: Sequence[Path]) -> str | None:
        """Return why these cannot be copied, or None."""
        for path in paths:
            size, entries = path.stat().st_size, 1
            if path == self.folder:
                found = self._survey or folders.survey(path, copies.MOST_ENTRIES)
                size, entries = found.size, found.entries
                # Where a command line is run a pipe is somebody's way to talk to it; a bot's own folder needs none.
                if found.special and not self._own:
                    return f"others may not read {path}, and no copy could hold {found.special}"
            if why := copies.explain_missing_copy(size, entries):
                return f"others may not read all of {path}, which {why}"
        return None

    def copy(self, paths: Iterable[Path], into: Copies) -> None:
        """Show copies of these instead.

        Raises:
            OSError: one cannot be copied.
        """
        hidden = {Path(path).resolve() for path in self._hidden}
        self._sources = {path: into.add(path.resolve(), hidden) for path in paths}

    def shows(self, path: Path) -> bool:
        """Tell whether a path is to be seen inside."""
        return _is_system(path) or any(path.is_relative_to(root) for root in self.roots)

    def mounts(self) -> Iterator[str]:
        """Yield the words for bubblewrap that put all of it in place."""
        copied = self.folder in self._sources
        roots = [root for root in self.roots if not (copied and self._is_copied_with_folder(root))]
        covers = [path for path in self._covers(roots) if not copied or _holds(path, roots)]
        made: set[Path] = set()
        for root in sorted({*roots, *covers}, key=lambda path: len(path.parts)):
            for parent in reversed(root.parents):
                # By itself bubblewrap gives the parents of a private folder to their owner only.
                if parent not in made and parent not in _TOO_MUCH and not self._is_there(parent, covers):
                    made.add(parent)
                    yield from ("--dir", str(parent))
            if root in covers:
                yield from ("--perms", "0755", "--size", str(LITTLE), "--tmpfs", str(root))
            else:
                yield from ("--ro-bind", str(self._sources.get(root, root)), str(root))
        for path in covers:
            yield from ("--remount-ro", str(path))
        for hidden in self._hidden:
            if self.shows(Path(hidden)) and not ((self._own or copied) and self._is_folded(Path(hidden))):
                yield from ("--ro-bind", "/dev/null", hidden)

    def _covers(self, roots: Sequence[Path]) -> list[Path]:
        """List the folders that an empty one is put over; what the command names itself is not among them."""
        return [path for path in self._survey.hidden if path not in roots] if self._survey else []

    def _is_there(self, path: Path, covers: Sequence[Path]) -> bool:
        covered = any(cover in path.parents for cover in covers)
        return self.shows(path) and not covered

    def _is_folded(self, path: Path) -> bool:
        """Tell whether a file is in one of the folder's hidden folders, and not shown by itself."""
        if not path.is_relative_to(self.folder):
            return False
        shown = [root for root in self.roots if root != self.folder and root.is_relative_to(self.folder)]
        folded = any(map(folders.is_hidden, path.relative_to(self.folder).parts[:-1]))
        return folded and not any(path.is_relative_to(root) for root in shown)

    def _folder_is_public(self) -> bool:
        if self._survey:
            return self._survey.unreadable is None
        return folders.everybody_may_read(self.folder.stat())

    def _is_copied_with_folder(self, path: Path) -> bool:
        """Tell whether a copy of the folder holds this too."""
        if path == self.folder or not path.is_relative_to(self.folder) or self.folder not in self.roots:
            return False
        inside = path.relative_to(self.folder).parts
        return not any(map(folders.is_hidden, inside[:-1] if path.is_file() else inside))


def list_installations(program: Path) -> Iterator[Path]:
    """List what a program needs to be read: itself and what it links to, each with the installation that it is in.

    An installation is the folder above `bin`, which may be that of a virtual environment; a home is none.
    """
    path = Path(os.path.abspath(program))
    homes = {Path.home(), Path.home() / ".local", Path("/")}
    for _ in range(40):
        above = path.parent.parent
        yield above if path.parent.name in ("bin", "shims") and above not in homes else path
        if not path.is_symlink():
            break
        path = Path(os.path.normpath(path.parent / os.readlink(path)))
    if (real := path.resolve()) != path:
        yield real.parent.parent if real.parent.name == "bin" else real


def files_of(command: Iterable[str], folder: Path) -> list[Path]:
    """List the words of a command, after its first, that are files."""
    found = [folder / word for word in list(command)[1:] if word and len(word) < 4096]
    return [Path(os.path.abspath(path)) for path in found if os.path.isfile(path)]  # even if it can be no name


def _holds(path: Path, roots: Sequence[Path]) -> bool:
    return any(path in root.parents for root in roots)


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(each) for each in (*SYSTEM, *SETTINGS))
