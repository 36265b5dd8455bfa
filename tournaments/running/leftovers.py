"""Which processes a run has started, written down beside the league, so that the next run can end what it left.

A run that is killed together with its referees cannot end the children of its bots. Processes are known by
number and start time, and groups by members that can only be ours; nothing is ever ended by its name.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.bot import kill_group, read_start_time
from referee.records import Started

BEAT_S = 1.0
"""How often a run says that it lives."""

_TICKS = os.sysconf("SC_CLK_TCK")


class LedgerFile(Struct, frozen=True):
    """What the file says."""

    boot: str
    """The boot of the machine that the numbers belong to."""
    beat: int
    """Until when the processes are known to have been ours, in clock ticks since boot."""
    leaders: tuple[Started, ...]
    """Each leads a session and a group of its own."""


class ProcessLedger:
    """The processes of one run, in a file that is gone when the run has ended in order.

    Args:
        path: the file; None keeps no account.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._leaders: dict[int, Started] = {}

    def add(self, leader: Started) -> None:
        """Write down a process that leads a session of its own."""
        self._leaders[leader.pid] = leader
        self.beat()

    def remove(self, pid: int) -> None:
        """Strike out a process that is gone, and its group with it."""
        self._leaders.pop(pid, None)

    def beat(self) -> None:
        """Say that the run lives, and with it its processes."""
        if self._path is None:
            return
        ledger = LedgerFile(_read_boot_id(), _read_boot_clock(), tuple(self._leaders.values()))
        draft = self._path.with_name(f"{self._path.name}.tmp")
        # A disk that is full is met where games are stored; the account is the smaller loss.
        with contextlib.suppress(OSError):
            draft.write_bytes(msgspec.json.encode(ledger))
            os.replace(draft, self._path)

    def close(self) -> None:
        """Forget everything: no process is left."""
        if self._path is not None:
            for path in (self._path, self._path.with_name(f"{self._path.name}.tmp")):
                with contextlib.suppress(OSError):
                    path.unlink()


def end_leftovers(path: Path) -> int:
    """End what a run that died has left according to its file; return how many groups of processes that were."""
    try:
        ledger = msgspec.json.decode(path.read_bytes(), type=LedgerFile)
    except (OSError, msgspec.MsgspecError):
        return 0  # it ended in order, or the power was cut: then nothing is left either
    if ledger.boot != _read_boot_id():
        return 0
    return sum(_is_ours(leader, ledger.beat) and kill_group(leader.pid) for leader in ledger.leaders)


def _is_ours(leader: Started, beat: int) -> bool:
    """Tell whether the group of this number is still the one that the leader founded.

    The kernel gives the number to nobody else while a member lives; and who entered the group while its
    leader was known to live is a member of ours, which the number alone would not prove.
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
