"""Games as the ratings see them: one by one, and many of them in columns."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

TeamPlaces = tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]
"""The players of each team, and its place."""


class RatedGame(msgspec.Struct, frozen=True, gc=False):
    """One game as the ratings see it; players are indices."""

    teams: tuple[tuple[int, ...], ...]
    """The players of each team. A team is as strong as the mean of its players."""
    places: tuple[int, ...]
    """The place of each team: 1 is best, equal places are ties."""
    group: int
    """The deal group: only games of one group may depend on each other."""


class RatedGames:
    """Games in columns, in the order in which they were added: a game takes 12 bytes, for there are few outcomes.

    Args:
        games: the first of them.

    Raises:
        ValueError: as `add`.
    """

    def __init__(self, games: Iterable[RatedGame] = ()) -> None:
        self.outcomes: list[TeamPlaces] = []
        """The different ones."""
        self.numbers = array("i")
        """By game, the number of its outcome."""
        self.groups = array("q")
        """By game."""
        self._known: dict[TeamPlaces, int] = {}
        for game in games:
            self.add(game)

    def __len__(self) -> int:
        return len(self.numbers)

    def add(self, game: RatedGame) -> None:
        """Add a game.

        Raises:
            ValueError: a team has no players, or not every team has a place.
        """
        key = game.teams, game.places
        number = self._known.get(key)
        if number is None:
            _refuse_outcome(*key)
            number = self._known[key] = len(self.outcomes)
            self.outcomes.append(key)
        self.numbers.append(number)
        self.groups.append(game.group)

    def play_sides(self) -> RatedGames:
        """The same games with one player for each team: its place in the order of the teams."""
        sides = RatedGames()
        sides.outcomes = [(tuple((place,) for place in range(len(teams))), places) for teams, places in self.outcomes]
        sides.numbers, sides.groups = self.numbers, self.groups
        return sides

    def count_outcomes(self) -> list[int]:
        """How many games have each outcome."""
        return list(map(int, np.bincount(np.asarray(self.numbers), minlength=len(self.outcomes))))


def _refuse_outcome(teams: tuple[tuple[int, ...], ...], places: tuple[int, ...]) -> None:
    if not all(teams):
        raise ValueError("expected at least one player in each team of a game, got an empty team")
    if len(places) != len(teams):
        raise ValueError(f"expected one place for each of {len(teams)} teams, got: {places!r}")


def gather(games: Sequence[RatedGame] | RatedGames) -> RatedGames:
    """Gather games in columns.

    Raises:
        ValueError: as `RatedGames.add`.
    """
    return games if isinstance(games, RatedGames) else RatedGames(games)


class CompleteDeals(NamedTuple):
    """What is rated of finished games."""

    rated: RatedGames
    """Outcomes come in the order in which games first have them."""
    sources: list[int]
    """By outcome, the kind of its games."""
    by_part: dict[int, int]
    """How many games are rated of each part."""
    waiting: int
    """How many games belong to deals that were not played in every rotation yet."""


class DealtGames:
    """Finished games in columns, 12 bytes each.

    Args:
        common: the parts in which all tables get the same cards.
    """

    def __init__(self, common: Collection[int]) -> None:
        self._common = common
        self._outcomes: list[TeamPlaces] = []
        self._needed = array("i")
        self._void = array("b")
        self._kind = array("i")
        self._tables: dict[tuple[int, int], int] = {}
        self._deals = array("q")

    def add_kind(self, outcome: TeamPlaces, games: int, *, void: bool) -> int:
        """Add a kind of games, and tell its number, by which `add` knows it.

        Args:
            outcome: who met, and who won.
            games: how many games their deals have.
            void: whether they are rated for nobody.

        Raises:
            ValueError: a team has no players, or not every team has a place.
        """
        _refuse_outcome(*outcome)
        self._outcomes.append(outcome)
        self._needed.append(games)
        self._void.append(void)
        return len(self._outcomes) - 1

    def add(self, kind: int, part: int, table: int, deal: int) -> None:
        """Add the next game in playing order."""
        self._kind.append(kind)
        self._deals.append(self._tables.setdefault((part, table), len(self._tables)) << 32 | deal)

    def rate(self) -> CompleteDeals:
        """Find the games of complete deals, which were played in every rotation if there are several, but void ones."""
        kind, deals = np.asarray(self._kind), np.asarray(self._deals)
        complete = _count_equal(deals) == np.asarray(self._needed)[kind]
        waiting = len(kind) - int(np.count_nonzero(complete))
        kept = np.flatnonzero(complete & (np.asarray(self._void)[kind] == 0))
        kind, deals = kind[kept], deals[kept]
        used, first = np.unique(kind, return_index=True)
        order = used[np.argsort(first)]
        number = np.zeros(len(self._outcomes), np.int32)
        number[order] = np.arange(len(order))
        rated = RatedGames()
        rated.outcomes = [self._outcomes[kind] for kind in order.tolist()]
        rated.numbers.frombytes(number[kind].tobytes())
        rated.groups.frombytes(self._group_deals(deals).tobytes())
        by_part: Counter[int] = Counter()
        for (part, _), count in zip(self._tables, np.bincount(deals >> 32, minlength=len(self._tables)), strict=True):
            by_part[part] += int(count)
        return CompleteDeals(rated, order.tolist(), dict(+by_part), waiting)

    def _group_deals(self, deals: NDArray[np.int64]) -> NDArray[np.int64]:
        """By game, its deal group: what hangs together is what has the same cards. Groups are in the order of keys."""
        places = [(part, 0 if part in self._common else table) for part, table in self._tables]
        number = {place: rank for rank, place in enumerate(sorted(set(places)))}
        ranks = np.array([number[place] for place in places], np.int64)
        return np.asarray((ranks[deals >> 32] << 32) | (deals & 0xFFFFFFFF))


def _count_equal(values: NDArray[np.int64]) -> NDArray[np.int32]:
    """By value, none of them negative, how many are equal to it."""
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=-1))
    counts = np.diff(starts, append=len(values)).astype(np.int32)
    found = np.empty(len(values), np.int32)
    found[order] = np.repeat(counts, counts)
    return found
