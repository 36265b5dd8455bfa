"""A control group for each bot: it counts, freezes and kills its processes, and tells what the kernel killed."""

from __future__ import annotations

import fcntl
import itertools
import os
import re
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from malice.referee.isolation.limits import PROCESSES

_KILLED = "oom_kill"
_PIDFD_GET_INFO = 0xC040FF0B
_INFO = struct.Struct("=QQ11Ii")
"""The first version of `struct pidfd_info`: a mask of what to return, then the numbers; the wait status is last."""
_PIDFD_INFO_EXIT = 1 << 3


def count_kills() -> int:
    """Count the processes in our own control group that the kernel killed for lack of memory.

    Where no group counts them, count those of the whole machine since boot.
    """
    return read_field(find_counter(), _KILLED) or 0


@cache
def find_counter() -> Path:
    """Find the file that holds that count, only once per process."""
    return next((path for path in _list_own_counters() if read_field(path, _KILLED) is not None), Path("/proc/vmstat"))


def read_field(path: Path, name: str) -> int | None:
    """Read a number from a file of lines `name number`; None if there is none."""
    with suppress(OSError):
        for line in path.read_text().splitlines():
            word, _, number = line.partition(" ")
            if word == name:
                return int(number)
    return None


def read_wait_status(pidfd: int) -> int | None:
    """The wait status of a process that another process has reaped; None where it is unknown.

    Needs Linux 6.15 or newer.
    """
    if pidfd < 0:
        return None
    info = bytearray(_INFO.pack(_PIDFD_INFO_EXIT, *[0] * 13))
    with suppress(OSError):
        fcntl.ioctl(pidfd, _PIDFD_GET_INFO, info)
        mask, *_, status = _INFO.unpack(info)
        return int(status) if mask & _PIDFD_INFO_EXIT else None
    return None


