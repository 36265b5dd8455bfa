"""What a process sets on itself between fork and exec: limits, priority, and a user of its own."""

from __future__ import annotations

import itertools
import os
import resource
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from referee.isolation.folders import everybody_may_read

FILE_BYTES = 64 << 20
"""The largest file that a bot may write, and the size of its private /tmp."""
FILES = 256
PROCESSES = 64
"""How many processes and threads a bot may have."""
NICE = 5

_FIRST_UID, _UIDS_EACH = 1_000_000_000, 64
_seats = itertools.count()


def explain_missing_uids() -> str | None:
    """Return why bots cannot have users of their own here, or None."""
    if os.geteuid() != 0:
        return "only root may start processes as another user"
    wanted = next_uid()
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, count = map(int, line.split())
        if first <= wanted < first + count:
            return None
    return f"user {wanted} is not mapped in this user namespace"


def next_uid() -> int:
    """Return a user that no other bot of this machine has: by our own pid and a running number."""
    return _FIRST_UID + os.getpid() * _UIDS_EACH + next(_seats) % _UIDS_EACH


def unreadable(paths: Iterable[Path]) -> Path | None:
    """Return the first of these files and folders, and of all above them, that not everybody may read or enter."""
    paths = list(paths)
    for path in paths:
        if not everybody_may_read(path.stat()):
            return path
    above = sorted({parent for path in paths for parent in path.resolve().parents})
    return next((parent for parent in above if not parent.stat().st_mode & stat.S_IXOTH), None)


def count_user_threads() -> int:
    """Count the threads of our user, against which its limit counts."""
    uid, found = os.getuid(), 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                if folder.stat().st_uid == uid:
                    found += len(os.listdir(folder / "task"))
    return found


def make_limiter(memory_mb: int | None, processes: int | None, uid: int | None = None) -> Callable[[], None]:
    """Return what puts the calling process under limits.

    Args:
        memory_mb: of address space; None where a control group counts what is really used.
        processes: of the user; None leaves it.
        uid: the user, and group, to become.
    """
    limits = [(resource.RLIMIT_FSIZE, FILE_BYTES), (resource.RLIMIT_NOFILE, FILES), (resource.RLIMIT_CORE, 0)]
    if memory_mb is not None:
        limits.append((resource.RLIMIT_AS, memory_mb << 20))
    if processes is not None:
        limits.append((resource.RLIMIT_NPROC, processes))

    def arm() -> None:
        for kind, most in limits:
            hard = resource.getrlimit(kind)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, most))
        os.nice(NICE)
        if uid is not None:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)

    return arm
