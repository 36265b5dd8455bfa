"""The progress of a run on stderr: a bar in a terminal, elsewhere a plain line now and then."""

from __future__ import annotations

import contextlib
import shutil
import time
from typing import Self, TextIO

from malice.referee.nouns import format_count
from malice.tournaments.running.events import GameFinished, RunEvent, VerdictGiven

PLAIN_EVERY_S = 10.0
BAR_EVERY_S = 0.1


class Progress:
    """Counts games and shows the count, as a reader of events or by hand.

    Use it as a context manager, which ends the bar with a newline.

    Args:
        total: the number of games.
        done: how many of them were played before this run.
        out: where to write.
    """

    def __init__(self, total: int, done: int, out: TextIO) -> None:
        self._total = total
        self._before = done
        self._done = done
        self._faults = 0
        self._out = out
        self._bar = out.isatty()
        self._begin = self._shown = time.monotonic()
        self._rate = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._done > self._before:
            self._show()
        if self._bar:
            self._write("\n")

    def read(self, event: RunEvent) -> None:
        """Take an event of the run."""
        match event:
            case VerdictGiven():
                self._faults += 1
            case GameFinished():
                self.count_game()

    def count_game(self) -> None:
        """Count a game."""
        self._done += 1
        if time.monotonic() - self._shown >= (BAR_EVERY_S if self._bar else PLAIN_EVERY_S):
            self._show()

    def set_rate(self, rate: float) -> None:
        """Take how many games a second are played now, where games arrive so many at a time that nobody can count.

        What arrived is the better measure only when all games have.
        """
        self._rate = rate or self._rate

    def say(self, text: str) -> None:
        """Print a line of its own."""
        self._write(f"\n{text}\n" if self._bar else f"{text}\n")

    def _show(self) -> None:
        self._shown = time.monotonic()
        faults = f", {format_count(self._faults, 'fault')}" if self._faults else ""
        text = self.describe(self._shown - self._begin) + faults
        if self._bar:
            room = max(10, shutil.get_terminal_size().columns - len(text) - 4)
            full = room * self._done // self._total
            self._write(f"\r[{'#' * full}{'.' * (room - full)}] {text}")
        else:
            self._write(text + "\n")

    def describe(self, seconds: float) -> str:
        """Return the text beside the bar.

        Args:
            seconds: the time since this run began.
        """
        rate = self._measure(seconds)
        left = format_duration((self._total - self._done) / rate) if rate else "?"
        return f"{self._done}/{format_count(self._total, 'game')}, {rate:.1f} games/s, {left} left"

    def _measure(self, seconds: float) -> float:
        """Return how many games a second are played."""
        counted = (self._done - self._before) / max(seconds, 1e-9)
        return self._rate if self._rate and self._done < self._total else counted

    def _write(self, text: str) -> None:
        # A closed terminal must not cost a game: the hang-up signal stops the run.
        with contextlib.suppress(OSError):
            self._out.write(text)
            self._out.flush()


def format_duration(seconds: float) -> str:
    """Return a duration as people write it: 42 s, 3:07, 2:05:11."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
