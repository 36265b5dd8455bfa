"""Two players over mirrored pairs of games: which is better, and how much is luck?

No figure is ever nan or infinite: one that the results do not determine is None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct

from malice.tournaments.ratings.pairs import NORMAL_975, Estimate, estimate_pentanomial
from malice.tournaments.ratings.scores import RARE, compute_wilson

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
        pairs=estimate_pentanomial(by_sum),
        pair_counts=(by_sum[0], by_sum[1], by_sum[2], by_sum[3], by_sum[4]),
        luck=_compute_luck(cells),
        luck_low=low,
        luck_high=high,
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
    """Return the 95 % interval: Wilson's, for a share from 0 to 1, with the variance by a jackknife over the pairs."""
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
    share, variance = (1 + luck) / 2, spread * (total - 1) / total
    if total - won - lost < RARE:
        variance = max(variance, share * (1 - share) / total)
    low, high = compute_wilson(share, variance, NORMAL_975)
    return 2 * low - 1 + 0.0, 2 * high - 1 + 0.0  # no -0
