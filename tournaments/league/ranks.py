"""Ranks: group by group of entries that met, with equal ranks for equal ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from malice.tournaments.ratings.fit import Rating

DIGITS = 6
"""Ratings that agree to so many digits after the point differ only by rounding errors."""


class Placing(NamedTuple):
    """An entry where it stands."""

    number: int
    """Its number."""
    group: int | None
    """None without opponents."""
    rank: int | None
    """None without a group, or if it takes no rank."""
    tied: bool
    """Whether it shares its rank."""


def rank_entries(
    ratings: Sequence[Rating], entries: Sequence[str], shown: Iterable[int], ranked: Collection[int]
) -> Iterator[Placing]:
    """Yield the shown entries group by group, in each the best first, and last those that take no rank.

    Groups are numbered from 1, by how many take a rank there, then by size. An entry without opponents comes last,
    without group and rank.

    Args:
        ratings: of all entries.
        entries: the labels of all.
        shown: the numbers of those to list.
        ranked: the numbers of those that take a rank, among themselves.
    """
    chosen = list(shown)
    groups = _number_groups(ratings, chosen, ranked)
    unranked = {index: index not in ranked for index in chosen}
    keys = {index: _make_sort_key(ratings[index], entries[index]) for index in chosen}
    taken = Counter(
        (group, round_elo(ratings[index]))
        for index in chosen
        if (group := groups[index]) is not None and not unranked[index]
    )
    above: Counter[int] = Counter()
    ranks: dict[tuple[int, float | None], int] = {}
    for index in sorted(chosen, key=lambda index: (groups[index] or len(entries) + 1, unranked[index], keys[index])):
        group = groups[index]
        if group is None or unranked[index]:
            yield Placing(index, group, None, tied=False)
            continue
        shared = (group, round_elo(ratings[index]))
        yield Placing(index, group, ranks.setdefault(shared, 1 + above[group]), tied=taken[shared] > 1)
        above[group] += 1


def _number_groups(
    ratings: Sequence[Rating], chosen: Sequence[int], ranked: Collection[int]
) -> Mapping[int, int | None]:
    """Return the group of each chosen entry; None for one without opponents."""
    met = [index for index in chosen if ratings[index].games]
    sizes = Counter(ratings[index].pool for index in met)
    weights = Counter(ratings[index].pool for index in met if index in ranked)
    order = sorted(sizes, key=lambda pool: (-weights[pool], -sizes[pool]))
    group_of = {pool: group for group, pool in enumerate(order, 1)}
    return {index: group_of.get(ratings[index].pool) for index in chosen}


def round_elo(rating: Rating) -> float | None:
    """Return an Elo that is the same for equal ratings."""
    return None if rating.elo is None else round(rating.elo, DIGITS) + 0.0


def _make_sort_key(rating: Rating, label: str) -> tuple[bool, float, float, str]:
    """Sort by Elo, then by points; entries without a figure come last."""
    return (rating.elo is None, -(round_elo(rating) or 0.0), -(rating.score or 0.0), label)
