"""Limits, priority and a user, which a new process sets for itself between fork and exec."""

from __future__ import annotations

import itertools
import os
import resource
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from malice.referee.isolation.folders import everybody_may_read

FILE_BYTES = 64 << 20
"""The largest file that a bot may write, and the size of its private /tmp."""
FILES = 256
PROCESSES = 64
"""How many processes and threads a bot may have."""
NICE = 5

_FIRST_UID, _UIDS_EACH = 1_000_000_000, 64
_numbers = itertools.count()


def explain_missing_uids() -> str | None:
    """Return why bots cannot have users of their own here, or None."""
    if os.geteuid() != 0:
        return "only root may start processes as another user"
    uid = next_uid()
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, count = map(int, line.split())
        if first <= uid < first + count:
            return None
    return f"user {uid} is not mapped in this user namespace"


def next_uid() -> int:
    """Return a user that no other bot on this machine has, from our own pid and a running number."""
    return _FIRST_UID + os.getpid() * _UIDS_EACH + next(_numbers) % _UIDS_EACH


def find_unreadable(paths: Iterable[Path]) -> Path | None:
    """Return the first of these paths and the folders above them that some users may not read or enter."""
    paths = list(paths)
    for path in paths:
        if not everybody_may_read(path.stat()):
            return path
    above = sorted({parent for path in paths for parent in path.resolve().parents})
    return next((parent for parent in above if not parent.stat().st_mode & stat.S_IXOTH), None)


def count_user_threads() -> int:
    """Count the threads of our user: its limit of processes counts them all."""
    uid, threads = os.getuid(), 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                if folder.stat().st_uid == uid:
                    threads += len(os.listdir(folder / "task"))
    return threads


def make_limiter(memory_mb: int | None, processes: int | None, uid: int | None = None) -> Callable[[], None]:
    """Return a function that puts the calling process under limits.

    Args:
        memory_mb: of address space; None where a control group counts the memory in use.
        processes: of the user; None sets no limit.
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
