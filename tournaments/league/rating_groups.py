"""Games that are rated together, of one ruleset, number of seats and clock: what standings need of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from malice.protocol.messages import ClockRules
from malice.referee.replay import VOID
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.ratings.rated_games import RatedGame, RatedGames
from malice.tournaments.ratings.running_elo import RunningElo


class RatingGroup(NamedTuple):
    """What games must share to be rated together."""

    ruleset: str
    seats: int
    clock: ClockRules | None
    """None if it is unknown."""


def group_games(
    games: Iterable[GameSummary], clocks: Sequence[ClockRules] = ()
) -> dict[RatingGroup, list[GameSummary]]:
    """Group games by what may be rated together, in the order of their first games.

    Args:
        games: all games.
        clocks: those of the parts, by number.
    """
    groups: dict[RatingGroup, list[GameSummary]] = {}
    lists: dict[tuple[str, int, int], list[GameSummary]] = {}  # a clock is slow to look up by
    for game in games:
        seats, part = len(game.labels), game.key.part
        if (found := lists.get((game.ruleset, seats, part))) is None:
            kind = RatingGroup(game.ruleset, seats, clocks[part] if part < len(clocks) else None)
            found = lists[game.ruleset, seats, part] = groups.setdefault(kind, [])
        found.append(game)
    return groups


def list_complete(played: Iterable[GameSummary]) -> list[GameSummary]:
    """The games of one kind whose deals are complete: played in every rotation, if there are any."""
    played = list(played)
    counts = Counter((game.key.part, game.key.table, game.key.deal) for game in played)
    return [game for game in played if counts[(game.key.part, game.key.table, game.key.deal)] == game.rotations]


def list_counted(complete: Iterable[GameSummary]) -> list[GameSummary]:
    """The games of complete deals that are rated: all but void ones."""
    return [game for game in complete if game.reason != VOID]


def make_rated_game(game: GameSummary, number: Mapping[str, int], common: Collection[int]) -> RatedGame:
    """Make a game as the ratings see it.

    Args:
        game: the game.
        number: the players by label.
        common: the parts in which all tables get the same cards.
    """
    players = tuple([number[label] for label in game.labels])
    sides = list_teams(game.teams)
    if len(sides) == len(players):  # a league has many games, and few of them are played by partners
        places = game.places
        teams = _seat_alone(players)
    else:
        teams = tuple(tuple(players[seat] for seat in side) for side in sides)
        places = tuple(min(game.places[seat] for seat in side) for side in sides)
    # What hangs together is what has the same cards.
    table = 0 if game.key.part in common else game.key.table
    group = (game.key.part << 24 | table) << 32 | game.key.deal
    return RatedGame(teams, places, group)


@lru_cache(1 << 16)
def _seat_alone(players: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Teams of one player each; the same object for the same players, which takes less memory."""
    return tuple([(player,) for player in players])


@cache
def list_teams(teams: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """List the seats of each team, given the team of each seat."""
    return tuple(tuple(seat for seat, each in enumerate(teams) if each == team) for team in dict.fromkeys(teams))


class Totals:
    """What an entry did in all its games."""

    __slots__ = ("asked", "cpu", "forfeits", "games", "idle", "used")

    def __init__(self) -> None:
        self.games = self.asked = self.forfeits = 0
        self.used = self.cpu = self.idle = 0.0

    def add(self, game: GameSummary, seat: int) -> None:
        """Add a game that it played at a seat."""
        self.games += 1
        self.asked += game.asked[seat]
        self.forfeits += bool(game.verdicts[seat])
        self.used += game.used_ms[seat]
        if game.cpu_ms:
            self.cpu += game.cpu_ms[seat]
        if game.idle_ms:
            self.idle += game.idle_ms[seat]

    def each(self, total: float) -> float | None:
        """Divide a total by the number of actions."""
        return total / self.asked if self.asked else None


Outcome = tuple[tuple[str, ...], tuple[int, ...], tuple[int, ...]]
"""By seat: labels, teams, places."""


class GroupGames:
    """What standings need of the games of one group.

    Args:
        games: all of them, at least one, in playing order.
        number: the players by label.
        common: the parts in which all tables get the same cards.
    """

    def __init__(self, games: Sequence[GameSummary], number: Mapping[str, int], common: Collection[int]) -> None:
        self.sides = list_teams(games[0].teams)
        """The seats of each team."""
        self.once = games[0].once
        """Whether a deal is one game, the same for all seats."""
        self.totals = {label: Totals() for label in number}
        """Of all games."""
        for game in games:
            for seat, label in enumerate(game.labels):
                self.totals[label].add(game, seat)
        complete = list_complete(games)
        self.waiting = len(games) - len(complete)
        """How many games belong to deals that were not played in every rotation yet."""
        self.rated = RatedGames()
        """Those of complete deals, except void ones."""
        self.common = bool(common) and any(game.key.part in common for game in games)
        """Whether tables share their cards, so that a deal is not over before all of them have played it."""
        self.curves = RunningElo(len(number))
        """Of the rated games."""
        self.outcomes: Counter[Outcome] = Counter()
        """Of the rated games."""
        for game in list_counted(complete):
            rated = make_rated_game(game, number, common)
            self.rated.add(rated)
            self.curves.add(rated)
            self.outcomes[game.labels, game.teams, game.places] += 1


def collect_groups(
    games: Iterable[GameSummary], names: Sequence[str], common: Collection[int], clocks: Sequence[ClockRules]
) -> dict[RatingGroup, GroupGames]:
    """Collect what standings need of each group, in the order of their first games.

    Args:
        games: those that standings rate, in playing order.
        names: of all players, older versions of entries included.
        common: the parts in which all tables get the same cards.
        clocks: those of the parts, by number.
    """
    number = {name: index for index, name in enumerate(names)}
    return {group: GroupGames(played, number, common) for group, played in group_games(games, clocks).items()}
