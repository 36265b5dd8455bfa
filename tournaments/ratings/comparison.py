"""Two players over whole deals: which is better, by how much, and how sure that is.

A deal is the unit of everything here: the same cards, played once in every seat, under every ruleset. No figure is ever
nan or infinite: one that the results do not determine is None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from malice.tournaments.ratings.covariance import student_cdf, student_quantile
from malice.tournaments.ratings.one_sided import TAIL
from malice.tournaments.ratings.pairings import Floats
from malice.tournaments.ratings.pairs import NORMAL_975, K, convert_to_elo, estimate_multinomial
from malice.tournaments.ratings.scores import FEW, RARE, compute_wilson
from malice.tournaments.ratings.sprt import Sprt, Verdict
from malice.tournaments.ratings.stopping import correct_score


class Others(Struct, frozen=True):
    """The opponents of two players that do not meet each other."""

    weight: float
    """How many games between the two a deal is worth."""
    mean: float
    """What the two score against them on average, 0..1."""

    def convert_to_elo(self, score: float) -> float | None:
        """Return the Elo difference of two players with that mean; None if one of them would win or lose everything."""
        ours, theirs = (convert_to_elo(self.mean + sign * (score - 0.5)) for sign in (1, -1))
        return None if ours is None or theirs is None else ours - theirs + 0.0  # no -0


class Advantage(Struct, frozen=True):
    """What deals say about the first player against the second."""

    deals: int
    counts: tuple[int, ...]
    """Deals by the score of the first player, from 0 to 1 in equal steps: LL, LD, WL or DD, WD, WW for two games."""
    played: float | None
    """Its share of the points, 0..1."""
    score: float | None
    """The same; after a test that chose when to stop, corrected for that: it is too high as often as too low."""
    score_low: float | None
    score_high: float | None
    """The 95 % interval of the score, corrected likewise."""
    elo: float | None
    elo_low: float | None
    elo_high: float | None
    nelo: float | None
    """Elo relative to the spread of results; None if all are alike."""
    los: float | None
    """Likelihood of superiority, 0..1, as standings have it; None below five deals, if all are alike, or if a test
    chose when to stop."""
    p: float | None
    """How often the deals would differ as much or more if a coin had said who has which result of each; None if a test
    chose when to stop."""


Stopped = tuple[Sprt, Verdict | None]
"""A test that chose when to stop, and what it accepted; None if the deals were over before."""


def measure_advantage(
    counts: Sequence[int], games: int, others: Others | None = None, stopped: Stopped | None = None
) -> Advantage:
    """Return what deals say.

    Args:
        counts: deals by the score of the first player, from 0 to 1 in equal steps.
        games: how many games a deal has.
        others: the opponents of both, if the two do not meet each other; their score is then 1/2 and half of what the
            first scores more than the second.
        stopped: the test after whose answer there were no further deals, if there was one.
    """
    weight = others.weight if others else games
    estimate = estimate_multinomial(counts, weight)
    score, nelo = estimate.score, estimate.nelo
    low, high = estimate_score(counts, games)
    los, p = estimate_los(counts), flip_signs(counts)
    if stopped:
        los = p = None
        if corrected := correct_score(
            *stopped, counts, weight, others.mean if others else None, _compute_widening(counts, games)
        ):
            low, score, high, lead = corrected
            nelo = lead * K / math.sqrt(weight)
    convert = others.convert_to_elo if others else convert_to_elo
    return Advantage(
        deals=estimate.count,
        counts=tuple(counts),
        played=estimate.score,
        score=score,
        score_low=low,
        score_high=high,
        elo=None if score is None else convert(score),
        elo_low=None if low is None else convert(low),
        elo_high=None if high is None else convert(high),
        nelo=nelo,
        los=los,
        p=p,
    )


def _compute_widening(counts: Sequence[int], games: int) -> float:
    """Return how many times the plain normal error an error is, given that deals tell their own spread."""
    total = sum(counts)
    if total < 2 or max(counts) == total:
        return 1.0
    score, plain = _measure(counts)
    variance = _estimate_variance(counts, games, score, plain)
    return math.sqrt(variance / (plain * (total - 1) / total)) * student_quantile(total - 1) / NORMAL_975


def estimate_score(counts: Sequence[int], games: int) -> tuple[float | None, float | None]:
    """Return the 95 % interval of the score, as standings have it: Wilson's, with the variance between deals.

    Args: as `measure_advantage`.
    """
    total = sum(counts)
    if total < 2:
        return None, None
    if counts[-1] == total:
        return TAIL ** (1 / total), 1.0
    if counts[0] == total:
        return 0.0, 1 - TAIL ** (1 / total)
    score, variance = _measure(counts)
    return compute_wilson(score, _estimate_variance(counts, games, score, variance), student_quantile(total - 1))


def _measure(counts: Sequence[int]) -> tuple[float, float]:
    """Return the score and its variance, that of the mean of deals."""
    total = sum(counts)
    scores = [index / (len(counts) - 1) for index in range(len(counts))]
    score = math.fsum(value * count for value, count in zip(scores, counts, strict=True)) / total
    spread = math.fsum(count * (value - score) ** 2 for value, count in zip(scores, counts, strict=True))
    return score, spread / (total * (total - 1))


def _estimate_variance(counts: Sequence[int], games: int, score: float, measured: float) -> float:
    """Return the variance of a score: not below that of independent games where deals say too little."""
    total = sum(counts)
    few = total - max(counts[0], counts[-1]) < FEW or total - counts[len(counts) // 2] < RARE
    return max(measured, score * (1 - score) / (total * games)) if few else measured


def estimate_los(counts: Sequence[int]) -> float | None:
    """Return how certain it is that the first player is the better one, by Student's t over deals.

    The normal distribution of the engines' formula would be certain of equal players after three deals in every fifth
    comparison. Args: as `measure_advantage`.
    """
    total = sum(counts)
    if total < FEW or max(counts) == total:
        return None
    score, variance = _measure(counts)
    return student_cdf((score - 0.5) / math.sqrt(variance), total - 1)


def flip_signs(counts: Sequence[int]) -> float | None:
    """Return how often random signs would lead as far from an even score as the deals did, or farther: exactly.

    Args:
        counts: an odd number of them, deals by score, from 0 to 1 in equal steps.
    """
    if not any(counts):
        return None
    middle = len(counts) // 2
    lead = abs(sum((index - middle) * count for index, count in enumerate(counts)))
    flips = {size: counts[middle - size] + counts[middle + size] for size in range(1, middle + 1)}
    most = sum(size * count for size, count in flips.items())
    if not lead:
        return 1.0
    # The chances of each sum of positive signs: a product of polynomials, one for each size of a lead.
    length = 1 << most.bit_length()
    product = np.ones(length // 2 + 1, dtype=np.complex128)
    for size, count in flips.items():
        chances = np.zeros(length)
        chances[: size * count + 1 : size] = _list_binomial(count)
        product *= np.fft.rfft(chances)
    sums = np.clip(np.fft.irfft(product, length)[: most + 1], 0.0, None)
    return min(1.0, 2 * float(sums[: (most - lead) // 2 + 1].sum()))


def _list_binomial(count: int) -> Floats:
    """Return the chances of 0 to `count` heads."""
    logs = np.array([math.lgamma(each + 1) for each in range(count + 1)])
    return np.asarray(np.exp(logs[-1] - logs - logs[::-1] - count * math.log(2)))
