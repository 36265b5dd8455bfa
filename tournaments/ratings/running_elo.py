"""The running Elo: one curve per player for the history plot.

It depends on the order of the games, so it is never the ranking: that is the joint fit in `fit`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

try:
    from elo import Elo
except ImportError:
    from malice.tournaments.ratings._elo import Elo

if TYPE_CHECKING:
    from malice.tournaments.ratings.rated_games import RatedGame

Point = tuple[int, float]


def compute_history(
    games: Sequence[RatedGame], players: int, *, k: float = 16.0, initial: float = 1500.0, at_most: int | None = None
) -> list[list[Point]]:
    """For each player, the points (number of the game in the schedule, rating after it).

    Games are in the order of the schedule and count from 1; every curve begins with (0, initial). A game of n
    teams is n(n-1)/2 pairings with k/(n-1), all against the ratings before the game. A team of partners plays
    with the mean of its members' ratings, and each member gets the team's gain in full. With `at_most`, the
    points of each player are thinned as `thin_points` does.
    """
    running = RunningElo(players, k=k, initial=initial)
    for game in games:
        running.add(game)
    return running.list_points(at_most)


class RunningElo:
    """The curves of all players, game after game, as `compute_history` explains them.

    Args:
        players: how many there are.
        k: what a game can move.
        initial: where every curve begins.
    """

    def __init__(self, players: int, *, k: float = 16.0, initial: float = 1500.0) -> None:
        self._k = k
        self._duel = Elo(k)
        self._games = 0
        self._ratings = [float(initial)] * players
        self._initial = float(initial)
        # Columns of the points of all players, since a large league has hundreds of thousands, and few are shown.
        self._players, self._numbers, self._values = array("i"), array("i"), array("d")

    def add(self, game: RatedGame) -> None:
        """Add the next game of the schedule."""
        self._games += 1
        ratings = self._ratings
        gains = _rate_duel(game, ratings, self._duel) if _is_duel(game) else _rate_teams(game, ratings, self._k)
        for player, gain in gains:
            ratings[player] += gain
            self._players.append(player)
            self._numbers.append(self._games)
            self._values.append(ratings[player])

    def list_points(self, at_most: int | None = None) -> list[list[Point]]:
        """The points of each player, up to so many of each, thinned as `thin_points` does."""
        players = np.array(self._players, np.int64)
        rows, first, found = np.argsort(players, kind="stable"), 0, []
        for count in np.bincount(players, minlength=len(self._ratings)).tolist():
            places = [place - 1 for place in _choose_places(1 + count, at_most or 1 + count) if place]
            kept = rows[first : first + count][places].tolist()
            found.append([(0, self._initial), *((self._numbers[row], self._values[row]) for row in kept)])
            first += count
        return found


def _is_duel(game: RatedGame) -> bool:
    """Whether two players met, as in nearly all games of large leagues."""
    teams = game.teams
    return len(teams) == 2 and len(teams[0]) == len(teams[1]) == 1 and teams[0] != teams[1]


def _rate_duel(game: RatedGame, ratings: Sequence[float], elo: Elo) -> tuple[tuple[int, float], tuple[int, float]]:
    """The same as `_rate_teams`, to the last bit, in a third of the time."""
    (one,), (other,) = game.teams
    mine, theirs = ratings[one], ratings[other]
    score = _compute_score(*game.places)
    gain = mine + elo.k_factor * (score - elo.expect(mine, theirs)) - mine
    return (one, gain), (other, theirs + elo.k_factor * (1 - score - elo.expect(theirs, mine)) - theirs)


def _rate_teams(game: RatedGame, ratings: Sequence[float], k: float) -> Iterable[tuple[int, float]]:
    """Yield what each player gains in a game."""
    gains: dict[int, float] = {}
    for team, gain in zip(game.teams, _compute_gains(game, ratings, k), strict=True):
        for player in set(team):
            gains[player] = gains.get(player, 0.0) + gain
    return gains.items()


def thin_points(points: Sequence[Point], at_most: int) -> list[Point]:
    """Up to `at_most` of the points, evenly spread, with the first and the last."""
    if at_most < 2:
        raise ValueError(f"expected room for 2 points or more, got: {at_most}")
    return [points[place] for place in _choose_places(len(points), at_most)]


def _choose_places(count: int, at_most: int) -> Iterable[int]:
    """Up to `at_most` of so many places, evenly spread, with the first and the last."""
    if count <= at_most:
        return range(count)
    return (step * (count - 1) // (at_most - 1) for step in range(at_most))


def _compute_gains(game: RatedGame, ratings: Sequence[float], k: float) -> list[float]:
    count = len(game.teams)
    if count < 2:
        return [0.0] * count
    elo = Elo(k / (count - 1))
    strengths = [sum(ratings[player] for player in team) / len(team) for team in game.teams]
    gains = []
    for seat, strength in enumerate(strengths):
        series = [
            (_compute_score(game.places[seat], game.places[other]), strengths[other])
            for other in range(count)
            if other != seat
        ]
        gains.append(float(elo.rate(strength, series)) - strength)
    return gains


def _compute_score(place: int, other: int) -> float:
    return 0.5 if place == other else float(place < other)
