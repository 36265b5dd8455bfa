"""Statistics of two players from counts of results: is the first one better?

No figure is ever nan or infinite: one that the results do not determine is None.
"""

import math
from collections.abc import Sequence

import msgspec

NORMAL_975 = 1.959963984540054
K = 800 / math.log(10)


class Estimate(msgspec.Struct, frozen=True):
    """The estimate of the first player."""

    count: int
    """The number of games, or of pairs where results count in pairs."""
    score: float | None
    elo: float | None
    error: float | None
    """Half the width of the 95 % interval; also None if all results are alike, which is no proof of certainty."""
    nelo: float | None
    los: float | None
    """Likelihood of superiority, 0..1, by the engines' formula; from few results it is too sure, so it is not shown."""


def estimate_pentanomial(counts: Sequence[int]) -> Estimate:
    """Estimate from the counts of pairs that gave 0, 1/2, 1, 3/2, 2 points (LL, LD, WL or DD, WD, WW)."""
    if len(counts) != 5:
        raise ValueError(f"expected 5 counts of pairs, got: {counts!r}")
    return estimate_multinomial(counts, games=2)


def convert_to_elo(score: float) -> float | None:
    """The Elo difference of an expected score; None for 0 and 1, which have none."""
    return -400 * math.log10(1 / score - 1) + 0.0 if 0 < score < 1 else None  # no -0


def estimate_multinomial(counts: Sequence[int], games: float) -> Estimate:
    """Estimate from counts of results that are equally spaced from 0 to 1.

    Args:
        counts: by result.
        games: how many games each result comes from.
    """
    total = sum(counts)
    if not total:
        return Estimate(0, None, None, None, None, None)
    values = [index / (len(counts) - 1) for index in range(len(counts))]
    mean = sum(value * count for value, count in zip(values, counts, strict=True)) / total
    if max(counts) == total:
        return Estimate(total, mean, convert_to_elo(mean), None, None, None)
    variance = sum(count * (value - mean) ** 2 for value, count in zip(values, counts, strict=True)) / total
    error = math.sqrt(variance / total)
    low, high = convert_to_elo(mean - NORMAL_975 * error), convert_to_elo(mean + NORMAL_975 * error)
    return Estimate(
        count=total,
        score=mean,
        elo=convert_to_elo(mean),
        error=None if low is None or high is None else (high - low) / 2,
        nelo=(mean - 0.5) / math.sqrt(games * variance) * K,
        los=math.erfc((0.5 - mean) / error / math.sqrt(2)) / 2,
    )
