"""Ranks: group by group of entries that met, with equal ranks for equal ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tournaments.ratings.fit import Rating

DIGITS = 6
"""Ratings that agree to so many digits after the point differ only by rounding errors."""


def rank_entries(
    ratings: Sequence[Rating], entries: Sequence[str], shown: Iterable[int]
) -> Iterator[tuple[int, int | None, int | None]]:
    """Yield the shown entries group by group, the best first, each with its group and its rank there.

    Groups are numbered by size, from 1. An entry without opponents comes last, without group and rank.

    Args:
        ratings: of all entries.
        entries: the labels of all.
        shown: the numbers of those that get a rank, among themselves.
    """
    chosen = list(shown)
    sizes = Counter(ratings[index].pool for index in chosen if ratings[index].games)
    group_of = {pool: group for group, (pool, _) in enumerate(sizes.most_common(), 1)}
    groups = {index: group_of.get(ratings[index].pool) for index in chosen}
    keys = {index: _make_sort_key(ratings[index], entries[index]) for index in chosen}
    above: Counter[int] = Counter()
    ranks: dict[tuple[int, float | None], int] = {}
    for index in sorted(chosen, key=lambda index: (groups[index] or len(entries) + 1, keys[index])):
        if (group := groups[index]) is None:
            yield index, None, None
            continue
        yield index, group, ranks.setdefault((group, round_elo(ratings[index])), 1 + above[group])
        above[group] += 1


def round_elo(rating: Rating) -> float | None:
    """Return an Elo that is the same for equal ratings."""
    return None if rating.elo is None else round(rating.elo, DIGITS) + 0.0


def _make_sort_key(rating: Rating, label: str) -> tuple[bool, float, float, str]:
    """Sort by Elo, then by points; entries without a figure come last."""
    return (rating.elo is None, -(round_elo(rating) or 0.0), -(rating.score or 0.0), label)
