"""A sandbox made by bubblewrap: which files it shows, what it hides, and which of its processes is the bot."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from malice.referee.isolation import copies, folders
from malice.referee.isolation.copies import Copies
from malice.referee.isolation.installations import is_inside, list_allowed, list_named, list_own_package
from malice.referee.isolation.limits import FILE_BYTES, PROCESSES

SETUID_HOLES = (
    ((0,), (0, 1, 3), "CVE-2016-8659"),
    ((0,), (0, 3, 3), "CVE-2019-12439"),
    ((0, 4, 0), (0, 4, 1), "CVE-2020-5291"),
    ((0, 11, 0), (0, 11, 2), "CVE-2026-41163"),
)
"""Versions with a hole that every user of a machine can use: the first, the one that mends it, and its name."""
_VERSION = re.compile(r"bubblewrap (\d+(?:\.\d+)*)")
PATIENCE_S = 10
"""How long an empty sandbox, or less than that, may take."""


def explain_setuid_hole(program: str) -> str | None:
    """Why a bubblewrap that runs as root for everybody must not be used; None if it does not, or has no known hole.

    A version that a distribution has mended without a new number counts as unmended.
    """
    if os.stat(program).st_mode & stat.S_ISUID:
        way = f"update bubblewrap, or run: chmod u-s {program}"
    elif _has_capabilities(program):
        way = f"update bubblewrap, or run: setcap -r {program}"
    else:
        return None
    told = ""
    with suppress(OSError, subprocess.SubprocessError):
        told = subprocess.check_output([program, "--version"], stdin=subprocess.DEVNULL, text=True, timeout=PATIENCE_S)
    if (match := _VERSION.match(told)) is None:
        return f"{program} runs as root for everybody, and does not tell its version: {way}"
    version = tuple(map(int, match[1].split(".")))
    for first, mended, name in SETUID_HOLES:
        if first <= version < mended:
            return f"{program} runs as root for everybody, and its version {match[1]} has a hole ({name}): {way}"
    return None


def _has_capabilities(program: str) -> bool:
    with suppress(OSError):
        return bool(os.getxattr(program, "security.capability"))
    return False


SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
SETTINGS = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/mono")
_PATH = "/usr/local/bin:/usr/bin:/bin"
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
        paths += [path for path in list_own_package(paths) if folders.everybody_may_read(path.stat())]
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
        """Say why only our user could read all of this, even with copies; None if others could."""
        for root in self.roots:
            kept = root.is_dir() or not self._may_copy(root)
            if kept and root != self.folder and not folders.everybody_may_read(root.stat()):
                return f"others may not read {root}"
        return self.explain_missing_copy(self.list_private())

    def explain_missing_copy(self, paths: Sequence[Path]) -> str | None:
        """Say why these paths cannot be copied; None if they can."""
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

    def list_readable(self) -> Iterator[tuple[Path, bool]]:
        """List what it shows, and of each whether all that lies in it is shown.

        A folder with something to hide in it is followed by the parts around that.
        """
        files = (Path(path) for path in self._hidden)
        hidden = {*self._list_covers(self.roots), *(each for path in files for each in (path, path.resolve()))}
        above = {parent for path in hidden for parent in path.parents}
        waiting = self.roots[::-1]
        while waiting:
            path = waiting.pop()
            if path in hidden or path.resolve() in hidden:
                continue
            yield path, path not in above
            if path in above:
                with suppress(OSError):  # what we may not list, no bot of ours may read
                    # What a link in it leads to is shown by its own name, or not at all.
                    waiting += sorted(entry for entry in path.iterdir() if not entry.is_symlink())

    def search_path(self) -> str:
        """The folders of our own PATH that are visible inside, then the system's."""
        own = [folder for folder in os.environ.get("PATH", "").split(":") if folder.startswith("/")]
        return ":".join(dict.fromkeys([*(folder for folder in own if self.shows(Path(folder))), *_PATH.split(":")]))

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


def list_system() -> Iterator[Path]:
    """List what every bot sees of the machine: the system's programs, and the settings that these need to start."""
    yield from filter(Path.is_dir, map(Path, SYSTEM))
    yield from filter(Path.exists, (*map(Path, SETTINGS), *Path("/etc").glob("java-*")))


def _has_root_below(path: Path, roots: Sequence[Path]) -> bool:
    return any(path in root.parents for root in roots)


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(place) for place in (*SYSTEM, *SETTINGS))


END_WAIT_MS = 1000
"""How long the kernel may take to end everything in a sandbox."""

_TEMPORARY = ("/tmp", "/dev/shm")
"""The writable folders inside; together they hold at most as much as a bot's memory."""
_SHELL = ("/bin/sh", "-c")


