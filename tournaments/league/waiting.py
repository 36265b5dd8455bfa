"""Locks of other programs: waited for, said once, and given up after a while."""

from __future__ import annotations

import contextlib
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TextIO, TypeVar

from tournaments.errors import LockedLeague

T = TypeVar("T")

WAIT_S = 30.0
"""How long a lock of somebody else is waited for."""
ANNOUNCE_AFTER_S = 0.5
"""How long a wait has to last before it is worth a word: a program that writes holds its lock for milliseconds."""
STEP_S = 0.05


class Waiting:
    """Tries again what a lock forbids, until the lock is gone or the time is over.

    Args:
        limit_s: the longest wait, in seconds.
        out: where a wait is announced; None for stderr.
        now: tells the time in seconds.
        sleep: passes so many seconds.
    """

    def __init__(
        self,
        limit_s: float = WAIT_S,
        out: TextIO | None = None,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._limit_s = limit_s
        self._out = out
        self._now = now
        self._sleep = sleep

    def wait_for(self, path: Path, holder: str, attempt: Callable[[], T]) -> T:
        """Return what `attempt` returns once no lock forbids it.

        Args:
            path: the file, for the message.
            holder: what holds the lock and does with it, such as "another program has locked it".
            attempt: is called again and again; fails with `BlockingIOError` or SQLite's "busy" while there is a lock.

        Raises:
            LockedLeague: the lock was still there when the time was over.
        """
        begin, said = self._now(), False
        while True:
            try:
                return attempt()
            except (BlockingIOError, sqlite3.Error) as error:
                if not is_lock(error):
                    raise
            waited = self._now() - begin
            if waited >= self._limit_s:
                raise LockedLeague(f"{path}: {holder}, and had not finished after {self._limit_s:g} s; try again")
            if waited >= ANNOUNCE_AFTER_S and not said:
                said = True
                self._announce(f"{path}: {holder}; waiting for up to {self._limit_s:g} s")
            self._sleep(STEP_S)

    def _announce(self, text: str) -> None:
        with contextlib.suppress(OSError):  # a closed terminal is no reason to stop waiting
            print(text, file=self._out or sys.stderr, flush=True)


def is_lock(error: Exception) -> bool:
    """Tell whether an error says no more than that somebody else holds a lock."""
    if isinstance(error, sqlite3.Error):
        return get_primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    return isinstance(error, BlockingIOError)


def get_primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code; 0 if the error did not come from SQLite itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