def list_own_groups() -> Iterator[tuple[str, str]]:
    """Yield each controller of version 1, and "" for version 2, each with our own group."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        yield from ((name, path) for name in names.split(","))


def _list_own_counters() -> Iterator[Path]:
    own = dict(list_own_groups())
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == "cgroup2":
            # The local file leaves out the groups below ours.
            yield Path(place, own.get("", "/").lstrip("/"), "memory.events.local")
        elif kind == "cgroup" and "memory" in options.split(","):
            yield Path(place, own.get("memory", "/").lstrip("/"), "memory.oom_control")


PREFIX = "malice-"
REMOVE_WAIT_S = 0.5
"""How long killed processes may take to leave a group; only an empty group can be removed."""

ONE_CHARGE = 1 << 20
"""More bytes than the kernel ever charges to a group at once."""

_numbers = itertools.count()


class Parents:
    """The folders in which groups can be made, by what such a group can do; None if no folder will do."""

    def __init__(self) -> None:
        self.pids: Path | None = None
        self.memory: Path | None = None
        self.freeze: Path | None = None
        self.home: Path | None = None
        """Our own group of version 2."""

    def folders(self) -> list[Path]:
        """Each of them once."""
        return list(dict.fromkeys(path for path in (self.pids, self.memory, self.freeze) if path))


@cache
def find_parents() -> Parents:
    """Find out, by trying, where groups can be made: first in version 2, then in version 1 for what version 2 lacks.

    The freezer of version 1 is not used: it takes ten times as long as that of version 2.
    """
    parents = Parents()
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    own = dict(list_own_groups())
    for _, place, kind, *_ in mounts:
        if kind == "cgroup2":
            parents.home = inside = Path(place, own.get("", "/").lstrip("/"))
            # A group that passes its controllers on may hold no processes: so try beside our group before inside it.
            for parent in (inside.parent if inside != Path(place) else inside, inside, Path(place)):
                files = _probe(parent)
                parents.freeze = parents.freeze or (parent if {"cgroup.freeze", "cgroup.kill"} <= files else None)
                parents.pids = parents.pids or (parent if "pids.max" in files else None)
                parents.memory = parents.memory or (parent if "memory.max" in files else None)
    for _, place, kind, options, *_ in mounts:
        for name in ("pids", "memory"):
            if kind == "cgroup" and name in options.split(",") and getattr(parents, name) is None:
                parent = Path(place, own.get(name, "/").lstrip("/"))
                if _probe(parent):
                    setattr(parents, name, parent)
    return parents


class ControlGroup:
    """The control group of one bot: a folder in each hierarchy that it needs."""

    def __init__(self, memory_mb: int) -> None:
        where = find_parents()
        name = _name(str(next(_numbers)))
        self._parents = where.folders()
        self._folders = [parent / name for parent in self._parents]
        for folder in self._folders:
            folder.mkdir()
        if where.pids:
            (where.pids / name / "pids.max").write_text(str(PROCESSES))
        self._memory = where.memory / name if where.memory else None
        if self._memory:
            _limit_memory(self._memory, memory_mb << 20)
        self._state = os.open(where.freeze / name / "cgroup.freeze", os.O_WRONLY) if where.freeze else None
        self._kill = where.freeze / name / "cgroup.kill" if where.freeze else None
        self._used = os.open(where.freeze / name / "cpu.stat", os.O_RDONLY) if where.freeze else None
        self._home = where.home

    def make_joiner(self) -> Callable[[], None]:
        """Make a function that puts the calling process into the group."""
        files = [os.fspath(folder / "cgroup.procs") for folder in self._folders]

        def arm() -> None:
            for file in files:
                descriptor = os.open(file, os.O_WRONLY)
                os.write(descriptor, b"0")
                os.close(descriptor)

        return arm

    def release(self, pid: int) -> None:
        """Move one of our own processes out of the group: each process in it takes time to freeze."""
        if self._home:
            with suppress(OSError):
                (self._home / "cgroup.procs").write_text(str(pid))

    @property
    def can_freeze(self) -> bool:
        """Whether `freeze` has an effect."""
        return self._state is not None

    def freeze(self) -> None:
        """Stop every process in the group."""
        if self._state is not None:
            os.write(self._state, b"1")

    def thaw(self) -> None:
        """Let every process in the group continue."""
        if self._state is not None:
            os.write(self._state, b"0")

    def cpu_ns(self) -> int | None:
        """The CPU time of all its processes, including those that have ended; None where it is not counted."""
        if self._used is None:
            return None
        first, _, _ = os.pread(self._used, 64, 0).partition(b"\n")
        return int(first.removeprefix(b"usage_usec ")) * 1000

    @property
    def counts_memory(self) -> bool:
        """Whether the group counts what the kernel killed in it for lack of memory."""
        return self._memory is not None

    def oom_kills(self) -> int:
        """How many of its processes the kernel killed for lack of memory, by its own limit or not."""
        names = ("memory.events", "memory.oom_control")
        return sum(read_field(self._memory / name, "oom_kill") or 0 for name in names) if self._memory else 0

    def reached_limit(self) -> bool:
        """Tell whether the group ever ran into its own limit; in version 1 also if memory could then be freed."""
        if self._memory is None:
            return False
        if (events := read_field(self._memory / "memory.events", "oom")) is not None:
            return events > 0
        most, limit = (int((self._memory / f"memory.{name}_in_bytes").read_text()) for name in ("max_usage", "limit"))
        return most > limit - ONE_CHARGE

    def end(self) -> None:
        """Kill every process in the group, and remove the group."""
        if self._kill:
            self._kill.write_text("1")
        if self._state is not None:
            os.close(self._state)
            self._state = None
        if self._used is not None:
            os.close(self._used)
            self._used = None
        self._memory = None
        deadline = time.monotonic() + REMOVE_WAIT_S
        for folder in self._folders:
            while True:
                if not self._kill:
                    _kill_all(folder)
                try:
                    folder.rmdir()
                except OSError:
                    if folder.exists() and time.monotonic() < deadline:
                        time.sleep(0.001)
                        continue
                break


def _probe(parent: Path) -> set[str]:
    """Make a group and remove it again; return the names of its files if a process may enter it."""
    folder = parent / _name("try")
    try:
        folder.mkdir()
    except OSError:
        return set()
    try:
        files = {path.name for path in folder.iterdir()}
        return files if _may_enter(folder / "cgroup.procs") else set()
    finally:
        with suppress(OSError):
            folder.rmdir()


def _may_enter(procs: Path) -> bool:
    return not subprocess.run(["/bin/sh", "-c", 'echo $$ >"$0"', procs], stderr=subprocess.DEVNULL).returncode


def _limit_memory(folder: Path, size: int) -> None:
    files = [("memory.max", size), ("memory.swap.max", 0), ("memory.oom.group", 1)]
    if not (folder / "memory.max").exists():
        files = [("memory.limit_in_bytes", size), ("memory.memsw.limit_in_bytes", size)]
    for name, value in files:
        with suppress(OSError):  # a kernel without swap has no limit for it
            (folder / name).write_text(str(value))


def _name(what: str) -> str:
    """A name for a group of ours that identifies its owner: by pid, and by the namespace of that pid."""
    return f"{PREFIX}{os.getpid()}-{what}-{_namespace()}"


def _namespace() -> int:
    return os.stat("/proc/self/ns/pid").st_ino


def _kill_all(folder: Path) -> None:
    """Kill the processes in a group, unless one belongs to a namespace that we cannot see: its number reads 0."""
    with suppress(OSError):
        pids = [int(pid) for pid in (folder / "cgroup.procs").read_text().split()]
        for pid in pids if min(pids, default=0) > 1 else ():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def sweep(where: Parents) -> None:
    """Remove the groups of dead referees, and kill what is in them; leave the groups of other namespaces alone.

    Bots die with their referee, but a sandbox that was just being made can leave a process that waits for ever.
    """
    for folder in (folder for parent in where.folders() for folder in parent.glob(f"{PREFIX}*")):
        if _is_left_behind(folder.name):
            deadline = time.monotonic() + REMOVE_WAIT_S
            while folder.exists() and time.monotonic() < deadline:
                _kill_all(folder)
                with suppress(OSError):
                    folder.rmdir()


def _is_left_behind(name: str) -> bool:
    """Tell whether a dead process of our namespace made the group."""
    words = re.fullmatch(f"{PREFIX}([0-9]+)-[a-z0-9]+-([0-9]+)", name)
    if words is None or int(words[2]) != _namespace() or int(words[1]) < 2:
        return False
    try:
        os.kill(int(words[1]), 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass  # the process lives, under another user
    return False
