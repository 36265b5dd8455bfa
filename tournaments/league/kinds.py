"""Kinds of games: one fit covers one ruleset, one number of seats and one clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from malice.protocol.messages import ClockRules
from malice.referee.replay import VOID
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.ratings.rated_games import RatedGame


class RatingGroup(NamedTuple):
    """What games must share to be rated together."""

    ruleset: str
    seats: int
    clock: ClockRules | None
    """None if it is unknown."""


def group_games(
    games: Iterable[GameSummary], clocks: Sequence[ClockRules] = ()
) -> dict[RatingGroup, list[GameSummary]]:
    """Return the games by kind, in the order of their first games.

    Args:
        games: all games.
        clocks: those of the parts, by number.
    """
    kinds: dict[RatingGroup, list[GameSummary]] = {}
    lists: dict[tuple[str, int, int], list[GameSummary]] = {}  # a clock is slow to look up by
    for game in games:
        seats, part = len(game.labels), game.key.part
        if (found := lists.get((game.ruleset, seats, part))) is None:
            kind = RatingGroup(game.ruleset, seats, clocks[part] if part < len(clocks) else None)
            found = lists[game.ruleset, seats, part] = kinds.setdefault(kind, [])
        found.append(game)
    return kinds


def list_complete(played: Iterable[GameSummary]) -> list[GameSummary]:
    """Return the games of one kind whose deals are complete: played in every rotation, if there are any."""
    played = list(played)
    counts = Counter((game.key.part, game.key.table, game.key.deal) for game in played)
    return [game for game in played if counts[(game.key.part, game.key.table, game.key.deal)] == game.rotations]


def list_counted(complete: Iterable[GameSummary]) -> list[GameSummary]:
    """Return the games of complete deals that are rated: all but void ones."""
    return [game for game in complete if game.reason != VOID]


def make_rated_game(game: GameSummary, number: Mapping[str, int], common: Collection[int]) -> RatedGame:
    """Return a game as the ratings see it.

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
    """Return teams of one player each; the same ones for the same players, which takes less memory."""
    return tuple([(player,) for player in players])


@cache
def list_teams(teams: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the seats of each team, given the team of each seat."""
    return tuple(tuple(seat for seat, each in enumerate(teams) if each == team) for team in dict.fromkeys(teams))
