"""Writes a league: one writer, one transaction for each finished game."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from types import TracebackType

import msgspec
from msgspec.structs import astuple

from malice.referee.records import Key, Record
from malice.tournaments.errors import LeagueError, LockedLeague, Stopped
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.damage import encode_failed
from malice.tournaments.league.file import LeagueFile
from malice.tournaments.league.journal import ROOT, AnyEvent, chain_event, encode_event
from malice.tournaments.league.league import League
from malice.tournaments.league.packing import pack_record
from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.league.schema import check_tables, migrate
from malice.tournaments.league.waiting import Waiting

CLOSING_WAIT_MS = 5000
"""How long a run waits for a reader when it closes its league."""


class Store(LeagueReader):
    """A league that is open for reading, and for one writer.

    Every method raises `DamagedLeague` if a value cannot be read or contradicts another, and `LockedLeague` if
    another program keeps the file locked.

    Args:
        path: the file.
        create: whether to write, and to create the file if it does not exist.
        waiting: how to wait for the locks of other programs.

    Raises:
        LeagueError: the file is missing, is not a league, or has a newer schema; or another run writes to it.
        DamagedLeague: the file is a league with a damaged header or damaged tables.
        LockedLeague: another program keeps it locked.
    """

    def __init__(self, path: Path, *, create: bool = False, waiting: Waiting | None = None) -> None:
        self._waiting = waiting or Waiting()
        self._lock: int | None = None
        if not create and not path.is_file():
            raise LeagueError(f"{path}: no such database")
        if create:
            with contextlib.suppress(OSError):  # it exists, or cannot be created, which SQLite reports too
                # The file holds the secret seed: only its owner may read it.
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        super().__init__(LeagueFile(path, self._waiting))
        try:
            self._tables = check_tables(self._file)
            if create:
                self._begin_writing()
        except sqlite3.Error as error:
            self.close()
            raise LeagueError(f"{path}: {error}") from None
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; it can then be read even from a read-only disk."""
        if self._lock is not None:
            self._finish_writing()
        self._file.connection.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _begin_writing(self) -> None:
        # Held until the process ends; SQLite's own locks are of another kind and do not conflict with it.
        try:
            lock = os.open(self.path, os.O_RDWR)
        except OSError as error:
            raise LeagueError(f"{self.path}: {error.strerror}") from None
        try:
            self._waiting.wait_for(
                self.path,
                "another malice run is writing to it",
                lambda: fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB),
            )
        except LockedLeague as error:
            os.close(lock)
            # Unlike a backup, a run may take hours: there is nothing to try again soon.
            raise LeagueError(f"{error} when that run is over, or stop it with Ctrl-C") from None
        except BaseException:
            os.close(lock)
            raise
        self._lock = lock
        tables = check_tables(self._file)  # the run that held the lock may have created them
        self._file.attempt(lambda: migrate(self._file, tables))
        self._file.write("PRAGMA journal_mode = WAL")
        self._file.write("PRAGMA synchronous = FULL")
        self._tables = check_tables(self._file)
        self.is_empty()  # games that damage hides must not be played again

    def _finish_writing(self) -> None:
        """Fold the write-ahead log into the file, so that the file can be read from a read-only disk."""
        connection = self._file.connection
        with contextlib.suppress(sqlite3.Error):  # a full disk, or a reader: the log stays intact beside the file
            connection.execute(f"PRAGMA busy_timeout = {CLOSING_WAIT_MS}")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("PRAGMA journal_mode = DELETE")

    def append(self, name: str, events: Iterable[AnyEvent]) -> None:
        """Write events of a tournament to the journal: all of them or none.

        Raises:
            ValueError: one contradicts what happened before.
            Stopped: the disk is full or fails.
        """
        league = self.league().fork()
        number, digest = self._read, self._digest
        with self._writing():
            for event in events:
                at, text = time.time(), encode_event(event)
                league.apply(name, event, at)
                digest = chain_event(digest, number, name, at, text)
                self._file.write("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", (number, name, at, text, digest))
                number += 1
        self.league()

    def forget_unplayed(self, name: str) -> None:
        """Take back a tournament that never played a game, if nothing happened in the league since it began.

        One that copies of the league play stays: it would begin with other cards, and their games would be lost.
        """
        if name not in self.league().tournaments:
            return
        events = list(self.events())
        mine = [row.number for row, _ in events if row.tournament == name]
        self.select(name)
        if mine == list(range(mine[0], len(events))) and not self.has_games() and not self.has_shared(name):
            with self._writing():
                self._file.write("DELETE FROM journal WHERE number >= ?", (mine[0],))
            self._name, self._league, self._read, self._digest = None, League(), 0, ROOT

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Write everything in the block or nothing; a disk that fails stops the tournament."""
        try:
            with self._file.transaction():
                yield
        except sqlite3.Error as error:
            raise Stopped(f"{self.path}: cannot be written: {error}") from None

    def add(self, game: GameSummary, record: Record) -> None:
        """Write a finished game; as `add_all`."""
        self.add_all([(game, record)])

    def add_all(self, games: Iterable[tuple[GameSummary, Record]]) -> None:
        """Write finished games, those of any tournament of the league, in one transaction.

        When this returns, the disk holds all of them; until then, none of them.

        Raises:
            sqlite3.Error: the disk is full or failed; the league is unchanged.
            LockedLeague, DamagedLeague: the league is unchanged, too.
        """
        tournaments = list(self.league().tournaments)
        rows = [_make_rows(game, record, tournaments.index(record.tournament)) for game, record in games]
        with self._file.transaction():
            for placed, recorded in rows:
                self._file.write("INSERT INTO games VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", placed)
                self._file.write("INSERT INTO records VALUES (?, ?, ?)", recorded)

    def take_back(self, keys: Collection[Key]) -> None:
        """Remove games of the chosen tournament whose records do not replay, so that they are played again.

        Raises:
            Stopped: the disk is full or fails; the league is unchanged.
        """
        tournament = self.tournament()
        with self._writing():
            for key in keys:
                number = tournament.schedules[key.part].number(key)
                self._file.write("DELETE FROM records WHERE number = ?", (number,))
                self._file.write("DELETE FROM games WHERE number = ?", (number,))


def _make_rows(game: GameSummary, record: Record, tournament: int) -> tuple[tuple[object, ...], tuple[object, ...]]:
    """Return the rows of a game in both tables; they are made before a transaction locks the file."""
    summary, failed = msgspec.json.encode(game).decode(), encode_failed(game.finish())
    return (
        (game.number, tournament, *astuple(record.key), failed, summary, record.digest),
        (game.number, pack_record(record), record.events or None),
    )


def is_played(path: Path) -> bool:
    """Return whether a run writes to a league now; ask only while this process does not have the file open.

    Otherwise the locks would be lost that SQLite holds for us, as the system drops all of them with the first
    descriptor of the file that is closed.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
