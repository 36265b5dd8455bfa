"""Waits for the locks of other programs, announces a long wait once, and gives up after a while."""

from __future__ import annotations

import contextlib
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TextIO, TypeVar

from malice.tournaments.errors import LockedLeague

T = TypeVar("T")

WAIT_S = 30.0
"""The longest wait for the lock of another program."""
ANNOUNCE_AFTER_S = 0.5
"""The shortest wait worth a message: a program that writes holds its lock for milliseconds."""
STEP_S = 0.05


class Waiting:
    """Retries an attempt that a lock prevents, until the lock is gone or the time is up.

    Args:
        limit_s: the longest wait, in seconds.
        out: where to announce a wait; None for stderr.
        now: returns the time in seconds.
        sleep: waits for a number of seconds.
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
        """Return what `attempt` returns once no lock prevents it.

        Args:
            path: the file, for the message.
            holder: the first half of the message, such as "another program has locked it".
            attempt: retried while it fails with `BlockingIOError` or SQLite's "busy".

        Raises:
            LockedLeague: the lock outlasted the time.
        """
        begin, announced = self._now(), False
        while True:
            try:
                return attempt()
            except (BlockingIOError, sqlite3.Error) as error:
                if not is_lock(error):
                    raise
            waited = self._now() - begin
            if waited >= self._limit_s:
                raise LockedLeague(f"{path}: {holder}, and had not finished after {self._limit_s:g} s; try again")
            if waited >= ANNOUNCE_AFTER_S and not announced:
                announced = True
                self._announce(f"{path}: {holder}; waiting for up to {self._limit_s:g} s")
            self._sleep(STEP_S)

    def _announce(self, text: str) -> None:
        with contextlib.suppress(OSError):  # a closed terminal is no reason to stop waiting
            print(text, file=self._out or sys.stderr, flush=True)


def is_lock(error: Exception) -> bool:
    """Return whether an error only means that another program holds a lock."""
    if isinstance(error, sqlite3.Error):
        return get_primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    return isinstance(error, BlockingIOError)


def get_primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code; 0 if the error is not SQLite's own."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
