"""How often an interval that holds at any time leaves the truth out at one of its looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from malice.tournaments.ratings.anytime import bound_mean, bound_scores
from malice.tournaments.ratings.pairings import Floats, GroupRows

DEALS = 1000
KINDS: dict[str, tuple[float, ...]] = {
    "equal bots, half of the deals shared": (0.25, 0, 0.5, 0, 0.25),
    "a favourite of 95 : 5": (0.01, 0, 0.08, 0, 0.91),
    "nearly all deals shared": (0.02, 0, 0.95, 0, 0.03),
}


def measure_misses(runs: int, deals: int = DEALS, seed: int = 1) -> Iterator[tuple[str, float]]:
    """Yield for each kind of deals how often the truth is left out at any look: the intervals only ever shrink."""
    rng = np.random.default_rng(seed)
    cells = np.arange(5) / 4
    for name, chances in KINDS.items():
        truth = float(cells @ np.array(chances))
        ends = [bound_mean(rng.choice(cells, deals, p=chances).tolist()) for _ in range(runs)]
        yield name, sum(not low <= truth <= high for low, high in ends) / runs


LOOKS = 100
"""At a bot that meets others in a live tournament, equally far apart."""
STRENGTHS = np.array([0.85, 0.5, 0.15])
"""What a bot scores against a weak, an equal and a strong opponent."""
Course = Callable[[np.random.Generator, int], tuple[Floats, Floats]]
"""Returns the scores of so many deals, and what each was expected to be, given those before it."""


def play_in_turn(rng: np.random.Generator, deals: int) -> tuple[Floats, Floats]:
    """Meet all opponents in turn."""
    expected = np.resize(STRENGTHS, deals)
    return rng.binomial(2, expected) / 2, expected


def play_upwards(rng: np.random.Generator, deals: int) -> tuple[Floats, Floats]:
    """Meet all weak opponents first and all strong ones last."""
    expected = np.repeat(STRENGTHS, -(-deals // 3))[:deals]
    return rng.binomial(2, expected) / 2, expected


def play_by_results(rng: np.random.Generator, deals: int) -> tuple[Floats, Floats]:
    """Meet a stronger opponent after a deal that was won, and a weaker one after one that was lost."""
    scores, expected, at = np.zeros(deals), np.zeros(deals), 1
    for deal, (one, other) in enumerate(rng.random((deals, 2)).tolist()):
        expected[deal] = mean = STRENGTHS[at]
        scores[deal] = (int(one < mean) + int(other < mean)) / 2
        at = min(2, max(0, at + round(2 * scores[deal] - 1)))
    return scores, expected


COURSES: dict[str, Course] = {
    "weak, equal and strong opponents in turn": play_in_turn,
    "weak opponents first, strong ones last": play_upwards,
    "a stronger opponent after each win": play_by_results,
}


def measure_live_misses(
    runs: int, deals: int = DEALS, looks: int = LOOKS, seed: int = 1
) -> Iterator[tuple[str, float]]:
    """Yield for each course how often the mean of the expected scores so far is left out at any look."""
    rng = np.random.default_rng(seed)
    for name, play in COURSES.items():
        yield name, sum(_misses(*play(rng, deals), looks) for _ in range(runs)) / runs


def _misses(scores: Floats, expected: Floats, looks: int) -> bool:
    """Whether the truth is left out at a look; each look is a player here, and has all deals up to it."""
    ends = np.linspace(0, len(scores), looks + 1)[1:].astype(np.int64)
    player, deal = np.nonzero(np.arange(len(scores)) < ends[:, None])
    low, high = bound_scores(GroupRows(player, scores[deal] * 2, np.full(len(deal), 2.0), np.ones(len(deal))), looks)
    truth = np.cumsum(expected)[ends - 1] / ends
    return bool(((truth < low) | (high < truth)).any())
