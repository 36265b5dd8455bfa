"""Estimates after a sequential test, whose end depends on the results: corrected for when it stopped.

The log-likelihood ratio moves as a Brownian motion whose drift is what we want to know, until it meets a bound or the
deals are over. All ends lie in one order: a sooner end at the lower bound means a weaker player, a sooner one at the
upper bound a stronger one, and between them lie the tests that did not end, by their ratio (Siegmund, Sequential
Analysis, 1985). The chance of an end that is as low or lower falls with the drift. The drifts for which it is 97.5, 50
and 2.5 % are the interval and the estimate that is too high as often as too low.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from malice.tournaments.ratings.sprt import Sprt, Verdict

HALVINGS = 40
FARTHEST = 12.0
"""Standard errors on either side of the plain estimate between which the corrected one is looked for."""


class Corrected(NamedTuple):
    """A score that is too high as often as too low, with its 95 % interval."""

    low: float
    score: float
    high: float
    lead: float
    """How many standard deviations of a deal the score lies above one half."""


def correct_score(
    test: Sprt,
    verdict: Verdict | None,
    counts: Sequence[int],
    games: float,
    mean: float | None = None,
    widen: float = 1.0,
) -> Corrected | None:
    """Correct a player's score for the test that chose when to stop; None if nothing can tell.

    Args:
        test: the test.
        verdict: what it accepted; None if the deals were over before.
        counts: as for `Sprt.compute_llr`, as `games` and `mean`.
        games: how many games a deal has.
        mean: what the two score against others, if they do not meet each other.
        widen: how many times its plain error an error of the score is, since few deals tell their own spread badly.
    """
    total, cells = sum(counts), len(counts) - 1
    if not total or max(counts) == total:
        return None
    score = sum(index * count for index, count in enumerate(counts)) / (cells * total)
    variance = sum(count * (index / cells - score) ** 2 for index, count in enumerate(counts)) / total
    sigma = math.sqrt(variance)
    lead = (score - 0.5) / sigma
    low, high = test.find_leads(sigma, games, mean)
    # The ratio of so many deals moves by (high - low) times what the leads exceed the middle of the hypotheses.
    step, centre = high - low, (high + low) / 2
    if step < 1e-9:
        return None  # the hypotheses are one: the others lose every game
    ratio, deals = total * step * (lead - centre), float(total)
    bound = test.upper if verdict == "H1" else test.lower
    if verdict and ratio * bound > 0:  # else there are so few deals that the ratio is far from normal
        ratio, deals = bound, total * bound / ratio  # when it met the bound, between two deals
    bounds = test.lower, test.upper
    ratio = min(max(ratio, test.lower), test.upper)
    reach = FARTHEST / math.sqrt(deals)

    def find(chance: float, widen: float = 1.0) -> float:
        under, over = lead - reach, lead + reach
        for _ in range(HALVINGS):
            middle = (under + over) / 2
            drift = deals * step * (middle - centre)
            if compute_end(bounds, drift, deals * (step * widen) ** 2, ratio) > chance:
                under = middle
            else:
                over = middle
        return (under + over) / 2

    leads = find(0.975, widen), find(0.5), find(0.025, widen)
    low, middle, high = (min(1.0, max(0.0, 0.5 + each * sigma)) for each in leads)
    return Corrected(low, middle, high, leads[1])


def compute_end(bounds: tuple[float, float], drift: float, variance: float, ratio: float) -> float:
    """The chance that a Brownian motion from 0 between two bounds ends as low as this or lower.

    By the method of images: the paths that met one bound and then the other, any number of times, are those of mirrored
    sources, with alternating signs.

    Args:
        bounds: the lower one, below 0, and the upper one.
        drift: over the whole time.
        variance: over the whole time.
        ratio: where it ends: at a bound at this time, or between them when time is over.
    """
    low, high = bounds
    width, lean, spread = high - low, drift / variance, math.sqrt(variance)

    def weigh(source: float, sign: int) -> float:
        """Weigh what comes from a mirrored source and ends beyond the ratio, above it or below."""
        return _multiply_tail(lean * source, sign * (ratio - source - drift) / spread)

    chance = _compute_tail(-(ratio - drift) / spread)
    for times in range(2 + math.ceil(9 * spread / width)):
        chance += weigh(2 * low - 2 * times * width, 1) - weigh(-2 * (times + 1) * width, 1)
        chance -= weigh(2 * high + 2 * times * width, -1) - weigh(2 * (times + 1) * width, -1)
    return chance


def _compute_tail(deviation: float) -> float:
    """The chance that a normal figure lies above its mean by so many standard deviations."""
    return math.erfc(deviation / math.sqrt(2)) / 2


def _multiply_tail(exponent: float, deviation: float) -> float:
    """e to the power of the exponent times the normal tail: the product is finite though neither need be."""
    if deviation < 20:
        return math.exp(exponent) * _compute_tail(deviation)
    inverse = deviation**-2
    series = 1 - inverse * (1 - 3 * inverse * (1 - 5 * inverse))
    return math.exp(exponent - deviation**2 / 2) * series / (deviation * math.sqrt(2 * math.pi))
