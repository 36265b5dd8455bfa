"""The files that a sandbox shows besides the system's own: their names inside, their sources, and what it hides."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from malice.referee.isolation import copies, folders
from malice.referee.isolation.copies import Copies
from malice.referee.isolation.installations import is_inside, list_allowed, list_named

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
SETTINGS = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/mono")
MIN_TMPFS_BYTES = 4096
"""The size in bytes of a file system that stays empty: the least that the kernel allows."""
MOST_COVERS = 32
"""How many folders are covered one by one; with more of them, a copy without them is quicker."""

_TOO_MUCH = (Path("/"), Path("/tmp"))
"""Folders that a sandbox never shows as a whole."""


class SandboxView:
    """What the sandbox of one command shows.

    Args:
        command: as written.
        program: the file that its first word names.
        folder: where it starts.
        hidden: files and folders that it may not read.
        home: the bot's folder, if the command is a bot's; else the organiser wrote it, and may name any file.

    Raises:
        PermissionError: a bot's command names a program that is neither the bot's nor the organiser's.
    """

    def __init__(
        self,
        command: Sequence[str],
        program: Path,
        folder: Path,
        hidden: Sequence[str] = (),
        home: Path | None = None,
    ) -> None:
        self.folder = folder.resolve()
        self._hidden = [path for path in hidden if os.path.isfile(path)]
        self._closed = [Path(path).resolve() for path in hidden if os.path.isdir(path)]
        self._owned = None if home is None else (self.folder, home)
        if self._owned is None:
            paths = [*list_named(command, program, folder)]
        else:
            allowed = list_allowed(command, program, folder, self._owned)
            paths = [path for path in allowed if not is_inside(path, self._closed)]
        if self.folder not in _TOO_MUCH:
            paths.append(self.folder)
        self.roots = [path for path in dict.fromkeys(paths) if not _is_system(path)]
        """What the sandbox shows, by the names outside."""
        self._sources: dict[Path, Path] = {}
        self._own = self.folder in self.roots and folders.is_bots_own(self.folder)
        self._survey = folders.walk_folder(self.folder, closed=self._closed) if self._own else None

    def is_crowded(self) -> bool:
        """Tell whether the folder has so many parts to hide that a copy without them is quicker."""
        return self._survey is not None and len(self._survey.hidden) > MOST_COVERS

    def list_private(self) -> list[Path]:
        """List the folder and the files that the bot's own user may not read, and could if they were copied."""
        folder = [self.folder] if self.folder in self.roots and not self._folder_is_public() else []
        files = [root for root in self.roots if root.is_file() and not folders.everybody_may_read(root.stat())]
        files = [path for path in files if not (folder and self._is_copied_with_folder(path))]
        return folder + [path for path in files if self._may_copy(path)]

    def explain_missing_user(self) -> str | None:
        """Return why only our user could read all of this, even with copies; None if others could."""
        for root in self.roots:
            kept = root.is_dir() or not self._may_copy(root)
            if kept and root != self.folder and not folders.everybody_may_read(root.stat()):
                return f"others may not read {root}"
        return self.explain_missing_copy(self.list_private())

    def explain_missing_copy(self, paths: Sequence[Path]) -> str | None:
        """Return why these paths cannot be copied, or None."""
        for path in paths:
            size, entries = path.stat().st_size, 1
            if path == self.folder:
                survey = self._survey or folders.walk_folder(path, copies.MOST_ENTRIES, self._closed)
                size, entries = survey.size, survey.entries
                # A command line may use a pipe in its folder to reach another program; a bot's own folder needs none.
                if survey.special and not self._own:
                    return f"others may not read {path}, and no copy could hold {survey.special}"
            if why := copies.explain_missing_copy(size, entries):
                return f"others may not read all of {path}, which {why}"
        return None

    def copy(self, paths: Iterable[Path], into: Copies) -> None:
        """Show copies of these paths instead; raise OSError if one cannot be copied."""
        hidden = {*self._closed, *(Path(path).resolve() for path in self._hidden)}
        self._sources = {path: into.add(path.resolve(), hidden) for path in paths}

    def shows(self, path: Path) -> bool:
        """Tell whether a path is visible inside."""
        return _is_system(path) or any(path.is_relative_to(root) for root in self.roots)

    def list_mounts(self) -> Iterator[str]:
        """Yield the words for bubblewrap that put all of this in place."""
        copied = self.folder in self._sources
        roots = [root for root in self.roots if not (copied and self._is_copied_with_folder(root))]
        covers = [path for path in self._list_covers(roots) if not copied or _has_root_below(path, roots)]
        parents: set[Path] = set()
        for root in sorted({*roots, *covers}, key=lambda path: len(path.parts)):
            for parent in reversed(root.parents):
                # By default bubblewrap opens the parents of a private folder only to their owner.
                if parent not in parents and parent not in _TOO_MUCH and not self._is_there(parent, covers):
                    parents.add(parent)
                    yield from ("--dir", str(parent))
            if root in covers:
                yield from ("--perms", "0755", "--size", str(MIN_TMPFS_BYTES), "--tmpfs", str(root))
            else:
                yield from ("--ro-bind", str(self._sources.get(root, root)), str(root))
        for path in covers:
            yield from ("--remount-ro", str(path))
        for hidden in self._hidden:
            if self.shows(Path(hidden)) and not ((self._own or copied) and self._is_in_hidden_folder(Path(hidden))):
                yield from ("--ro-bind", "/dev/null", hidden)

    def _list_covers(self, roots: Sequence[Path]) -> list[Path]:
        """List the folders to cover with an empty one; those that the command itself names stay."""
        hidden = {*(self._survey.hidden if self._survey else ()), *filter(self.shows, self._closed)}
        return sorted(hidden.difference(roots))

    def _is_there(self, path: Path, covers: Sequence[Path]) -> bool:
        covered = any(cover in path.parents for cover in covers)
        return self.shows(path) and not covered

    def _is_in_hidden_folder(self, path: Path) -> bool:
        """Tell whether a file is in one of the hidden folders, and is not shown separately."""
        if not path.is_relative_to(self.folder):
            return False
        shown = [root for root in self.roots if root != self.folder and root.is_relative_to(self.folder)]
        hidden = any(map(folders.is_hidden, path.relative_to(self.folder).parts[:-1]))
        return hidden and not any(path.is_relative_to(root) for root in shown)

    def _may_copy(self, path: Path) -> bool:
        """Tell whether a file may be copied for the bot: of a bot's folder, only what lies in it."""
        return self._owned is None or is_inside(path, self._owned)

    def _folder_is_public(self) -> bool:
        if self._survey:
            return self._survey.unreadable is None
        return folders.everybody_may_read(self.folder.stat())

    def _is_copied_with_folder(self, path: Path) -> bool:
        """Tell whether a copy of the folder also has this path."""
        if path == self.folder or not path.is_relative_to(self.folder) or self.folder not in self.roots:
            return False
        inside = path.relative_to(self.folder).parts
        return not any(map(folders.is_hidden, inside[:-1] if path.is_file() else inside))


def _has_root_below(path: Path, roots: Sequence[Path]) -> bool:
    return any(path in root.parents for root in roots)


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(place) for place in (*SYSTEM, *SETTINGS))