class Sandbox:
    """The sandbox for one command.

    Args:
        command: as written.
        program: the file that its first word names.
        view: the files besides the system's; the command starts in its folder.
        memory_mb: what the bot may use; its temporary files take no more than that.
        environment: variables for the command, besides a few of ours.
    """

    def __init__(
        self,
        command: Sequence[str],
        program: Path,
        view: SandboxView,
        memory_mb: int,
        environment: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._command = (os.path.abspath(program), *command[1:])
        self._environment = environment
        self.view = view
        self._tmpfs_bytes = min(FILE_BYTES, (memory_mb << 20) // len(_TEMPORARY))

    def build_command(
        self, uid: int | None, status: int, filter: int | None = None, *, disable: bool = True, dies: bool = True
    ) -> tuple[str, ...]:
        """Build the command that starts the sandbox.

        Args:
            uid: the user to become inside; None keeps our own, in a user namespace of its own.
            status: a descriptor that receives the first process of the sandbox, and how its program ended.
            filter: a descriptor to read the filter of system calls from.
            disable: whether to forbid more user namespaces inside.
            dies: whether the sandbox dies with us; if we die while it is being made, it leaves a process that waits
                for ever.
        """
        before, inside = _pass_pipes({status, filter})
        words = [
            *before,
            shutil.which("bwrap") or "bwrap",
            *(["--die-with-parent"] if dies else []),
            "--json-status-fd",
            str(status),
        ]
        words += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        words += ["--cap-drop", "ALL"]
        if uid is None:
            words += ["--unshare-user", *(["--disable-userns"] if disable else [])]
        else:
            # Needed only to change from our user to the bot's, who keeps none of them.
            words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
        words += ["--clearenv", "--setenv", "HOME", "/tmp", "--setenv", "LANG", "C.UTF-8"]
        for name, value in self._environment:
            words += ["--setenv", name, value]
        words += ["--setenv", "PATH", self.view.search_path(), "--hostname", "box", *self._mount_options()]
        words += ["--chdir", str(self.view.folder)]
        if filter is not None:
            words += ["--seccomp", str(filter)]
        return (*words, "--", *inside, *_switch_user(uid), *self._command)

    def _mount_options(self) -> Iterator[str]:
        yield from ("--dir", "/etc")
        for place in map(str, list_system()):
            if os.path.islink(place) and place in SYSTEM:
                yield from ("--symlink", os.readlink(place), place)
            else:
                yield from ("--ro-bind-try", place, place)
        yield from ("--proc", "/proc", "--dev", "/dev")
        for path in _TEMPORARY:
            yield from ("--perms", "1777", "--size", str(self._tmpfs_bytes), "--tmpfs", path)
        yield from self.view.list_mounts()
        # A bot may run as the user who owns all of this. It must neither touch our own process inside, nor, as root,
        # write the kernel's settings below /proc.
        yield from ("--perms", "0555", "--size", str(MIN_TMPFS_BYTES), "--tmpfs", "/proc/1", "--remount-ro", "/proc/1")
        for path in ("/proc", "/dev", "/"):
            yield from ("--remount-ro", path)


class SandboxStatus:
    """Bubblewrap's reports on one sandbox: a line when it has a first process, and one when its program has ended."""

    def __init__(self) -> None:
        self._descriptor, self.write_end = os.pipe()
        """The sandbox inherits `write_end`; the caller closes it after the start."""
        os.set_blocking(self._descriptor, False)
        self._lines = b""

    def first_process(self) -> int | None:
        """The first process of the sandbox; None if there is none yet, or the sandbox failed before."""
        while b"\n" not in self._lines and self._read():
            pass
        with suppress(ValueError, KeyError):
            return int(json.loads(self._lines.partition(b"\n")[0])["child-pid"])
        return None

    def never_ran(self) -> bool:
        """Tell, after the sandbox has ended, whether it failed before its program started."""
        while self._read():
            pass
        return b'"exit-code"' not in self._lines

    def close(self) -> None:
        """Close our end; safe to call again."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _read(self) -> bool:
        try:
            data = os.read(self._descriptor, 4096) if self._descriptor >= 0 else b""
        except BlockingIOError:
            return False
        self._lines += data
        return bool(data)


def find_child(pid: int) -> int | None:
    """Find the oldest child of a process."""
    with suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return int(children[0]) if children else None
    return None


def kill_and_wait(pidfd: int) -> None:
    """Kill the first process of a sandbox, with which the kernel ends all others, and wait until they are gone."""
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    poll.poll(END_WAIT_MS)


def _pass_pipes(used: set[int | None]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words to put before bubblewrap, and before the command inside, so that only the bot holds its pipes.

    Bubblewrap's own processes keep the standard descriptors open and close all others. If they held the bot's
    pipes, a pipe that the bot has closed would stay open.
    """
    read, write = [number for number in range(3, 10) if number not in used][:2]  # a shell knows one digit
    before = f'exec "$@" {read}<&0 {write}>&1 </dev/null >/dev/null'
    inside = f'unset PWD OLDPWD SHLVL; exec "$@" <&{read} >&{write} {read}<&- {write}>&-'
    return (*_SHELL, before, "sh"), (*_SHELL, inside, "sh")


def _switch_user(uid: int | None) -> tuple[str, ...]:
    if uid is not None:
        user = str(uid)
        return (
            "/usr/bin/setpriv",
            "--reuid",
            user,
            "--regid",
            user,
            "--clear-groups",
            "--inh-caps=-all",
            "--bounding-set=-all",
            "--",
        )
    if os.getuid() == 0:
        return ()  # the kernel does not limit root's processes, not even in a user namespace
    # Set inside, the limit counts only the processes of this user namespace.
    return ("/usr/bin/prlimit", f"--nproc={PROCESSES}", "--")
