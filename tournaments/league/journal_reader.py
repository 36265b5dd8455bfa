"""Reads the journal of a league, and tells what its tournaments are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import msgspec

from malice.referee.errors import DataError
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.file import LeagueFile, StoredRow
from malice.tournaments.league.journal import ROOT, AnyEvent, JournalRow, PartCreated, chain_event, decode_event
from malice.tournaments.league.league import League
from malice.tournaments.league.tournament import Tournament

T = TypeVar("T")

ROWS = ("games NOT INDEXED", "games", "records")
"""What a league with games has rows in."""


class JournalReader:
    """The journal of a league, and one of its tournaments: the one that is chosen, or the only one that can be meant.

    Every method raises `DamagedLeague` if a value cannot be read or contradicts another, and `LockedLeague` if
    another program keeps the file locked.

    Args:
        file: the league's file.
    """

    def __init__(self, file: LeagueFile) -> None:
        self.path = file.path
        self._file = file
        self._tables: frozenset[str] = frozenset()
        self._name: str | None = None
        self._league = League()
        self._read = 0
        self._digest = ROOT

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one consistent state: games that a run adds meanwhile stay invisible."""
        with self._file.transaction(write=False):
            yield

    @contextmanager
    def away(self) -> Iterator[None]:
        """Keep the file closed while this context lasts, so that a run can end meanwhile."""
        with self._file.away():
            yield

    def integrity(self) -> str:
        """Return the first problem that SQLite finds in the whole file, or an empty string."""
        return self._file.integrity()

    def league(self) -> League:
        """Return all tournaments, as the journal tells them."""
        if self._tables:
            for row, event in self._read_events(self._read):
                self._apply(self._league, row, event)
                self._read, self._digest = row.number + 1, row.digest
        return self._league

    def events(self) -> Iterator[tuple[JournalRow, AnyEvent]]:
        """Return every event of the journal, in order."""
        return self._read_events(0) if self._tables else iter(())

    def _read_events(self, first: int) -> Iterator[tuple[JournalRow, AnyEvent]]:
        digest = self._digest if first else ROOT
        for number, row in enumerate(self._file.rows(JournalRow, "WHERE number >= ? ORDER BY number", (first,)), first):
            if row.number != number:
                raise self._file.damage(row.place(), f"expected number {number}")
            if row.digest != chain_event(digest, number, row.tournament, row.at, row.event):
                raise self._file.damage(row.place(), "the digest does not match the event and those before it")
            digest = row.digest
            yield row, self._decode(decode_event, row, "event", row.event)

    def _apply(self, league: League, row: JournalRow, event: AnyEvent) -> None:
        try:
            league.apply(row.tournament, event, row.at)
        except LeagueError as error:
            raise LeagueError(f"{self.path}: {error}") from None
        except (ValueError, DataError) as error:
            raise self._file.damage(f"{row.place()}, column event", str(error)) from None

    def _decode(self, decode: Callable[[str], T], row: StoredRow, column: str, text: str) -> T:
        try:
            return decode(text)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise self._file.damage(f"{row.place()}, column {column}", str(error)) from None

    def select(self, name: str) -> None:
        """Choose the tournament of which the other methods tell.

        Raises:
            LeagueError: the league has none of this name.
        """
        names = list(self.league().tournaments)
        if name not in names:
            known = ", ".join(names) or "none"
            raise LeagueError(f"{self.path}: no tournament {name!r}; it has {known}")
        self._name = name

    def tournament(self) -> Tournament:
        """Return the chosen tournament, or the only one that can be meant.

        Raises:
            LeagueError: none is chosen, and there is none, or there are several.
        """
        league = self.league()
        if not league.tournaments:
            if not self.is_empty():
                raise self._file.damage("table journal", "expected a tournament, since games are stored")
            raise LeagueError(f"{self.path}: holds no tournament")
        if self._name is None and len(meant := league.list_meant()) > 1:
            raise LeagueError(f"{self.path}: holds {', '.join(meant)}; choose one of them with --tournament")
        return league.tournaments[self._name or meant[0]]

    def has_shared(self, name: str) -> bool:
        """Return whether a tournament has a part that copies of the league play."""
        created = (event for row, event in self.events() if row.tournament == name and isinstance(event, PartCreated))
        return any(event.shared is True for event in created)

    def is_empty(self) -> bool:
        """Return whether no game is stored yet."""
        if not self._tables:
            return True
        # Check the index and the records too: damage that hides games must not look like their absence.
        # One statement sees one state of the file, even while a run stores its first game.
        sums = " + ".join(f"EXISTS (SELECT 1 FROM {rows})" for rows in ROWS)
        filled = self._file.number(f"SELECT {sums}", "table games")
        if 0 < filled < len(ROWS):
            raise self._file.damage("table games", "expected a game for each record, and each in the index of keys")
        return not filled
