"""How far a tournament is, on stderr: a bar in a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import contextlib
import shutil
import time
from typing import TextIO

PLAIN_EVERY_S = 10.0
BAR_EVERY_S = 0.1


class Progress:
    """Counts games and says so; use it as a context manager, so that the bar ends with a line of its own.

    Args:
        total: games in all.
        done: games that were played before this run.
        out: where to write.
    """

    def __init__(self, total: int, done: int, out: TextIO) -> None:
        self._total = total
        self._before = done
        self._done = done
        self._faults = 0
        self._out = out
        self._bar = out.isatty()
        self._begin = self._said = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._done > self._before:
            self._show()
        if self._bar:
            self._write("\n")

    def count_game(self, faults: int = 0) -> None:
        """Count a game and the verdicts in it."""
        self._done += 1
        self._faults += faults
        if time.monotonic() - self._said >= (BAR_EVERY_S if self._bar else PLAIN_EVERY_S):
            self._show()

    def _show(self) -> None:
        self._said = time.monotonic()
        rate = (self._done - self._before) / max(self._said - self._begin, 1e-9)
        left = format_duration((self._total - self._done) / rate) if rate else "?"
        faults = f", {self._faults} faults" if self._faults else ""
        text = f"{self._done}/{self._total} games, {rate:.1f} games/s, {left} left{faults}"
        if self._bar:
            room = max(10, shutil.get_terminal_size().columns - len(text) - 4)
            full = room * self._done // self._total
            self._write(f"\r[{'#' * full}{'.' * (room - full)}] {text}")
        else:
            self._write(text + "\n")

    def _write(self, text: str) -> None:
        # A terminal that was closed is no reason to lose a game: the hang-up that comes with it stops the run.
        with contextlib.suppress(OSError):
            self._out.write(text)
            self._out.flush()


def format_duration(seconds: float) -> str:
    """Return a span of time as people say it: 42 s, 3:07, 2:05:11."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
