"""Statistics of two players over mirrored pairs of games: is the first one better, and how much is luck?

No figure is ever nan or infinite: one that the results do not determine is None.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

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
    """Likelihood of superiority, 0..1."""


class HeadToHead(msgspec.Struct, frozen=True):
    pairs: Estimate
    """From the sums of the pairs."""
    pair_counts: tuple[int, int, int, int, int]
    """Pairs in which the first player got 0, 1/2, 1, 3/2, 2 points."""
    luck: float | None
    """The share of a game's variance that deal and seat explain; below 0 if they help one player twice."""
    luck_low: float | None
    luck_high: float | None


def head_to_head(pairs: Iterable[tuple[float, float]]) -> HeadToHead:
    """Return the statistics of complete pairs, each the scores (0, 1/2, 1) of the first player in its two games."""
    cells = Counter(pairs)
    for cell in cells:
        if len(cell) != 2 or not all(score in (0, 0.5, 1) for score in cell):
            raise ValueError(f"expected two scores of 0, 0.5 or 1, got: {cell!r}")
    by_sum = [0] * 5
    for (first, second), count in cells.items():
        by_sum[round(2 * (first + second))] += count
    low, high = _estimate_luck(cells)
    return HeadToHead(
        pairs=pentanomial(by_sum),
        pair_counts=(by_sum[0], by_sum[1], by_sum[2], by_sum[3], by_sum[4]),
        luck=_compute_luck(cells),
        luck_low=low,
        luck_high=high,
    )


def trinomial(*, won: int, lost: int, drawn: int) -> Estimate:
    """Return the estimate from single games."""
    return multinomial((lost, drawn, won), games=1)


def pentanomial(counts: Sequence[int]) -> Estimate:
    """Return the estimate from the counts of pairs that gave 0, 1/2, 1, 3/2, 2 points (LL, LD, WL or DD, WD, WW)."""
    if len(counts) != 5:
        raise ValueError(f"expected 5 counts of pairs, got: {counts!r}")
    return multinomial(counts, games=2)


def convert_to_elo(score: float) -> float | None:
    """Return the Elo difference of an expected score; None for 0 and 1, which have none."""
    return -400 * math.log10(1 / score - 1) + 0.0 if 0 < score < 1 else None  # no -0


def multinomial(counts: Sequence[int], games: int) -> Estimate:
    """Return the estimate from counts of results that are equally spaced from 0 to 1.

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


def _compute_luck(cells: Mapping[tuple[float, float], int]) -> float | None:
    """Return minus the correlation of the two games of a pair.

    Both games are measured from one mean: with two means, an advantage of the first seat would cancel out, and only
    the deal would count.
    """
    total = sum(cells.values())
    if not total:
        return None
    mean = sum((first + second) * count for (first, second), count in cells.items()) / (2 * total)
    product = sum((first - mean) * (second - mean) * count for (first, second), count in cells.items())
    square = sum(((first - mean) ** 2 + (second - mean) ** 2) * count for (first, second), count in cells.items())
    return max(-1.0, min(1.0, -2 * product / square)) + 0.0 if square > 1e-9 else None  # no -0


def _estimate_luck(cells: Mapping[tuple[float, float], int]) -> tuple[float | None, float | None]:
    """Return the 95 % interval by a jackknife over the pairs, on Fisher's scale so that it stays within -1..1."""
    total = sum(cells.values())
    centre = _transform_by_fisher(_compute_luck(cells))
    if centre is None or total < 5:
        return None, None
    spread = 0.0
    for cell, count in cells.items():
        without = _transform_by_fisher(_compute_luck({**cells, cell: count - 1}))
        if without is None:
            return None, None
        spread += count * (without - centre) ** 2
    half = NORMAL_975 * math.sqrt(spread * (total - 1) / total)
    return (math.tanh(centre - half), math.tanh(centre + half)) if half > 0 else (None, None)


def _transform_by_fisher(correlation: float | None) -> float | None:
    return math.atanh(correlation) if correlation is not None and abs(correlation) < 1 - 1e-12 else None
