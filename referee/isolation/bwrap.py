"""A sandbox by bubblewrap: what is in it, what is not, and which of its processes is the bot."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from referee.isolation.limits import FILE_BYTES, PROCESSES

END_WAIT_MS = 1000
"""How long the kernel may take to end everything in a sandbox."""

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_SETTINGS = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/mono")
_PATH = "/usr/local/bin:/usr/bin:/bin"
_TOO_MUCH = (Path("/"), Path("/tmp"))
"""Folders that are never shown as a whole."""
_SHELL = ("/bin/sh", "-c")


class Sandbox:
    """The sandbox for one command.

    Args:
        command: as it is written.
        program: the file that its first word means.
        folder: where it is started.
        hidden: files that may not be read.
    """

    def __init__(self, command: Sequence[str], program: Path, folder: Path, hidden: Sequence[str] = ()) -> None:
        self._command = (os.path.abspath(program), *command[1:])
        self._folder = folder.resolve()
        wanted = [*chain(program), *files_of(command, folder)]
        if self._folder not in _TOO_MUCH:
            wanted.append(self._folder)
        self.roots = [path for path in dict.fromkeys(wanted) if not _is_system(path)]
        """What it sees beside the system, by the names that it has outside."""
        self._hidden = [path for path in hidden if os.path.exists(path)]

    def command(
        self, uid: int | None, status: int, filter: int | None = None, *, disable: bool = True, dies: bool = True
    ) -> tuple[str, ...]:
        """Return what to start.

        Args:
            uid: the user to become inside; None stays what we are, in a user namespace of its own.
            status: a descriptor that is told the first process of the sandbox, and how its program ended.
            filter: a descriptor that the filter of system calls is read from.
            disable: whether to forbid more user namespaces inside.
            dies: whether it dies with us; while it is being made, that leaves a process behind which waits for ever.
        """
        hand_over, take = _pipes_past_bubblewrap({status, filter})
        words = [
            *hand_over,
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
            # Only for the step from us to the user; nothing is left of them behind it.
            words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
        words += ["--clearenv", "--setenv", "HOME", "/tmp", "--setenv", "LANG", "C.UTF-8"]
        words += ["--setenv", "PATH", self._path(), "--hostname", "box", *self._mounts()]
        words += ["--chdir", str(self._folder)]
        if filter is not None:
            words += ["--seccomp", str(filter)]
        return (*words, "--", *take, *_become(uid), *self._command)

    def _mounts(self) -> Iterator[str]:
        for path in _SYSTEM:
            if os.path.islink(path):
                yield from ("--symlink", os.readlink(path), path)
            elif os.path.isdir(path):
                yield from ("--ro-bind", path, path)
        yield from ("--dir", "/etc")
        for path in (*_SETTINGS, *map(str, Path("/etc").glob("java-*"))):
            yield from ("--ro-bind-try", path, path)
        yield from ("--proc", "/proc", "--dev", "/dev")
        yield from ("--perms", "1777", "--size", str(FILE_BYTES), "--tmpfs", "/tmp")
        made: set[Path] = set()
        for root in sorted(self.roots, key=lambda path: len(path.parts)):
            for parent in reversed(root.parents):
                # By itself bubblewrap gives the parents of a private folder to their owner only.
                if parent not in made and parent not in _TOO_MUCH and not _is_system(parent) and not self._sees(parent):
                    made.add(parent)
                    yield from ("--dir", str(parent))
            yield from ("--ro-bind", str(root), str(root))
        for path in self._hidden:
            if self._sees(Path(path)):
                yield from ("--ro-bind", "/dev/null", path)

    def _sees(self, path: Path) -> bool:
        return _is_system(path) or any(path.is_relative_to(root) for root in self.roots)

    def _path(self) -> str:
        """Keep of our own path what is to be seen inside."""
        own = [folder for folder in os.environ.get("PATH", "").split(":") if folder.startswith("/")]
        return ":".join(dict.fromkeys([*(folder for folder in own if self._sees(Path(folder))), *_PATH.split(":")]))


def chain(program: Path) -> Iterator[Path]:
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
    return [Path(os.path.abspath(path)) for path in found if path.is_file()]


class Status:
    """What bubblewrap says of one sandbox: a line when it has a first process, one when its program has ended."""

    def __init__(self) -> None:
        self._descriptor, self.told = os.pipe()
        os.set_blocking(self._descriptor, False)
        """`told` is for the sandbox to inherit, and to be closed here once it has."""
        self._said = b""

    def first_process(self) -> int | None:
        """Return its first process; None when there is none yet, or it failed before."""
        while b"\n" not in self._said and self._read():
            pass
        with suppress(ValueError, KeyError):
            return int(json.loads(self._said.partition(b"\n")[0])["child-pid"])
        return None

    def never_ran(self) -> bool:
        """Tell, after its end, whether the sandbox failed before there was a program in it."""
        while self._read():
            pass
        return b'"exit-code"' not in self._said

    def close(self) -> None:
        """Forget it; safe to call again."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _read(self) -> bool:
        try:
            data = os.read(self._descriptor, 4096) if self._descriptor >= 0 else b""
        except BlockingIOError:
            return False
        self._said += data
        return bool(data)


def child_of(pid: int) -> int | None:
    """Return the oldest child of a process."""
    with suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return int(children[0]) if children else None
    return None


def wait_for_end(pidfd: int) -> None:
    """Kill the first process of a sandbox, without which the kernel ends all others, and wait for that."""
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    poll.poll(END_WAIT_MS)


def _pipes_past_bubblewrap(taken: set[int | None]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what to put before bubblewrap, and before the command in it, so that only the bot holds its pipes.

    Bubblewrap's own processes keep the standard descriptors, and close all others. With them a pipe that the bot
    has closed would stay open.
    """
    read, write = [number for number in range(3, 10) if number not in taken][:2]  # a shell knows one digit
    before = f'exec "$@" {read}<&0 {write}>&1 </dev/null >/dev/null'
    inside = f'unset PWD OLDPWD SHLVL; exec "$@" <&{read} >&{write} {read}<&- {write}>&-'
    return (*_SHELL, before, "sh"), (*_SHELL, inside, "sh")


def _become(uid: int | None) -> tuple[str, ...]:
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
        return ()  # root has no limit of processes, in a user namespace neither
    # Set inside, it counts the processes of this user namespace alone.
    return ("/usr/bin/prlimit", f"--nproc={PROCESSES}", "--")


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(each) for each in (*_SYSTEM, *_SETTINGS))
