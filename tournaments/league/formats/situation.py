"""What a format decides by, and what it decides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from tournaments.league.contents import Game
from tournaments.league.judgement import Judgement
from tournaments.league.parts import Draft
from tournaments.league.tournament import Tournament


class Wait:
    """The next part, if there is one, depends on games that are still open."""


class Done:
    """No part is missing."""


Decision = Draft | Wait | Done


class Situation(NamedTuple):
    """What a format decides by.

    Open parts still change, so it sees the results of closed ones alone: then the same parts follow whenever it is
    asked.
    """

    tournament: Tournament
    judgement: Judgement
    """Of the games of closed parts."""
    suspended: Collection[str]
    """Entries that get no new games until they are readmitted."""
    list_games: Callable[[], Iterable[Game]]
    """Returns the games of closed parts that count, in playing order."""
