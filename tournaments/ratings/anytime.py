"""Intervals that hold at any time: whoever looks after every deal and stops when it pleases him keeps his 95 %.

A gambler bets on each deal that the mean score is above, or below, a given one. If it is exactly that, no betting gains
on average, so the capital ever reaches twenty times the stake with a chance of 5 % at most (Ville). The means against
which it never did so form the interval (Waudby-Smith and Ramdas, Estimating means of bounded random variables by
betting, Journal of the Royal Statistical Society B, 2023). Nothing is assumed of how scores are spread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from malice.tournaments.ratings.pairings import Bools, Floats, GroupRows

CHANCE = 0.05
GRID = 501
"""Means that are tried, from 0 to 1."""
SHARE = 0.5
"""The most of the capital that may be lost on one deal."""
BLOCK = 64
"""Deals whose bets are settled together."""
STAKES = np.repeat(np.geomspace(0.02, 0.95, 12), 9)
"""Bets on the score of a bot that meets now one opponent, now another: what each stakes on every deal ..."""
GUESSES = np.tile(np.linspace(0.1, 0.9, 9), 12)
"""... and the score against which it bets."""
HALVINGS = 30


def bound_mean(scores: Sequence[float]) -> tuple[float, float]:
    """Bound the mean score after these deals; the interval holds at all looks together in 95 % of cases.

    Each deal must have the same mean, whatever came before, as deals of two players have.

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
    rise = fall = np.zeros(GRID)
    for begin in range(0, len(seen), BLOCK):
        score, bet = seen[begin : begin + BLOCK, None], bets[begin : begin + BLOCK, None]
        with np.errstate(divide="ignore"):
            up, down = np.minimum(bet, SHARE / grid), np.minimum(bet, SHARE / (1 - grid))
        rises, falls = np.log1p(up * (score - grid)), np.log1p(-down * (score - grid))
        rises[0] += rise
        falls[0] += fall
        rise, fall = np.cumsum(rises, axis=0, out=rises)[-1], np.cumsum(falls, axis=0, out=falls)[-1]
        low, high = _find_kept(np.logaddexp(rises, falls) - math.log(2) < -math.log(CHANCE))
        if low > high:  # a truth beyond all bounds has the chance that is left
            grid = grid[low : low + 1]
            break
        grid, rise, fall = (each[low : high + 1] for each in (grid, rise, fall))
    step = 1 / (GRID - 1)  # the truth may lie between two means that were tried
    return max(0.0, float(grid[0]) - step), min(1.0, float(grid[-1]) + step)


class AnyTime(Struct, frozen=True):
    """An interval that holds at all looks together in 95 % of comparisons, whoever stops them and why."""

    score_low: float
    score_high: float
    elo_low: float | None
    elo_high: float | None


def measure_any_time(scores: Sequence[float], convert: Callable[[float], float | None]) -> AnyTime:
    """Bound the mean score as `bound_mean` does, and say what that means in Elo.

    Args:
        scores: as there.
        convert: returns the Elo of a score.
    """
    low, high = bound_mean(scores)
    return AnyTime(low, high, convert(low), convert(high))


def _find_kept(kept: Bools) -> tuple[int, int]:
    """The highest first and the lowest last column that is kept in a row; rows that keep none say nothing."""
    kept = kept[kept.any(axis=1)]
    last = kept.shape[1] - 1
    return int(kept.argmax(axis=1).max(initial=0)), last - int(kept[:, ::-1].argmax(axis=1).max(initial=0))


def bound_scores(seen: GroupRows, players: int) -> tuple[Floats, Floats]:
    """Bound the expected score of each player from below and above, on average over its deals so far.

    It holds at all looks together in 95 % of cases, whoever the opponents were: no deal needs the mean of another. So
    `bound_mean` is no choice here; its bets must know the mean. Here each deal multiplies the capital by 1 + s (x - g),
    with a stake s and a guess g that never change, and that is at most exp(s (m - g)) on average, where m is what the
    deal was expected to score after all before it. Divided by the product of these, which only the sum of all m
    decides, the capital does not gain, so Ville's inequality bounds that sum. The share of the capital that each pair
    of stake and guess gets is fixed too, so the order of the deals does not matter.

    (Howard, Ramdas, McAuliffe and Sekhon, Time-uniform, nonparametric, nonasymptotic confidence sequences, Annals of
    Statistics 2021, bound the same average in theorem 4, a little wider, as they bound the factors 1 + y once more.)

    Args:
        seen: the points of each player in each deal; a deal with fewer games than others weighs less.
        players: how many there are; of one without deals nothing is known, 0 to 1.
    """
    kinds, kind = np.unique(seen.points + 1j * seen.count, return_inverse=True)
    times = np.zeros((players, len(kinds)))
    np.add.at(times, (seen.player, kind), 1)
    weights = kinds.imag / kinds.imag.max(initial=1)
    points = kinds.real / kinds.imag * weights
    return _bound_below(times, points, weights), 1 - _bound_below(times, weights - points, weights)


def _bound_below(times: Floats, points: Floats, weights: Floats) -> Floats:
    """Bound each player's score from below, given how often it had each kind of deal."""
    gains = np.log1p(STAKES * (points[:, None] - weights[:, None] * GUESSES)) + STAKES * GUESSES * weights[:, None]
    capital, deals = times @ gains, times @ weights
    low, high = np.zeros(len(times)), np.ones(len(times))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        worth = np.logaddexp.reduce(capital - STAKES * (middle * deals)[:, None], axis=1) - math.log(len(STAKES))
        out = worth >= -math.log(CHANCE / 2)
        low, high = np.where(out, middle, low), np.where(out, high, middle)
    return low
