"""Scores without the luck that can be measured: the same on average, with a smaller spread."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from malice.tournaments.ratings.covariance import student_quantile
from malice.tournaments.ratings.pairings import Floats
from malice.tournaments.ratings.pairs import convert_to_elo

FEWEST = 20
"""Fewer deals do not tell how much smaller the spread is."""
FOLDS = 10
GAIN = 1.05
"""A score without luck is shown only if it is worth more times the games than this."""


class Adjustment(Struct, frozen=True):
    """What deals say about the first of two players once luck is taken off."""

    score: float
    """Its share of the points less its luck; chance may carry it beyond 0 or 1."""
    score_low: float
    score_high: float
    """The 95 % interval, with the deal as the unit."""
    elo: float | None
    """None where the score, or the bound, is not between 0 and 1."""
    elo_low: float | None
    elo_high: float | None
    factor: float
    """How many times the games would tell as much without it: the ratio of the variances."""
    factor_low: float
    factor_high: float
    """The 95 % interval of the factor."""
    functions: tuple[str, ...] = ()
    """The hashes of the functions that said what luck was, one for each ruleset."""


def adjust_scores(
    scores: Sequence[float],
    lucks: Sequence[float],
    convert: Callable[[float], float | None] = convert_to_elo,
) -> Adjustment | None:
    """Return the adjusted score; None unless its spread is smaller by a gain that is worth showing.

    How much of the measured luck is taken off is fitted to the deals: an evaluator that is wrong about two bots would
    else add noise. A deal is adjusted by what the other folds say, never by itself, so that its luck is still 0 on
    average.

    The interval of the factor is that of the logarithm of the ratio of two variances that hang together, by the delta
    method; it assumes nothing about how results are spread.

    Args:
        scores: of each deal, 0..1.
        lucks: of the same deals; on average over the orders of the cards, each is 0.
        convert: returns the Elo difference of a score, if it has one.
    """
    if len(scores) < FEWEST:
        return None
    plain = np.array(scores)
    adjusted = plain - fit_luck(plain, np.array(lucks))
    ratio = _compare_variances(plain, adjusted)
    if ratio is None or ratio[1] <= GAIN:
        return None
    low, factor, high = ratio
    mean = float(adjusted.mean())
    half = student_quantile(len(adjusted) - 1) * float(adjusted.std(ddof=1)) / math.sqrt(len(adjusted))
    return Adjustment(
        score=mean,
        score_low=mean - half,
        score_high=mean + half,
        elo=convert(mean),
        elo_low=convert(mean - half),
        elo_high=convert(mean + half),
        factor=factor,
        factor_low=low,
        factor_high=high,
    )


def fit_luck(scores: Floats, lucks: Floats) -> Floats:
    """Return how much of its score each deal owes to luck, by a line fitted to the other folds."""
    fold = np.arange(len(scores)) % FOLDS
    share = np.zeros(len(scores))
    for each in range(FOLDS):
        others = fold != each
        spread = np.var(lucks[others])
        if spread > 0:
            share[~others] = np.mean((scores[others] - scores[others].mean()) * lucks[others]) / spread
    return share * lucks


def _compare_variances(one: Floats, other: Floats) -> tuple[float, float, float] | None:
    """Return the ratio of two variances between the ends of its interval; None if one of them is 0."""
    squares = [(values - values.mean()) ** 2 for values in (one, other)]
    first, second = (float(each.mean()) for each in squares)
    if min(first, second) < 1e-12:
        return None
    influence = squares[0] / first - squares[1] / second
    half = student_quantile(len(one) - 1) * float(influence.std(ddof=1)) / math.sqrt(len(one))
    ratio = first / second
    return ratio * math.exp(-half), ratio, ratio * math.exp(half)
