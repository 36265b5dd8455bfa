"""Writes a league: one writer, one transaction for each finished game."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Collection, Iterator
from pathlib import Path
from types import TracebackType

import msgspec

from referee.families import load_family
from referee.records import Record
from referee.rulesets import Ruleset
from tournaments.errors import LeagueError, Stopped
from tournaments.league.config import Config, encode_identity
from tournaments.league.contents import Entry, Game, Readmission, Tournament
from tournaments.league.file import LeagueFile
from tournaments.league.packing import pack_record
from tournaments.league.reader import LeagueReader
from tournaments.league.schema import examine, migrate
from tournaments.league.waiting import Waiting

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
        LeagueError: the file is missing, is not a league, or has a newer schema.
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
            self._tables = examine(self._file)
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
        except BaseException:
            os.close(lock)
            raise
        self._lock = lock
        tables = examine(self._file)  # the run that held the lock may have created them
        self._file.attempt(lambda: migrate(self._file, tables))
        self._file.write("PRAGMA journal_mode = WAL")
        self._file.write("PRAGMA synchronous = FULL")
        self._tables = examine(self._file)

    def _finish_writing(self) -> None:
        """Fold the write-ahead log into the file, so that the file can be read from a read-only disk."""
        connection = self._file.connection
        with contextlib.suppress(sqlite3.Error):  # a full disk, or a reader: the log stays intact beside the file
            connection.execute(f"PRAGMA busy_timeout = {CLOSING_WAIT_MS}")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("PRAGMA journal_mode = DELETE")

    def create_tournament(
        self, config: Config, seed: bytes, tournament: Tournament, entries: tuple[Entry, ...],
        rulesets: tuple[Ruleset, ...],
    ) -> None:  # fmt: skip
        """Write a tournament to a league without games; it replaces one that never played a game."""
        row = (
            tournament.name, encode_identity(config), seed, tournament.commit, tournament.planned, tournament.created,
        )  # fmt: skip
        with self._writing():
            for table in ("tournament", "rulesets", "entries", "absences"):
                self._file.write(f"DELETE FROM {table}")
            self._file.write("INSERT INTO tournament VALUES (1, ?, ?, ?, ?, ?, 0, ?)", row)
            for ruleset in rulesets:
                rules = msgspec.json.encode(ruleset.rules).decode()
                package = load_family(ruleset.family).package
                values = (ruleset.name, ruleset.family, package, ruleset.about, ruleset.source, rules)
                self._file.write("INSERT INTO rulesets VALUES (?, ?, ?, ?, ?, ?)", values)
            for place, entry in enumerate(entries):
                columns = (place, entry.label, entry.hash, entry.name, *_list_bot_columns(entry))
                self._file.write("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", columns)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Write everything in the block or nothing; a disk that fails stops the tournament."""
        try:
            with self._file.transaction():
                yield
        except sqlite3.Error as error:
            raise Stopped(f"{self.path}: cannot be written: {error}") from None

    def add(self, game: Game, record: Record) -> None:
        """Write a finished game: when this returns, the disk holds all of it; until then, none of it.

        Raises:
            sqlite3.Error: the disk is full or failed; the league is unchanged.
            LockedLeague, DamagedLeague: the league is unchanged, too.
        """
        summary = msgspec.json.encode(game).decode()
        row = (game.number, record.key.table, record.key.deal, record.key.rotation, summary, record.digest)
        with self._file.transaction():
            self._file.write("INSERT INTO games VALUES (?, ?, ?, ?, ?, ?)", row)
            self._file.write("INSERT INTO records VALUES (?, ?)", (game.number, pack_record(record)))

    def plan(self, games: int) -> None:
        """Set the number of games of the tournament, which grows with open series."""
        with self._writing():
            self._file.write("UPDATE tournament SET planned = ?", (games,))

    def complete(self, struck: Collection[int] = (), idle: Collection[Readmission] = ()) -> None:
        """Mark the tournament as complete; from now on the seed is public.

        Args:
            struck: numbers of the games to delete, which were played ahead but which a suspension leaves out.
            idle: readmissions to delete, since they lift no suspension any more.
        """
        numbers = [(number,) for number in struck]
        with self._writing():
            for number in numbers:
                self._file.write("DELETE FROM records WHERE number = ?", number)
                self._file.write("DELETE FROM games WHERE number = ?", number)
            for readmission in idle:
                self._file.write("DELETE FROM readmissions WHERE label = ? AND number = ?", readmission)
            self._file.write("UPDATE tournament SET complete = 1")

    def note_absences(self, entries: Collection[Entry]) -> None:
        """Write which entries are absent, and what is now known of those that were and are no longer.

        The name under which a bot was entered stays: its label may follow from it.

        Args:
            entries: all entries, as they are now.
        """
        returned = {old.label for old in self.entries() if old.absence}
        with self._writing():
            self._file.write("DELETE FROM absences")
            for entry in entries:
                if entry.absence:
                    row = (entry.label, entry.absence.code, entry.absence.sentence, entry.absence.output)
                    self._file.write("INSERT INTO absences VALUES (?, ?, ?, ?)", row)
                elif entry.label in returned:
                    self._file.write(
                        "UPDATE entries SET hash = ?, version = ?, author = ?, language = ?, command = ?, rulesets = ?"
                        " WHERE label = ?",
                        (entry.hash, *_list_bot_columns(entry), entry.label),
                    )

    def readmit(self, label: str, number: int) -> None:
        """Lift the suspension of a bot by the game of this number."""
        with self._writing():
            self._file.write("INSERT INTO readmissions VALUES (?, ?)", (label, number))
            self._file.write("UPDATE tournament SET complete = 0")


def _list_bot_columns(entry: Entry) -> tuple[str, ...]:
    """Return the columns of what a bot says of itself, and how it is started."""
    lists = [msgspec.json.encode(words).decode() for words in (entry.command, entry.rulesets)]
    return (entry.version, entry.author, entry.language, *lists)
