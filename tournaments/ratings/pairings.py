"""Games as arrays: one row for every two teams that met in a game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from malice.tournaments.ratings.rated_games import RatedGame, RatedGames, gather

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


BLOCK = 2_000_000
"""Most games times players in memory, to count games."""


@dataclass(frozen=True, slots=True)
class Teams:
    """The different teams: their players, padded to one width, with weights that sum to 1."""

    members: Ints
    weights: Floats
    real: Bools
    """False for padding and for a player named a second time."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Pairings of two teams, by their numbers in `Teams`, or equal pairings merged."""

    first: Ints
    second: Ints
    points: Floats
    """Points of the first team: 1, 1/2 or 0 per pairing."""
    count: Floats
    seats: Floats
    """Teams in the game; of merged ones, their mean."""

    def at(self, kept: Ints) -> Rows:
        return Rows(self.first[kept], self.second[kept], self.points[kept], self.count[kept], self.seats[kept])


@dataclass(frozen=True, slots=True)
class PlayerRows:
    """Rows from the view of each player: a row between two single players appears twice."""

    row: Ints
    player: Ints
    opponents: Ints
    """The number of the team that the player met."""
    points: Floats
    count: Floats


@dataclass(frozen=True, slots=True)
class GroupRows:
    """The points of each player in each of its deal groups."""

    player: Ints
    points: Floats
    count: Floats
    weight: Floats
    """The variance of the count if games were independent, in units of one pairing."""


