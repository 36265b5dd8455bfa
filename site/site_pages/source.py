"""The interface of a league that a site is rendered from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from referee.records import Key, Record
from referee.ruleset import Ruleset
from tournaments.league.contents import Entry, Game, Tournament
from tournaments.league.series import Score
from tournaments.league.standings import Standings


class Source(Protocol):
    """A league to read. Games may be added during the rendering, but never changed or removed."""

    def tournament(self) -> Tournament:
        """Return the tournament."""

    def rulesets(self) -> tuple[Ruleset, ...]:
        """Return the rulesets of the tournament."""

    def entries(self) -> tuple[Entry, ...]:
        """Return the bots of the tournament."""

    def games(self) -> Iterator[Game]:
        """Yield the finished games in schedule order, without their actions."""

    def records(self) -> Iterator[Record]:
        """Yield the records of the finished games in schedule order."""

    def standings(self) -> tuple[Standings, ...]:
        """Return the standings of each ruleset and number of seats."""

    def series(self) -> dict[Key, Score]:
        """Return the state of its series after each game, for rulesets that play series."""
