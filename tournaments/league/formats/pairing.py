"""Pairs of a Swiss round: nobody twice before it must be, then equal points, then the upper half against the lower.

Pairing is a matching of least cost, and every pair has a cost of its own, so that no two matchings cost the same: any
solver finds the same pairs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

BYE_AGAIN = 10**12
REMATCH = 10**9
POINTS = 10**5
"""Costs in falling order: a second bye, a rematch, the square of a difference of half points."""
TIES = 10**12
"""All these costs are multiplied by this, and what is below only breaks ties."""


class UnpairedEntry(NamedTuple):
    """An entry to pair."""

    label: str
    points: Fraction
    met: Sequence[str]
    """The labels of its opponents so far."""
    byes: int
    """How many byes it had."""


def pair_up(ranked: Sequence[UnpairedEntry]) -> tuple[list[tuple[str, str]], str | None]:
    """Return the pairs of a round, the best ranked first, and who has a bye if their number is odd.

    Args:
        ranked: the entries, the best one first.
    """
    from networkx import Graph, max_weight_matching  # it takes long to import

    graph = Graph()
    for one, other in combinations(range(len(ranked)), 2):
        graph.add_edge(one, other, weight=-_compute_cost(ranked, one, other))
    nobody = len(ranked)
    if len(ranked) % 2:
        for place, candidate in enumerate(ranked):
            cost = BYE_AGAIN * candidate.byes + POINTS * int(2 * candidate.points) ** 2 + nobody - place
            graph.add_edge(place, nobody, weight=-(cost * TIES + _break_tie(candidate.label, "")))
    found = sorted(tuple(sorted(pair)) for pair in max_weight_matching(graph, maxcardinality=True))
    bye = next((one for one, other in found if other == nobody), None)
    pairs = [(ranked[one].label, ranked[other].label) for one, other in found if other != nobody]
    return pairs, None if bye is None else ranked[bye].label


def _compute_cost(ranked: Sequence[UnpairedEntry], one: int, other: int) -> int:
    upper, lower = ranked[one], ranked[other]
    apart = int(2 * (upper.points - lower.points))
    group = sum(each.points == upper.points for each in ranked)
    fold = abs(2 * (other - one) - group) if apart == 0 else other - one
    cost = REMATCH * upper.met.count(lower.label) + POINTS * apart**2 + fold
    return cost * TIES + _break_tie(upper.label, lower.label)


def _break_tie(*labels: str) -> int:
    digest = hashlib.sha256("\0".join(sorted(labels)).encode()).digest()
    return int.from_bytes(digest[:4], "big")
