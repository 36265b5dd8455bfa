"""Games as arrays: one row for every two teams that met in a game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import DTypeLike, NDArray

from malice.tournaments.ratings.rated_games import RatedGame, RatedGames, gather

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


NARROW: DTypeLike = np.int32
"""Wide enough to number games, and half as wide as usual."""
BLOCK = 1_000_000
"""Most deal groups that are looked at from the view of each player at once."""


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

    def at(self, kept: Ints | slice) -> Rows:
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
    meetings: Rows
    """The pairings of each outcome of a game, once each."""
    outcome: Ints
    """By kind of pairing, the number of the outcome to which it belongs."""
    meeting: Ints
    """By pairing, the number of its kind."""
    game: Ints
    group: Ints
    """Deal groups, numbered from 0 without gaps."""

    @cached_property
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
    def _used(self) -> Ints:
        """By kind of pairing, how many there are."""
        return np.bincount(self.meeting, minlength=len(self.meetings.first))

    @cached_property
    def merged(self) -> Rows:
        """The pairings summed by pair of teams."""
        used = np.flatnonzero(self._used)
        rows, count = self.meetings.at(used), self._used[used]
        keys, inverse = number_values(rows.first * len(self.teams.members) + rows.second)
        return self._sum(keys, inverse, rows.points * count, rows.count * count, rows.seats * count)

    @cached_property
    def merged_by_group(self) -> tuple[Rows, Ints]:
        """The pairings summed by deal group and pair of teams, and the group of each sum."""
        meetings, width = self.meetings, len(self.teams.members)
        keys = self.group.astype(np.int64)
        keys *= width**2
        keys += (meetings.first * width + meetings.second)[self.meeting]
        keys, inverse = number_values(keys)
        rows = self._sum(
            keys % width**2,
            inverse,
            *(each[self.meeting] for each in (meetings.points, meetings.count, meetings.seats)),
        )
        return rows, keys // width**2

    def _sum(self, keys: Ints, inverse: Ints, points: Floats, count: Floats, seats: Floats) -> Rows:
        counted = sum_groups(inverse, count, len(keys))
        first, second = np.divmod(keys, len(self.teams.members))
        return Rows(
            first=first,
            second=second,
            points=sum_groups(inverse, points, len(keys)),
            count=counted,
            seats=sum_groups(inverse, seats, len(keys)) / counted,
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
        """For each player, the sum over its pairings of what the first or the second team has in their kind."""
        meetings, width = self.meetings, len(self.teams.members)
        by_team = sum_groups(meetings.first[self.meeting], first[self.meeting], width)
        by_team += sum_groups(meetings.second[self.meeting], second[self.meeting], width)
        team, slot = np.nonzero(self.teams.real)
        return sum_groups(self.teams.members[team, slot], by_team[team], self.players)

    def count_games(self) -> Ints:
        """By player, the games in which it met another team."""
        seen = self.by_player(self.meetings)
        keys, first = np.unique(self.outcome[seen.row] * self.players + seen.player, return_index=True)
        return sum_groups(keys % self.players, self._used[seen.row[first]].astype(np.float64), self.players).astype(
            np.int64
        )

    def part_tables(self) -> Pairings:
        """Give each table a deal group of its own, where all tables have the same cards."""
        mark = np.random.default_rng(0).integers(2**62, size=len(self.teams.members))
        tables = np.zeros(int(self.outcome.max(initial=-1)) + 1, np.int64)
        np.add.at(
            tables, self.outcome, mark[self.meetings.first] + mark[self.meetings.second]
        )  # the same for the same teams
        pairs = np.unique((self.group, tables[self.outcome[self.meeting]]), axis=1, return_inverse=True)
        return replace(self, group=pairs[1].ravel())

    @cached_property
    def by_group(self) -> GroupRows:
        """The rows summed by deal group, from the view of each player of both teams.

        The pairings of one player in a game of n teams depend on each other: between equals they vary as much as
        (n+1)/3 times as many independent ones.
        """
        rows, group = self.merged_by_group
        found = []
        for first in range(0, max(1, self.groups), BLOCK):
            part = slice(*np.searchsorted(group, (first, first + BLOCK)).tolist())
            found.append(self._see_groups(rows.at(part), group[part]))
        return GroupRows(*map(np.concatenate, zip(*found, strict=True)))

    def _see_groups(self, rows: Rows, group: Ints) -> tuple[Ints, Floats, Floats, Floats]:
        """The columns of `GroupRows`, of some deal groups."""
        seen = self.by_player(rows)
        keys, which = number_values(group[seen.row] * self.players + seen.player)
        return (
            keys % self.players,
            sum_groups(which, seen.points, len(keys)),
            sum_groups(which, seen.count, len(keys)),
            sum_groups(which, seen.count * (rows.seats[seen.row] + 1) / 3, len(keys)),
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
        """The pairings of the games before one."""
        return self._keep(np.flatnonzero(self.game < game))

    def within(self, pool: Ints) -> Pairings:
        """The pairings between these players, numbered anew. No pairing may be half in the pool."""
        if len(pool) == self.players:
            return self
        number = np.zeros(self.players, np.int64)
        number[pool] = np.arange(len(pool))
        mine = np.isin(self.teams.members[self.meetings.first, 0], pool)
        kept = self._keep(np.flatnonzero(mine[self.meeting]))
        return replace(kept, players=len(pool), teams=replace(self.teams, members=number[self.teams.members]))

    def _keep(self, kept: Ints) -> Pairings:
        group = number_values(self.group[kept])[1]
        return replace(self, meeting=self.meeting[kept], game=self.game[kept], group=group)


def number_values(values: Ints) -> tuple[Ints, Ints]:
    """The different values, ascending, and of each value its number among them.

    It is as `np.unique` with its inverse, in half the memory.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    new = np.ones(len(values), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    different = ordered[new]
    del ordered
    number = np.empty(len(values), NARROW)
    number[order] = np.cumsum(new, dtype=NARROW) - 1
    return different, number


def sum_groups(keys: Ints, values: Floats | Bools, size: int) -> Floats:
    """The sums of the values of each key from 0 to size - 1; keys and values have one shape."""
    return np.bincount(keys.ravel(), values.ravel(), size).astype(np.float64, copy=False)


def make_pairings(games: Sequence[RatedGame] | RatedGames, players: int) -> Pairings:
    """All pairings of all games, except pairings of two teams with the same players."""
    found = gather(games)
    sizes = np.array([len(team) for teams, _ in found.outcomes for team in teams], np.int64)
    flat = np.array([player for teams, _ in found.outcomes for team in teams for player in team], np.int64)
    counts = np.array([len(places) for _, places in found.outcomes], np.int64)
    places = np.array([place for _, places in found.outcomes for place in places], np.int64)
    _check_players(flat, players)
    members, numbers = _number_teams(sizes, flat, players)
    first, second, outcome = _meet(counts)
    swapped = numbers[first] > numbers[second]
    first, second = np.where(swapped, second, first), np.where(swapped, first, second)
    kept = numbers[first] != numbers[second]
    first, second, outcome = first[kept], second[kept], outcome[kept]
    game, meeting = _list_pairings(np.asarray(found.numbers, NARROW), counts, outcome)
    return Pairings(
        players=players,
        teams=members,
        meetings=Rows(
            first=numbers[first],
            second=numbers[second],
            points=(1 - np.sign(places[first] - places[second])) / 2,
            count=np.ones(len(first)),
            seats=counts[outcome].astype(np.float64),
        ),
        outcome=outcome,
        meeting=meeting,
        game=game,
        group=number_values(np.asarray(found.groups, np.int64)[game])[1],
    )


def _list_pairings(numbers: Ints, counts: Ints, outcome: Ints) -> tuple[Ints, Ints]:
    """By pairing, its game and the number of its kind, those of games with fewer teams first.

    Args:
        numbers: by game, its outcome.
        counts: by outcome, its teams.
        outcome: by kind of pairing, to which outcome it belongs.
    """
    of_each = np.bincount(outcome, minlength=len(counts)).astype(NARROW)
    starts = np.zeros(len(counts), NARROW)
    starts[outcome[::-1]] = np.arange(len(outcome), dtype=NARROW)[::-1]  # of each outcome, the last one stays
    order = np.argsort(counts[numbers], kind="stable").astype(NARROW)
    pairings = of_each[numbers[order]]
    game = np.repeat(order, pairings)
    before = np.cumsum(pairings, dtype=NARROW) - pairings
    kind = np.arange(len(game), dtype=NARROW)
    kind -= np.repeat(before, pairings)
    kind += starts[numbers[game]]
    return game, kind


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
    return np.concatenate([np.zeros(0, np.int64), *blocks])


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
