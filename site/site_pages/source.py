"""What a league must offer for its site to be rendered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from referee.records import Record
from tournaments.league import Entry, Game, Tournament
from tournaments.standings import Standings


class Source(Protocol):
    """A league to read from; games may be added to it meanwhile, but none is ever changed or taken away."""

    def tournament(self) -> Tournament:
        """Return the tournament."""

    def entries(self) -> tuple[Entry, ...]:
        """Return the bots that take part."""

    def games(self) -> Iterator[Game]:
        """Yield the finished games in schedule order, without their actions."""

    def records(self) -> Iterator[Record]:
        """Yield the records of the finished games in schedule order."""

    def standings(self) -> tuple[Standings, ...]:
        """Return the standings of each ruleset and number of seats."""
