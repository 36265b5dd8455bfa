"""Two players over complete deals: which is better, by how much, how sure that is, and how much is luck.

A deal is the unit of everything here: the same cards, played once in every seat, under every ruleset. No figure is ever
nan or infinite: one that the results do not determine is None.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct

from malice.tournaments.ratings.bradley_terry import student_cdf, student_quantile
from malice.tournaments.ratings.one_sided import TAIL
from malice.tournaments.ratings.pairings import Floats
from malice.tournaments.ratings.pairs import (
    NORMAL_975,
    Estimate,
    K,
    convert_to_elo,
    estimate_multinomial,
    estimate_pentanomial,
)
from malice.tournaments.ratings.scores import FEW, RARE, compute_wilson
from malice.tournaments.ratings.sprt import Sprt, Verdict
from malice.tournaments.ratings.stopping import correct_score

LEAST = 50
"""Pairs that it takes for the interval of luck: from fewer, no interval holds the truth 19 times in 20."""
DECIDED = 2
"""If fewer are won, or lost, there is no interval: how often a favourite loses both games is not known then."""


class HeadToHead(Struct, frozen=True):
    pairs: Estimate
    """From the sums of the pairs."""
    pair_counts: tuple[int, int, int, int, int]
    """Pairs in which the first player got 0, 1/2, 1, 3/2, 2 points."""
    luck: float | None
    """The share of a game's variance that deal and seat explain; below 0 if they help one player twice."""
    luck_low: float | None
    """The 95 % interval; None also if there are few pairs."""
    luck_high: float | None


def compare_head_to_head(pairs: Iterable[tuple[float, float]]) -> HeadToHead:
    """Compare by complete pairs, each the scores (0, 1/2, 1) of the first player in its two games."""
    cells = Counter(pairs)
    for cell in cells:
        if len(cell) != 2 or not all(score in (0, 0.5, 1) for score in cell):
            raise ValueError(f"expected two scores of 0, 0.5 or 1, got: {cell!r}")
    by_sum = [0] * 5
    for (first, second), count in cells.items():
        by_sum[round(2 * (first + second))] += count
    low, high = _estimate_luck(cells)
    return HeadToHead(
        pairs=estimate_pentanomial(by_sum),
        pair_counts=(by_sum[0], by_sum[1], by_sum[2], by_sum[3], by_sum[4]),
        luck=_compute_luck(cells),
        luck_low=low,
        luck_high=high,
    )


def _compute_luck(cells: Mapping[tuple[float, float], int]) -> float | None:
    """Minus the correlation of the two games of a pair.

    Both games are measured from one mean: with two means, an advantage of the first seat would cancel out, and
    only the deal would count.
    """
    total = sum(cells.values())
    if not total:
        return None
    mean = sum((first + second) * count for (first, second), count in cells.items()) / (2 * total)
    product = sum((first - mean) * (second - mean) * count for (first, second), count in cells.items())
    square = sum(((first - mean) ** 2 + (second - mean) ** 2) * count for (first, second), count in cells.items())
    return max(-1.0, min(1.0, -2 * product / square)) + 0.0 if square > 1e-9 else None  # no -0


def _estimate_luck(cells: Mapping[tuple[float, float], int]) -> tuple[float | None, float | None]:
    """The 95 % interval: Wilson's, for a share from 0 to 1, with the variance by a jackknife over the pairs.

    What changes when one of n pairs is left out is taken for what changes as its weight begins to fall: the plain
    jackknife, n / (n - 1) times as much, holds the truth too often (Efron and Stein, 1981).
    """
    total = sum(cells.values())
    lost = sum(count for cell, count in cells.items() if sum(cell) < 1)
    won = sum(count for cell, count in cells.items() if sum(cell) > 1)
    luck = _compute_luck(cells)
    if luck is None or total < LEAST or min(lost, won) < DECIDED:
        return None, None
    spread = 0.0
    for cell, count in cells.items():
        without = _compute_luck({**cells, cell: count - 1})
        if without is None:
            return None, None
        spread += count * ((without - luck) / 2) ** 2
    share, variance = (1 + luck) / 2, spread * ((total - 1) / total) ** 2
    if total - won - lost < RARE:
        variance = max(variance, share * (1 - share) / total)
    low, high = compute_wilson(share, variance, NORMAL_975)
    return 2 * low - 1 + 0.0, 2 * high - 1 + 0.0  # no -0


