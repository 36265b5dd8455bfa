"""Sequential tests between bots whose true difference is known: what is estimated after they stopped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from malice.tournaments.ratings.comparison import measure_advantage
from malice.tournaments.ratings.pairs import convert_to_elo
from malice.tournaments.ratings.sprt import Sprt, Verdict
from tests.simulated_deals import make_chances

BLOCK = 256
SPLIT = 0.55
"""The share of deals that each bot wins once."""


class Ended(NamedTuple):
    """Where a test ended."""

    counts: list[int]
    verdict: Verdict | None


class Estimates(NamedTuple):
    """What the estimates of many tests come to."""

    coverage: float
    """How often the 95 % interval holds the truth."""
    above: float
    """How often the estimate is above the truth."""
    bias: float
    """The median of the estimate less the truth, in Elo."""
    deals: float
    """How many deals a test took, on average."""


def measure_estimates(
    test: Sprt, elo: float, runs: int, *, most: int = 100_000, corrected: bool = True, seed: int = 1
) -> Estimates:
    """Return how good the estimates are after a test has stopped.

    Args:
        test: the test.
        elo: the true difference, in Elo of its model.
        runs: how many tests.
        most: the deals after which a test ends undecided.
        corrected: whether the estimates allow for the stopping.
        seed: of all chance.
    """
    chances = make_chances(test, elo, SPLIT)
    truth = convert_to_elo(sum(index / 4 * chance for index, chance in enumerate(chances)))
    assert truth is not None
    held = above = deals = 0
    found = []
    for ended in run_tests(test, chances, runs, most, np.random.default_rng(seed)):
        advantage = measure_advantage(ended.counts, 2, stopped=(test, ended.verdict) if corrected else None)
        low, middle, high = advantage.elo_low, advantage.elo, advantage.elo_high
        assert middle is not None
        found.append(middle)
        held += (low is None or low <= truth) and (high is None or truth <= high)
        above += middle > truth
        deals += sum(ended.counts)
    return Estimates(held / runs, above / runs, float(np.median(found)) - truth, deals / runs)


def run_tests(test: Sprt, chances: list[float], runs: int, most: int, rng: np.random.Generator) -> Iterator[Ended]:
    """Yield where so many tests end, all of them walking side by side.

    Where the normal approximation of the ratio is beyond a bound, the ratio itself decides.

    Args:
        test: the test.
        chances: those of LL, LD, WL or DD, WD, WW.
        runs: how many tests.
        most: the deals after which a test ends undecided.
        rng: all chance.
    """
    counts = np.zeros((runs, 5), np.int64)
    walking = np.arange(runs)
    for begin in range(0, most, BLOCK):
        cells = rng.choice(5, (len(walking), min(BLOCK, most - begin)), p=np.array(chances) / sum(chances))
        seen = counts[walking, None] + (cells[:, :, None] == np.arange(5)).cumsum(axis=1)
        total = seen.sum(axis=2)
        score = seen @ np.arange(5) / (4 * total)
        sigma = np.sqrt(np.maximum(seen @ (np.arange(5) ** 2) / (16 * total) - score**2, 1e-9))
        low, high = _find_leads(test, sigma)
        step = high - low
        ratio = total * step * ((score - 0.5) / sigma - (low + high) / 2)
        over = (ratio >= test.upper) | (ratio <= test.lower)
        counts[walking] = seen[:, -1]
        ended = np.zeros(len(walking), np.bool_)
        for place, at in np.argwhere(over).tolist():
            if not ended[place] and (verdict := test.judge(test.compute_llr(seen[place, at].tolist(), 2))):
                ended[place] = True
                yield Ended(seen[place, at].tolist(), verdict)
        walking = walking[~ended]
        if not len(walking):
            return
    for number in walking:
        yield Ended(counts[number].tolist(), None)


def _find_leads(test: Sprt, sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = test.find_leads(1.0, 2)
    if test.model == "normalised":
        return np.full_like(sigma, low), np.full_like(sigma, high)
    return low / sigma, high / sigma
