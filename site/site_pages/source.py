"""What a league must offer for its site to be rendered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from referee.records import Record
from tournaments.league.contents import LeagueContents, Tournament


class Source(LeagueContents, Protocol):
    """A league to render; a run may add games meanwhile, but changes and deletes none."""

    def tournament(self) -> Tournament:
        """Return the tournament."""

    def records(self) -> Iterator[Record]:
        """Return the records of the finished games in the order of the schedule."""
