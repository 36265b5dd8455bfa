"""Entries with one content: two labels for the same bot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence


def find_twins(labels: Sequence[str], hashes: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the labels that share one content, as one group for each such content, all in the order of the labels.

    Args:
        labels: of the entries.
        hashes: their content hashes, in the same order.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for label, hash in zip(labels, hashes, strict=True):
        groups[hash].append(label)
    return [tuple(group) for group in groups.values() if len(group) > 1]
