"""The live line of a comparison: deals, the ratio between its bounds, Elo, speed, time to go."""

from __future__ import annotations

import math
import time
from typing import TextIO

from malice.referee.nouns import format_count
from malice.tournaments.league.contest import SequentialTest
from malice.tournaments.ratings.pairs import convert_to_elo
from malice.tournaments.running.events import ComparisonState, RunEvent
from malice.tournaments.running.progress import Progress, format_duration

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
        """Return the line."""
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


def compute_comparison_state(contest: SequentialTest) -> ComparisonState:
    """Return how a comparison stands."""
    test = contest.test
    return ComparisonState(
        deals=contest.deals,
        counts=tuple(contest.counts),
        elo=estimate_elo(contest),
        llr=contest.llr,
        lower=test.lower if test else None,
        upper=test.upper if test else None,
        accepted=contest.verdict,
    )


def estimate_elo(contest: SequentialTest) -> float | None:
    """Return the Elo difference of the two bots from the deals so far; None if these do not determine it."""
    total, cells = sum(contest.counts), len(contest.counts) - 1
    if not total:
        return None
    score = sum(index * count for index, count in enumerate(contest.counts)) / (cells * total)
    if contest.mean is None:
        return convert_to_elo(score)
    from malice.tournaments.ratings.comparison import Others  # it needs numpy

    return Others(contest.weight, contest.mean).convert_to_elo(score)


def estimate_deals(state: ComparisonState, most: int) -> float | None:
    """Return how many deals are still needed if the ratio moves on as it did; None if that says nothing yet.

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