@dataclass(frozen=True)
class Pairings:
    players: int
    teams: Teams
    rows: Rows
    game: Ints
    group: Ints
    """Deal groups, numbered from 0 without gaps."""

    @property
    def groups(self) -> int:
        return int(self.group.max()) + 1 if self.group.size else 0

    def design(self, rows: Rows) -> tuple[Ints, Floats]:
        """The players whose strengths form the first team's advantage in each row, and their factors."""
        teams = self.teams
        return (
            np.hstack([teams.members[rows.first], teams.members[rows.second]]),
            np.hstack([teams.weights[rows.first], -teams.weights[rows.second]]),
        )

    @cached_property
    def merged(self) -> Rows:
        """The rows summed by pair of teams."""
        keys, inverse = np.unique(self.rows.first * len(self.teams.members) + self.rows.second, return_inverse=True)
        return self._sum(keys, inverse)

    @cached_property
    def merged_by_group(self) -> tuple[Rows, Ints]:
        """The rows summed by deal group and pair of teams, and the group of each sum."""
        width = len(self.teams.members)
        keys = (self.group * width + self.rows.first) * width + self.rows.second
        keys, inverse = np.unique(keys, return_inverse=True)
        return self._sum(keys % width**2, inverse), keys // width**2

    def _sum(self, keys: Ints, inverse: Ints) -> Rows:
        count = sum_groups(inverse, self.rows.count, len(keys))
        first, second = np.divmod(keys, len(self.teams.members))
        return Rows(
            first=first,
            second=second,
            points=sum_groups(inverse, self.rows.points, len(keys)),
            count=count,
            seats=sum_groups(inverse, self.rows.count * self.rows.seats, len(keys)) / count,
        )

    def by_player(self, rows: Rows) -> PlayerRows:
        """The rows from the view of each player of both teams."""
        teams = self.teams
        either = np.concatenate([rows.first, rows.second])
        other = np.concatenate([rows.second, rows.first])
        row, slot = np.nonzero(teams.real[either])
        points = np.concatenate([rows.points, rows.count - rows.points])
        return PlayerRows(
            row=row % len(rows.first),
            player=teams.members[either[row], slot],
            opponents=other[row],
            points=points[row],
            count=rows.count[row % len(rows.first)],
        )

    def sum_by_player(self, first: Floats | Bools, second: Floats | Bools) -> Floats:
        """For each player, the sum over its rows of what the first or the second team has there."""
        width = len(self.teams.members)
        by_team = sum_groups(self.rows.first, first, width) + sum_groups(self.rows.second, second, width)
        team, slot = np.nonzero(self.teams.real)
        return sum_groups(self.teams.members[team, slot], by_team[team], self.players)

    def count_games(self) -> Ints:
        count, games = np.zeros(self.players, np.int64), int(self.game.max()) + 1 if self.game.size else 0
        step = max(1, min(games, BLOCK // max(1, self.players)))
        for begin in range(0, games, step):
            rows = np.flatnonzero((self.game >= begin) & (self.game < begin + step))
            game, sat = self.game[rows] - begin, np.zeros((step, self.players), np.bool_)
            for either in (self.rows.first[rows], self.rows.second[rows]):
                for slot in range(self.teams.members.shape[1]):
                    real = self.teams.real[either, slot]
                    sat[game[real], self.teams.members[either[real], slot]] = True
            count += sat.sum(axis=0)
        return count

    def part_tables(self) -> Pairings:
        """Give each table a deal group of its own, where all tables have the same cards."""
        mark = np.random.default_rng(0).integers(2**62, size=len(self.teams.members))
        tables = np.zeros(int(self.game.max(initial=-1)) + 1, np.int64)
        np.add.at(tables, self.game, mark[self.rows.first] + mark[self.rows.second])  # the same for the same teams
        return replace(self, group=np.unique((self.group, tables[self.game]), axis=1, return_inverse=True)[1].ravel())

    @cached_property
    def by_group(self) -> GroupRows:
        """The rows summed by deal group, from the view of each player of both teams.

        The pairings of one player in a game of n teams depend on each other: between equals they vary as much as
        (n+1)/3 times as many independent ones.
        """
        rows, group = self.merged_by_group
        seen = self.by_player(rows)
        keys, which = np.unique(group[seen.row] * self.players + seen.player, return_inverse=True)
        return GroupRows(
            player=keys % self.players,
            points=sum_groups(which, seen.points, len(keys)),
            count=sum_groups(which, seen.count, len(keys)),
            weight=sum_groups(which, seen.count * (rows.seats[seen.row] + 1) / 3, len(keys)),
        )

    def met(self, *, unbeaten: bool = False) -> Bools:
        """At [i, j]: whether i played in a team that met a team of j; `unbeaten`: and won or drew against it."""
        matrix = np.zeros((self.players, self.players), np.bool_)
        rows = self.merged
        for one, other, points in (
            (rows.first, rows.second, rows.points),
            (rows.second, rows.first, rows.count - rows.points),
        ):
            kept = points > 0 if unbeaten else np.ones(len(one), np.bool_)
            for left in range(self.teams.members.shape[1]):
                for right in range(self.teams.members.shape[1]):
                    real = kept & self.teams.real[one, left] & self.teams.real[other, right]
                    matrix[self.teams.members[one[real], left], self.teams.members[other[real], right]] = True
        return matrix

    def before(self, game: int) -> Pairings:
        """The rows of the games before one."""
        kept = np.flatnonzero(self.game < game)
        group = np.unique(self.group[kept], return_inverse=True)[1]
        return replace(self, rows=self.rows.at(kept), game=self.game[kept], group=group)

    def within(self, pool: Ints) -> Pairings:
        """The rows between these players, numbered anew. No row may be half in the pool."""
        if len(pool) == self.players:
            return self
        number = np.zeros(self.players, np.int64)
        number[pool] = np.arange(len(pool))
        kept = np.flatnonzero(np.isin(self.teams.members[self.rows.first, 0], pool))
        return Pairings(
            players=len(pool),
            teams=replace(self.teams, members=number[self.teams.members]),
            rows=self.rows.at(kept),
            game=self.game[kept],
            group=np.unique(self.group[kept], return_inverse=True)[1],
        )


def sum_groups(keys: Ints, values: Floats | Bools, size: int) -> Floats:
    """The sums of the values of each key from 0 to size - 1; keys and values have one shape."""
    return np.bincount(keys.ravel(), values.ravel(), size).astype(np.float64, copy=False)


def make_pairings(games: Sequence[RatedGame] | RatedGames, players: int) -> Pairings:
    """All pairings of all games, except pairings of two teams with the same players."""
    found = gather(games)
    flat = np.array(found.players, np.int64)
    _check_players(flat, players)
    members, numbers = _number_teams(np.array(found.sizes), flat, players)
    counts, places = np.array(found.teams), np.array(found.places)
    first, second, game_of_row = _meet(counts)
    swapped = numbers[first] > numbers[second]
    first, second = np.where(swapped, second, first), np.where(swapped, first, second)
    kept = numbers[first] != numbers[second]
    if not kept.all():
        first, second, game_of_row = first[kept], second[kept], game_of_row[kept]
    return Pairings(
        players=players,
        teams=members,
        rows=Rows(
            first=numbers[first],
            second=numbers[second],
            points=(1 - np.sign(places[first] - places[second])) / 2,
            count=np.broadcast_to(1.0, len(first)),
            seats=counts[game_of_row].astype(np.float64),
        ),
        game=game_of_row,
        group=np.unique(np.array(found.groups)[game_of_row], return_inverse=True)[1],
    )


def _meet(counts: Ints) -> tuple[Ints, Ints, Ints]:
    """The two teams of each pairing, and its game, given how many teams each game has."""
    starts = np.cumsum(counts) - counts
    left: list[Ints] = []
    right: list[Ints] = []
    game: list[Ints] = []
    for count in np.unique(counts[counts > 1]):
        chosen = np.flatnonzero(counts == count)
        one, other = np.triu_indices(count, 1)
        left.append((starts[chosen, None] + one).ravel())
        right.append((starts[chosen, None] + other).ravel())
        game.append(np.repeat(chosen, len(one)))
    return _join(left), _join(right), _join(game)


def _join(blocks: Sequence[Ints]) -> Ints:
    """Join arrays into one; a single one is not copied, since it may be long."""
    return blocks[0] if len(blocks) == 1 else np.concatenate([np.zeros(0, np.int64), *blocks])


def _check_players(flat: Ints, players: int) -> None:
    if flat.size and not (flat.min() >= 0 and flat.max() < players):
        wrong = flat.min() if flat.min() < 0 else flat.max()
        raise ValueError(f"expected players from 0 to {players - 1}, got: {wrong}")


def _number_teams(sizes: Ints, flat: Ints, players: int) -> tuple[Teams, Ints]:
    """The different teams, and the number of each playing team among them."""
    if not sizes.size or sizes.max() == 1:
        alone = np.ones((players, 1))
        return Teams(np.arange(players)[:, None], alone, alone > 0), flat
    table = np.full((len(sizes), sizes.max()), players, np.int64)  # padding sorts last
    table[np.arange(table.shape[1]) < sizes[:, None]] = flat
    table, numbers = np.unique(np.sort(table, axis=1), axis=0, return_inverse=True)
    real = table < players
    weights = real / real.sum(axis=1, keepdims=True)
    again = np.diff(table, axis=1, prepend=-1) == 0
    return Teams(np.where(real, table, 0), weights, real & ~again), numbers.reshape(-1)
