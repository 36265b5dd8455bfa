"""What a format decides by, and what it decides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from malice.tournaments.league.contents import Finished, GameSummary
from malice.tournaments.league.judgement import CountedGames, find_counted_games
from malice.tournaments.league.parts import Draft
from malice.tournaments.league.tournament import Tournament


class Wait:
    """The next part, if there is one, depends on games that are still open."""


class Done:
    """No part is missing."""


Decision = Draft | Wait | Done


class FormatInput(NamedTuple):
    """What a format decides by.

    Open parts still change, so it sees the results of closed ones alone: then the same parts follow whenever it is
    asked.
    """

    tournament: Tournament
    judgement: CountedGames
    """Of the games of closed parts."""
    suspended: Collection[str]
    """Entries that get no new games until they are readmitted."""
    list_games: Callable[[], Iterable[GameSummary]]
    """Returns the games of closed parts that count, in playing order."""


def make_format_input(
    tournament: Tournament,
    finished: Iterable[Finished],
    suspended: Iterable[str],
    list_games: Callable[[], Iterable[GameSummary]],
) -> FormatInput:
    """Return what the format of a tournament decides by.

    Args:
        tournament: the tournament.
        finished: its finished games, in playing order; those of open parts are left out.
        suspended: entries that get no new games.
        list_games: returns its stored games with their results.
    """
    judgement = find_counted_games(tournament, (game for game in finished if game.key.part in tournament.closed))
    counted = {game.number for game in judgement.counted}
    return FormatInput(
        tournament, judgement, frozenset(suspended), lambda: (game for game in list_games() if game.number in counted)
    )
