"""Progress on stderr, of a run, a comparison or replays: a bar in a terminal, elsewhere a plain line now and then."""

from __future__ import annotations

import contextlib
import math
import shutil
import time
from typing import Self, TextIO

from malice.referee.nouns import format_count
from malice.tournaments.league.counting import SequentialTest
from malice.tournaments.ratings.pairs import convert_to_elo
from malice.tournaments.running.events import ComparisonState, GameFinished, RunEvent, VerdictGiven

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
        """The text beside the bar.

        Args:
            seconds: the time since this run began.
        """
        rate = self._measure(seconds)
        left = format_duration((self._total - self._done) / rate) if rate else "?"
        return f"{self._done}/{format_count(self._total, 'game')}, {rate:.1f} games/s, {left} left"

    def _measure(self, seconds: float) -> float:
        """How many games a second are played."""
        counted = (self._done - self._before) / max(seconds, 1e-9)
        return self._rate if self._rate and self._done < self._total else counted

    def _write(self, text: str) -> None:
        # A closed terminal must not cost a game: the hang-up signal stops the run.
        with contextlib.suppress(OSError):
            self._out.write(text)
            self._out.flush()


def format_duration(seconds: float) -> str:
    """A duration as people write it: 42 s, 3:07, 2:05:11."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def format_bound(seconds: float) -> str:
    """What nothing exceeds, rounded up, in words that nobody takes for a time of day: 42 s, 13 min, 4 h 1 min."""
    if seconds <= 60:
        return f"{math.ceil(seconds)} s"
    hours, minutes = divmod(math.ceil(seconds / 60), 60)
    return " ".join(f"{count} {unit}" for count, unit in ((hours, "h"), (minutes, "min")) if count)


class ReplayProgress(Progress):
    """Counts games as they are played again.

    Without a terminal there is a plain line now and then, and none if it is over before the first: nothing changes in
    the league, so nobody needs a last word.

    Args:
        out: where to write.
        doing: what they are played again for.
    """

    def __init__(self, out: TextIO, doing: str = "taking luck off") -> None:
        super().__init__(0, 0, out)
        self._doing = doing

    def __exit__(self, *error: object) -> None:
        if self._bar and self._total:
            super().__exit__(*error)

    def expect(self, games: int) -> None:
        """Learn that so many more games are to be played again."""
        self._total += games

    def describe(self, seconds: float) -> str:
        return f"{self._doing}: {super().describe(seconds)}"


LEAST_DEALS = 20
"""With fewer deals nobody can say when a test ends."""


class ComparisonProgress(Progress):
    """Shows how a comparison stands.

    Args:
        state: how it stands before the first game.
        most: the deals of the schedule.
        games: how many games there are, and how many were played before.
        until: the time at which the run is over in any case, in seconds since 1970.
        out: where to write.
    """

    def __init__(self, state: ComparisonState, most: int, games: tuple[int, int], until: float, out: TextIO) -> None:
        super().__init__(*games, out)
        self._state = state
        self._most = most
        self._until = until
        self._deals_before = state.deals

    def read(self, event: RunEvent) -> None:
        """Take an event of the run."""
        if isinstance(event, ComparisonState):
            self._state = event
        super().read(event)

    def describe(self, seconds: float) -> str:
        state = self._state
        deals = format_count(state.deals, "deal")
        words = [deals if state.llr is not None else f"{state.deals}/{format_count(self._most, 'deal')}"]
        if state.llr is not None:
            words.append(f"LLR {state.llr:.2f} ({state.lower:.2f} .. {state.upper:.2f})")
        if state.elo is not None:
            words.append(f"Elo {state.elo:+.0f}")
        rate = (state.deals - self._deals_before) / max(seconds, 1e-9)
        if self._rate:
            rate = self._rate * self._most / self._total
        words.append(f"{rate:.1f} deals/s")
        left = estimate_deals(state, self._most)
        if left and rate and state.accepted is None:
            words.append(f"about {format_duration(min(left / rate, max(0.0, self._until - time.time())))} to go")
        return ", ".join(words)


def compute_comparison_state(sequential: SequentialTest) -> ComparisonState:
    test = sequential.test
    return ComparisonState(
        deals=sequential.deals,
        counts=tuple(sequential.counts),
        elo=estimate_elo(sequential),
        llr=sequential.llr,
        lower=test.lower if test else None,
        upper=test.upper if test else None,
        accepted=sequential.verdict,
    )


def estimate_elo(sequential: SequentialTest) -> float | None:
    """The Elo difference of the two bots from the deals so far; None if these do not determine it."""
    total, cells = sum(sequential.counts), len(sequential.counts) - 1
    if not total:
        return None
    score = sum(index * count for index, count in enumerate(sequential.counts)) / (cells * total)
    if sequential.mean is None:
        return convert_to_elo(score)
    from malice.tournaments.ratings.comparison import Others  # it needs numpy

    return Others(sequential.weight, sequential.mean).convert_to_elo(score)


def estimate_deals(state: ComparisonState, most: int) -> float | None:
    """How many deals are still needed if the ratio moves on as it did; None if that says nothing yet.

    Args:
        state: how the comparison stands.
        most: the deals of the schedule.
    """
    if state.llr is None or state.lower is None or state.upper is None:
        return most - state.deals
    if state.deals < LEAST_DEALS or not state.llr:
        return None
    gap = (state.upper if state.llr > 0 else state.lower) - state.llr
    return min(most - state.deals, math.ceil(gap / state.llr * state.deals))
