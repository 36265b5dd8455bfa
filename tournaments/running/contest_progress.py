"""The live line of a comparison: deals, the ratio between its bounds, Elo, speed, time to go."""

from __future__ import annotations

import math
import time
from typing import TextIO

from referee.nouns import format_count
from tournaments.league.contest import Contest
from tournaments.ratings.pairs import convert_to_elo
from tournaments.ratings.sprt import Sprt
from tournaments.running.progress import Progress, format_duration

LEAST_DEALS = 20
"""With fewer deals nobody can say when a test ends."""


class ContestProgress(Progress):
    """Shows how a comparison stands.

    Args:
        contest: grows while games finish.
        most: the deals of the schedule.
        games: how many games there are, and how many were played before.
        until: the time at which the run is over in any case, in seconds since 1970.
        out: where to write.
    """

    def __init__(self, contest: Contest, most: int, games: tuple[int, int], until: float, out: TextIO) -> None:
        super().__init__(*games, out)
        self._contest = contest
        self._most = most
        self._until = until
        self._deals_before = contest.deals

    def describe(self, seconds: float) -> str:
        """Return the line."""
        contest = self._contest
        deals = format_count(contest.deals, "deal")
        words = [deals if contest.test else f"{contest.deals}/{format_count(self._most, 'deal')}"]
        if contest.test and contest.llr is not None:
            words.append(f"LLR {contest.llr:.2f} ({contest.test.lower:.2f} .. {contest.test.upper:.2f})")
        if (elo := estimate_elo(contest)) is not None:
            words.append(f"Elo {elo:+.0f}")
        rate = (contest.deals - self._deals_before) / max(seconds, 1e-9)
        words.append(f"{rate:.1f} deals/s")
        left = estimate_deals(contest, self._most)
        if left and rate and contest.verdict is None:
            words.append(f"about {format_duration(min(left / rate, max(0.0, self._until - time.time())))} to go")
        return ", ".join(words)


def estimate_elo(contest: Contest) -> float | None:
    """Return the Elo difference of two bots that meet each other, from the deals so far."""
    total, cells = sum(contest.counts), len(contest.counts) - 1
    if not total or contest.weight != contest.games:
        return None
    return convert_to_elo(sum(index * count for index, count in enumerate(contest.counts)) / (cells * total))


def estimate_deals(contest: Contest, most: int) -> float | None:
    """Return how many deals are still needed if the ratio moves on as it did; None if that says nothing yet.

    Args:
        contest: as it stands.
        most: the deals of the schedule.
    """
    if contest.test is None:
        return most - contest.deals
    if contest.deals < LEAST_DEALS or not contest.llr:
        return None
    gap = _find_bound(contest.test, contest.llr) - contest.llr
    return min(most - contest.deals, math.ceil(gap / contest.llr * contest.deals))


def _find_bound(test: Sprt, llr: float) -> float:
    return test.upper if llr > 0 else test.lower
