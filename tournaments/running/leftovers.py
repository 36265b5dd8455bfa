"""The processes of a run, recorded beside the league, so that the next run can end any that are left.

A run that is killed together with its referees cannot end the children of its bots. A process is identified by
its number and start time, and a group by members that can only be ours; no process is ever ended by its name.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from malice.referee.bot import kill_group, read_start_time
from malice.referee.records import Started

BEAT_S = 1.0
"""How often a run records that it is alive."""

_TICKS = os.sysconf("SC_CLK_TCK")


class LedgerFile(Struct, frozen=True):
    """The content of the file."""

    boot: str
    """The boot of the machine that the numbers belong to."""
    beat: int
    """The last time at which the processes were certainly ours, in clock ticks since boot."""
    leaders: tuple[Started, ...]
    """Each leads a session and a group of its own."""


class ProcessLedger:
    """The processes of one run, in a file that is deleted when the run ends in order.

    Args:
        path: the file; None records nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._leaders: dict[int, Started] = {}

    def add(self, leader: Started) -> None:
        """Record a process that leads a session of its own."""
        self._leaders[leader.pid] = leader
        self.beat()

    def remove(self, pid: int) -> None:
        """Remove a process that has ended, and with it its group."""
        self._leaders.pop(pid, None)

    def beat(self) -> None:
        """Record that the run and its processes are alive."""
        if self._path is None:
            return
        ledger = LedgerFile(_read_boot_id(), _read_boot_clock(), tuple(self._leaders.values()))
        draft = self._path.with_name(f"{self._path.name}.tmp")
        # A full disk stops the run when it stores a game; the loss of this file matters less.
        with contextlib.suppress(OSError):
            draft.write_bytes(msgspec.json.encode(ledger))
            os.replace(draft, self._path)

    def close(self) -> None:
        """Delete the file: no process is left."""
        if self._path is not None:
            for path in (self._path, self._path.with_name(f"{self._path.name}.tmp")):
                with contextlib.suppress(OSError):
                    path.unlink()


def end_leftovers(path: Path) -> int:
    """End the processes that a killed run left, according to its file; return the number of process groups."""
    try:
        ledger = msgspec.json.decode(path.read_bytes(), type=LedgerFile)
    except (OSError, msgspec.MsgspecError):
        return 0  # the run ended in order, or the power was cut: either way no process is left
    if ledger.boot != _read_boot_id():
        return 0
    return sum(_is_ours(leader, ledger.beat) and kill_group(leader.pid) for leader in ledger.leaders)


def _is_ours(leader: Started, beat: int) -> bool:
    """Whether the group of this number is still the one that our leader made.

    The kernel does not reuse the number while a member lives. The number alone proves nothing, but a member that
    started while our leader was certainly alive is ours.
    """
    if read_start_time(leader.pid) not in (leader.start_time, None):
        return False
    last = beat + int(BEAT_S * _TICKS)
    return any(leader.start_time <= started <= last for started in list_group_members(leader.pid))


def list_group_members(group: int) -> Iterator[int]:
    """Yield the start times of the processes, not yet dead, in the session and group of this number."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, group_of, session, *fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue
            if int(group_of) == int(session) == group and state not in (b"Z", b"X"):
                yield int(fields[15])


def _read_boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _read_boot_clock() -> int:
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS)
