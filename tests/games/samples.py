"""Whether two samples may come from one distribution."""

from __future__ import annotations

from collections import Counter
from math import sqrt

LEAST = 20
"""Values that are rarer in both samples together are counted as one."""
FAR = 5
"""Standard deviations of chi-squared over its mean."""


def differ(one: Counter[str], other: Counter[str]) -> bool:
    """Tell by chi-squared whether two samples of equal size come from two distributions; one in a million errs."""
    total = one + other
    pairs = [(one[value], other[value]) for value in total if total[value] >= LEAST]
    rare = [(one[value], other[value]) for value in total if total[value] < LEAST]
    if rare:
        pairs.append((sum(mine for mine, _ in rare), sum(theirs for _, theirs in rare)))
    chi: float = sum((mine - theirs) ** 2 / (mine + theirs) for mine, theirs in pairs)
    degrees = len(pairs) - 1
    return chi > degrees + FAR * sqrt(2 * degrees)


def is_uneven(found: Counter[str]) -> bool:
    """Tell by chi-squared whether not all values that were found are equally likely."""
    mean = found.total() / len(found)
    chi: float = sum((count - mean) ** 2 for count in found.values()) / mean
    degrees = len(found) - 1
    return chi > degrees + FAR * sqrt(2 * degrees)