class Others(Struct, frozen=True):
    """The opponents of two players that do not meet each other."""

    weight: float
    """How many games between the two a deal is worth."""
    mean: float
    """What the two score against them on average, 0..1."""

    def convert_to_elo(self, score: float) -> float | None:
        """The Elo difference of two players with that mean; None if one of them would win or lose everything."""
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
    """Measure by deals how much better the first player is.

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
    """By how much an error is wider than the plain normal one, given that deals tell their own spread."""
    total = sum(counts)
    if total < 2 or max(counts) == total:
        return 1.0
    score, plain = _measure(counts)
    variance = _estimate_variance(counts, games, score, plain)
    return math.sqrt(variance / (plain * (total - 1) / total)) * student_quantile(total - 1) / NORMAL_975


def estimate_score(counts: Sequence[int], games: int) -> tuple[float | None, float | None]:
    """Bound the score with 95 % as standings do: by Wilson's interval, with the variance between deals.

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
    """Measure the score and its variance, that of the mean of deals."""
    total = sum(counts)
    scores = [index / (len(counts) - 1) for index in range(len(counts))]
    score = math.fsum(value * count for value, count in zip(scores, counts, strict=True)) / total
    spread = math.fsum(count * (value - score) ** 2 for value, count in zip(scores, counts, strict=True))
    return score, spread / (total * (total - 1))


def _estimate_variance(counts: Sequence[int], games: int, score: float, measured: float) -> float:
    """Not below the variance of independent games where deals say too little."""
    total = sum(counts)
    few = total - max(counts[0], counts[-1]) < FEW or total - counts[len(counts) // 2] < RARE
    return max(measured, score * (1 - score) / (total * games)) if few else measured


def estimate_los(counts: Sequence[int]) -> float | None:
    """Estimate how certain it is that the first player is the better one, by Student's t over deals.

    The normal distribution of the engines' formula would be certain of equal players after three deals in every fifth
    comparison. Args: as `measure_advantage`.
    """
    total = sum(counts)
    if total < FEW or max(counts) == total:
        return None
    score, variance = _measure(counts)
    return student_cdf((score - 0.5) / math.sqrt(variance), total - 1)


def flip_signs(counts: Sequence[int]) -> float | None:
    """How often random signs would lead as far from an even score as the deals did, or farther: exactly.

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
    """The chances of 0 to `count` heads."""
    logs = np.array([math.lgamma(each + 1) for each in range(count + 1)])
    return np.asarray(np.exp(logs[-1] - logs - logs[::-1] - count * math.log(2)))


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
    """Take luck off the score; None unless that shrinks its spread by a gain that is worth showing.

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
    """Fit how much of its score each deal owes to luck: by a line through the other folds."""
    fold = np.arange(len(scores)) % FOLDS
    share = np.zeros(len(scores))
    for each in range(FOLDS):
        others = fold != each
        spread = np.var(lucks[others])
        if spread > 0:
            share[~others] = np.mean((scores[others] - scores[others].mean()) * lucks[others]) / spread
    return share * lucks


def _compare_variances(one: Floats, other: Floats) -> tuple[float, float, float] | None:
    """The ratio of two variances between the ends of its interval; None if one of them is 0."""
    squares = [(values - values.mean()) ** 2 for values in (one, other)]
    first, second = (float(each.mean()) for each in squares)
    if min(first, second) < 1e-12:
        return None
    influence = squares[0] / first - squares[1] / second
    half = student_quantile(len(one) - 1) * float(influence.std(ddof=1)) / math.sqrt(len(one))
    ratio = first / second
    return ratio * math.exp(-half), ratio, ratio * math.exp(half)
