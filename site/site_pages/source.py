"""What a league must offer for its site to be rendered, and what of it the site shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from msgspec.structs import replace

from referee.records import Record
from tournaments.league.contents import Entry, Game, LeagueContents
from tournaments.league.formats.situation import Situation
from tournaments.league.publication import Publication
from tournaments.league.tournament import Tournament


class Source(LeagueContents, Protocol):
    """A league to render; a run may add games meanwhile, but changes and deletes none."""

    def tournament(self) -> Tournament:
        """Return the tournament."""

    def situation(self) -> Situation:
        """Return what the format of the tournament sees."""

    def records(self) -> Iterator[Record]:
        """Return the records of the finished games in the order of the schedule."""


def list_games(source: Source) -> Iterator[Game]:
    """Yield the games that count in playing order, numbered from the first game of the tournament.

    A league numbers the games of all its tournaments in one sequence. Files are named after these numbers, and must
    not depend on what was played between.
    """
    schedules = source.tournament().schedules
    shifts: list[int] = []
    for game in source.games():
        while len(shifts) <= game.key.part:  # parts may come in between
            before = sum(schedule.total for schedule in schedules[: len(shifts)])
            shifts.append(schedules[len(shifts)].part.first - before)
        shift = shifts[game.key.part]
        yield replace(game, number=game.number - shift) if shift else game


class PublishedSource:
    """A league as far as it may be published."""

    def __init__(self, source: Source, publication: Publication) -> None:
        self.publication = publication
        self.withheld = 0
        """Verdicts that lost evidence."""
        self._source = source

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries."""
        return tuple(map(self.publication.redact_entry, self._source.entries()))

    def games(self) -> Iterator[Game]:
        """Yield the games that count, numbered from the first game of the tournament."""
        return list_games(self._source)

    def records(self) -> Iterator[Record]:
        """Return the records, and count what their verdicts lose; whoever shows a note redacts it, which takes long."""
        for record in self._source.records():
            self.withheld += self._count_withheld(record)
            yield self.publication.redact_faults(record)

    def _count_withheld(self, record: Record) -> int:
        return sum(self.publication.withholds(record.entries[fault.seat][0], fault) for fault in record.faults)
