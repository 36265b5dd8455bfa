"""Intervals that hold at any time: whoever looks after every deal and stops when it pleases him keeps his 95 %.

A gambler bets on each deal that the mean score is above, or below, a given one. If it is exactly that, no betting gains
on average, so the capital ever reaches twenty times the stake with a chance of 5 % at most (Ville). The means against
which it never did so form the interval (Waudby-Smith and Ramdas, Estimating means of bounded random variables by
betting, Journal of the Royal Statistical Society B, 2023). Nothing is assumed of how scores are spread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

CHANCE = 0.05
GRID = 501
"""Means that are tried, from 0 to 1."""
SHARE = 0.5
"""The most of the capital that may be lost on one deal."""


def bound_mean(scores: Sequence[float]) -> tuple[float, float]:
    """Return the interval of the mean score after these deals, which holds at all looks together in 95 % of cases.

    Args:
        scores: of each deal, 0..1, in the order in which they count.
    """
    if not scores:
        return 0.0, 1.0
    seen = np.array(scores)
    number = np.arange(1, len(seen) + 1)
    means = (0.5 + np.cumsum(seen)) / (number + 1)
    spreads = (0.25 + np.cumsum((seen - means) ** 2)) / (number + 1)
    known = np.concatenate(([0.25], spreads[:-1]))  # of the deals before: a bet knows nothing of its own
    bets = np.sqrt(2 * math.log(2 / CHANCE) / (known * number * np.log(number + 1)))
    grid = np.linspace(0, 1, GRID)
    with np.errstate(divide="ignore"):
        up, down = SHARE / grid, SHARE / (1 - grid)
    rise = fall = np.zeros(GRID)
    low, high = 0, GRID - 1
    for score, bet in zip(seen.tolist(), bets.tolist(), strict=True):
        ahead = score - grid
        rise = rise + np.log1p(np.minimum(bet, up) * ahead)
        fall = fall + np.log1p(-np.minimum(bet, down) * ahead)
        kept = np.flatnonzero(np.logaddexp(rise, fall) - math.log(2) < -math.log(CHANCE))
        if kept.size:  # a truth beyond all bounds has the chance that is left
            low, high = max(low, int(kept[0])), min(high, int(kept[-1]))
    step = 1 / (GRID - 1)  # the truth may lie between two means that were tried
    return max(0.0, float(grid[low]) - step), min(1.0, float(grid[max(low, high)]) + step)
