"""The beginning of a list of games that rests, so that who looks at the list again looks at its latest games only."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import NamedTuple

from malice.tournaments.league.contents import GameSummary

RECENT = 1000
"""The latest games, among which a run may still put others: so many that what comes before them rests."""


class Advance(NamedTuple):
    """What is new in a list of games."""

    anew: bool
    """Whether nothing that was known of the games holds any more: all of them are new."""
    settled: Sequence[GameSummary]
    """New games that rest from now on."""
    recent: Sequence[GameSummary]
    """The games after all those that rest."""


class Checkpoint:
    """The games that rest, of one list that grows.

    Stored games never change, and who remembers them gives the same objects again: so a look at each is enough.
    """

    def __init__(self) -> None:
        self._terms: object = None
        self._games: Sequence[GameSummary] = []

    def advance(self, terms: object, games: Sequence[GameSummary]) -> Advance:
        """Let games rest.

        Args:
            terms: what decides, besides the games, what is found out about them.
            games: the whole list as it is now.
        """
        before = len(self._games)
        anew = terms != self._terms or before > len(games) or not all(map(operator.is_, self._games, games))
        if anew:
            before = 0
        rest = max(before, len(games) - RECENT)
        self._terms, self._games = terms, games[:rest]
        return Advance(anew, games[before:rest], games[rest:])

    def forget(self) -> None:
        """Take all games for new ones."""
        self._terms, self._games = None, []
