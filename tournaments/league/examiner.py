"""Examines a stored game: its cards, its seats, its clock, its play and its summary must be those of its part."""

from __future__ import annotations

import msgspec

from malice.protocol.messages import ClockRules
from malice.referee.errors import ChangedRules, DataError
from malice.referee.records import Record
from malice.referee.replay import check_record
from malice.tournaments.errors import UnverifiedError
from malice.tournaments.league.contents import GameSummary, summarize_record
from malice.tournaments.league.damage import refuse_verdicts
from malice.tournaments.league.parts import VersionKey
from malice.tournaments.league.reader import LeagueReader


class GameCheck:
    """Compares each game of the chosen tournament with its part.

    Args:
        league: the league.
    """

    def __init__(self, league: LeagueReader) -> None:
        self._tournament = league.tournament()
        self._seeds = [self._tournament.seeds(part.number) for part in self._tournament.parts]
        self._clock = msgspec.convert(msgspec.to_builtins(self._tournament.config.clock), ClockRules)

    def examine(self, row: GameSummary, record: Record) -> str:
        """Check that the seed dealt a game, and that its seats and its play are as the record says.

        Returns:
            A sentence if its play cannot be checked, because the rules have changed since; else nothing.

        Raises:
            UnverifiedError: they are not; the message names the game.
        """
        key, seeds = record.key, self._seeds[record.key.part]
        entrants = self._tournament.parts[key.part].tables[key.table].entrants
        if record.deal_seed != seeds.deal_seed(key).hex():
            raise UnverifiedError(f"game {key}: its cards were not dealt by the seed of its part")
        seated = [entrants[player] for player in seeds.seating(key, len(entrants))]
        self._verify_seats(record, seated)
        if record.clock != self._clock:
            raise UnverifiedError(
                f"game {key}: expected the clock of the tournament, {self._clock}, got {record.clock}"
            )
        try:
            refuse_verdicts(record)
        except ValueError as error:
            raise UnverifiedError(f"game {key}: {error}") from None
        versions = tuple(each.version for each in seated)
        if row != summarize_record(record, row.number, row.teams, versions, once=row.once):
            raise UnverifiedError(f"game {key}: the summary for standings does not match the record")
        try:
            check_record(record)
        except ChangedRules as error:
            return str(error)
        except DataError as error:
            raise UnverifiedError(str(error)) from None
        return ""

    def _verify_seats(self, record: Record, seated: list[VersionKey]) -> None:
        key = record.key
        if len(record.entries) != len(seated):
            raise UnverifiedError(f"game {key}: expected {len(seated)} seats, the record has {len(record.entries)}")
        for seat, ((label, hash), entrant) in enumerate(zip(record.entries, seated, strict=True)):
            version = self._tournament.version(entrant)
            if (label, hash) != (version.label, version.hash):
                raise UnverifiedError(
                    f"game {key}: expected {version.label!r} (content {version.hash[:12]}) at seat {seat},"
                    f" the record says {label!r} ({hash[:12]})"
                )
