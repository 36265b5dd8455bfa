"""What the kernel reports on processes that it killed for lack of memory, and on how any process ended."""

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
"""The first version of `struct pidfd_info`: a mask of what to return, then the numbers; the wait status is last."""
_PIDFD_INFO_EXIT = 1 << 3


def count_kills() -> int:
    """Return how many processes the kernel killed for lack of memory in our own control group.

    Where no group counts them, return the count of the whole machine since boot.
    """
    return read_field(find_counter(), _KILLED) or 0


@cache
def find_counter() -> Path:
    """Return the file that holds that count; look for it only once per process."""
    return next((path for path in _list_own_counters() if read_field(path, _KILLED) is not None), Path("/proc/vmstat"))


def read_field(path: Path, name: str) -> int | None:
    """Return a number from a file of lines `name number`, or None if there is none."""
    with suppress(OSError):
        for line in path.read_text().splitlines():
            word, _, number = line.partition(" ")
            if word == name:
                return int(number)
    return None


def read_wait_status(pidfd: int) -> int | None:
    """Return the wait status of a process that another process has reaped; None where it is unknown.

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
