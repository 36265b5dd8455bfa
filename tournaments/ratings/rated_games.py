"""Games as the ratings see them: one by one, and many of them in columns."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain

import msgspec


class RatedGame(msgspec.Struct, frozen=True, gc=False):
    """One game as the ratings see it; players are indices."""

    teams: tuple[tuple[int, ...], ...]
    """The players of each team. A team is as strong as the mean of its players."""
    places: tuple[int, ...]
    """The place of each team: 1 is best, equal places are ties."""
    group: int
    """The deal group: only games of one group may depend on each other."""


class RatedGames:
    """Games in columns, in the order in which they were added: a game of two takes 36 bytes.

    Args:
        games: the first of them.

    Raises:
        ValueError: as `add`.
    """

    def __init__(self, games: Iterable[RatedGame] = ()) -> None:
        self.teams = array("i")
        """By game, the number of its teams."""
        self.sizes = array("i")
        """By team, the number of its players."""
        self.players = array("i")
        self.places = array("i")
        """By team."""
        self.groups = array("q")
        """By game."""
        for game in games:
            self.add(game)

    def __len__(self) -> int:
        return len(self.groups)

    def add(self, game: RatedGame) -> None:
        """Add a game.

        Raises:
            ValueError: a team has no players, or not every team has a place.
        """
        teams = game.teams
        if not all(teams):
            raise ValueError("expected at least one player in each team of a game, got an empty team")
        if len(game.places) != len(teams):
            raise ValueError(f"expected one place for each of {len(teams)} teams, got: {game.places!r}")
        self.teams.append(len(teams))
        self.places.extend(game.places)
        self.groups.append(game.group)
        for team in teams:
            self.sizes.append(len(team))
            self.players.extend(team)

    def play_sides(self) -> RatedGames:
        """The same games with one player for each team: its place in the order of the teams."""
        sides = RatedGames()
        sides.teams, sides.places, sides.groups = self.teams, self.places, self.groups
        sides.sizes = array("i", [1]) * len(self.sizes)
        sides.players = array("i", chain.from_iterable(map(range, self.teams)))
        return sides


def gather(games: Sequence[RatedGame] | RatedGames) -> RatedGames:
    """Gather games in columns.

    Raises:
        ValueError: as `RatedGames.add`.
    """
    return games if isinstance(games, RatedGames) else RatedGames(games)
