"""What the kernel tells of processes that it killed for want of memory, and of how any process ended."""

from __future__ import annotations

import fcntl
import struct
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

_KILLED = "oom_kill"
_PIDFD_GET_INFO = 0xC040FF0B
_INFO = struct.Struct("=QQ11Ii")
"""`struct pidfd_info` as it was first: what is asked for and given, then the numbers, the wait status last."""
_PIDFD_INFO_EXIT = 1 << 3


def count_kills() -> int:
    """Return how many processes were killed for want of memory in our own control group.

    Where no group counts, those of the whole machine since boot are meant.
    """
    return read_field(counter(), _KILLED) or 0


@cache
def counter() -> Path:
    """Return the file that says how many; found out once in each process."""
    return next((path for path in _own_counters() if read_field(path, _KILLED) is not None), Path("/proc/vmstat"))


def read_field(path: Path, name: str) -> int | None:
    """Return a number from a file of lines `name number`, or None if there is none."""
    with suppress(OSError):
        for line in path.read_text().splitlines():
            word, _, number = line.partition(" ")
            if word == name:
                return int(number)
    return None


def wait_status(pidfd: int) -> int | None:
    """Return how a process has ended that somebody else has reaped, as `wait` says it; None where that is unknown.

    Linux 6.15 and newer tell.
    """
    if pidfd < 0:
        return None
    asked = bytearray(_INFO.pack(_PIDFD_INFO_EXIT, *[0] * 13))
    with suppress(OSError):
        fcntl.ioctl(pidfd, _PIDFD_GET_INFO, asked)
        given, *_, status = _INFO.unpack(asked)
        return int(status) if given & _PIDFD_INFO_EXIT else None
    return None


def groups() -> Iterator[tuple[str, str]]:
    """Yield each controller of version 1, and "" for version 2, with our group in it."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        yield from ((name, path) for name in names.split(","))


def _own_counters() -> Iterator[Path]:
    own = dict(groups())
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == "cgroup2":
            # Without those of the groups below, which are none of ours.
            yield Path(place, own.get("", "/").lstrip("/"), "memory.events.local")
        elif kind == "cgroup" and "memory" in options.split(","):
            yield Path(place, own.get("memory", "/").lstrip("/"), "memory.oom_control")
