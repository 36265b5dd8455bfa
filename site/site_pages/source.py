"""What a league must offer for its site to be rendered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from referee.records import Key, Record
from referee.ruleset import Ruleset
from tournaments.league.contents import Entry, Game, Tournament
from tournaments.league.series import Score
from tournaments.league.standings import Standings


class Source(Protocol):
    """A league to read from; games may be added to it meanwhile, but none is ever changed or taken away."""

    def tournament(self) -> Tournament:
        """Return the tournament."""

    def rulesets(self) -> tuple[Ruleset, ...]:
        """Return the rulesets that are played."""

    def entries(self) -> tuple[Entry, ...]:
        """Return the bots that take part."""

    def games(self) -> Iterator[Game]:
        """Yield the finished games in schedule order, without their actions."""

    def records(self) -> Iterator[Record]:
        """Yield the records of the finished games in schedule order."""

    def standings(self) -> tuple[Standings, ...]:
        """Return the standings of each ruleset and number of seats."""

    def series(self) -> dict[Key, Score]:
        """Return where the series stands after each game, for the rulesets that play series."""
