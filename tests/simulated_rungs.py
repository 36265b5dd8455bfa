"""Bots of known strength on a simulated ladder: how often the interval of their rating holds it."""

from __future__ import annotations

import random
from collections.abc import Iterator

from malice.tournaments.ladder.climb import LEAST, size_batch
from malice.tournaments.ratings.placement import Meeting, Placement, choose_opponent, expect_score, place_player

RATINGS = (435.0, 1000.0, 1273.0, 1450.0)
DECIDED = 0.5
"""How often the cards decide a deal, so that who wins one of its games loses the other."""
CASES: tuple[tuple[str, float, float | None, int], ...] = (
    ("between two rungs, 60 deals", 1150, None, 60),
    ("equal to a rung, 60 deals", 1000, None, 60),
    ("far above all, 60 deals", 1900, None, 60),
    ("far below all, 60 deals", 150, None, 60),
    ("between two rungs, 400 deals", 700, None, 400),
    ("until within 40", 1100, 40, 5000),
    ("until within 100", 1300, 100, 5000),
)
"""What it is called, the true rating, when to stop: within so many Elo, or after so many deals."""


def measure_rungs(runs: int, seed: int = 1) -> Iterator[tuple[str, float]]:
    """Yield how often the 95 % interval holds the true rating, case by case."""
    for name, truth, within, deals in CASES:
        chance = random.Random(f"{seed} {name}")
        held = sum(_holds(_climb(truth, within, deals, chance), truth) for _ in range(runs))
        yield name, held / runs


def _holds(found: Placement, truth: float) -> bool:
    return (found.low is None or found.low <= truth) and (found.high is None or truth <= found.high)


def _climb(truth: float, within: float | None, most: int, chance: random.Random) -> Placement:
    counts = [[0] * 5 for _ in RATINGS]
    batch_end = 0
    for deal in range(1, most + 1):
        meetings = [Meeting(rating, tuple(each)) for rating, each in zip(RATINGS, counts, strict=True)]
        if deal > batch_end:
            batch_end += size_batch(batch_end, most)
            chosen = choose_opponent(meetings, [1.0] * len(RATINGS))
        counts[chosen][_play_deal(expect_score(truth - RATINGS[chosen]), chance)] += 1
        if within is not None and deal >= LEAST and deal == batch_end:
            half = place_player(meetings).half
            if half is not None and half <= within:
                break
    return place_player([Meeting(rating, tuple(each)) for rating, each in zip(RATINGS, counts, strict=True)])


def _play_deal(score: float, chance: random.Random) -> int:
    """Play both games of a deal; return the half points."""
    first = chance.random()
    second = 1 - first if chance.random() < DECIDED else chance.random()
    return 2 * (first < score) + 2 * (second < score)
