"""Writes a league: its tables, its journal, and one transaction for each finished game."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar

import msgspec
from msgspec.structs import astuple

from malice.referee.records import Key, Record
from malice.tournaments.errors import DamagedLeague, LeagueError, LockedLeague, Stopped
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.file import APPLICATION_ID, LeagueFile, StoredRow, Waiting
from malice.tournaments.league.journal import ROOT, AnyEvent, chain_event, encode_event
from malice.tournaments.league.notes import RunningRun
from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.league.stored_games import encode_failed, pack_record
from malice.tournaments.league.tournament import Tournaments

if TYPE_CHECKING:
    from sqlite_utils import Database


def m006_league(db: Database) -> None:
    """Create the tables of a league: the journal, and of each game a row for standings and a blob for replays."""
    db.conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    tables = """
        CREATE TABLE journal (
            number INTEGER PRIMARY KEY, tournament TEXT NOT NULL, at REAL NOT NULL, event TEXT NOT NULL,
            digest TEXT NOT NULL
        ) STRICT;
        CREATE TABLE games (
            number INTEGER PRIMARY KEY, tournament INTEGER NOT NULL, part INTEGER NOT NULL, "table" INTEGER NOT NULL,
            deal INTEGER NOT NULL, rotation INTEGER NOT NULL, failed TEXT NOT NULL, summary TEXT NOT NULL,
            digest TEXT NOT NULL, UNIQUE (tournament, part, "table", deal, rotation)
        ) STRICT;
        CREATE TABLE records (number INTEGER PRIMARY KEY REFERENCES games, record BLOB NOT NULL) STRICT;
    """
    for statement in tables.split(";"):
        if statement.strip():
            db.conn.execute(statement)


def m007_events(db: Database) -> None:
    """Add what the referee packs of a game for the site; games that were played before have nothing there."""
    db.conn.execute("ALTER TABLE records ADD COLUMN events BLOB")


def m008_desk(db: Database) -> None:
    """Add what an organiser decides while a run plays, and which run that is."""
    db.conn.execute(
        "CREATE TABLE decisions (number INTEGER PRIMARY KEY, at REAL NOT NULL, decision TEXT NOT NULL) STRICT"
    )
    db.conn.execute("CREATE TABLE runs (number INTEGER PRIMARY KEY, run TEXT NOT NULL) STRICT")


MIGRATIONS = (m006_league, m007_events, m008_desk)
TABLES = {
    "m006_league": ("journal", "games", "records"),
    "m007_events": ("records.events",),
    "m008_desk": ("decisions", "runs"),
}
"""The tables that each migration creates, and the columns it adds to them, in the order of the migrations."""
FIRST = frozenset(TABLES["m006_league"])
FORMAT_1 = ("m001_league", "m002_readmissions", "m003_league", "m004_readmissions", "m005_absences")
"""The migrations of leagues of format 1, whose tables have the same names, but other columns."""


class SchemaRow(StoredRow, frozen=True):
    """A table in the file."""

    TABLE: ClassVar[str] = "of all tables"  # for people: "table of all tables"
    SELECT: ClassVar[str] = "SELECT sqlite_master.name FROM sqlite_master WHERE type = 'table'"

    name: str


class ColumnRow(StoredRow, frozen=True):
    """A column of the table `records`, by its full name."""

    TABLE: ClassVar[str] = "records"
    SELECT: ClassVar[str] = "SELECT 'records.' || columns.name FROM pragma_table_info('records') AS columns"

    name: str


class MigrationRow(StoredRow, frozen=True):
    """A migration that was applied."""

    TABLE: ClassVar[str] = "_sqlite_migrations"
    SELECT: ClassVar[str] = "SELECT _sqlite_migrations.name FROM _sqlite_migrations WHERE migration_set = 'malice'"

    name: str


def check_tables(file: LeagueFile) -> frozenset[str]:
    """Find the tables of a league; none if no run created a tournament in the file yet.

    Raises:
        LeagueError: the file is not a league, or has an older or a newer schema than this malice reads.
        DamagedLeague: the file is a league, but lacks the tables of one.
    """
    try:
        tables = {row.name for row in file.rows(SchemaRow)}
        application = file.number("PRAGMA application_id", "the header")
    except DamagedLeague:
        if file.looks_ours():
            raise
        raise LeagueError(f"{file.path}: not a malice league") from None
    # A run that died while it created the file may leave an empty list of migrations.
    if not tables - {"_sqlite_migrations", "sqlite_sequence"} and application != APPLICATION_ID:
        if file.looks_ours():
            raise file.damage("the header", "expected the tables of a league, got none")
        if file.is_foreign():
            raise LeagueError(f"{file.path}: not a malice league")
        return frozenset()
    # A missing table, or a damaged header: either alone does not make it the file of another program.
    if application != APPLICATION_ID and len(tables & FIRST) < len(FIRST) - 1:
        raise LeagueError(f"{file.path}: not a malice league, but a database of another program")
    if application != APPLICATION_ID:
        raise file.damage("the header", f"expected the application id {APPLICATION_ID:#x}, got {application:#x}")
    # SQLite reads a page that was cut off as if it ended in zeros.
    page, size = file.number("PRAGMA page_size", "the header"), file.path.stat().st_size
    if size % page:
        raise file.damage("the end of the file", f"expected whole pages of {page} bytes, got {size} bytes")
    return _check_migrations(file, tables | {row.name for row in file.rows(ColumnRow)})


def _check_migrations(file: LeagueFile, tables: set[str]) -> frozenset[str]:
    """The tables of the applied migrations, if the file has these and no others of ours."""
    applied = {row.name for row in file.rows(MigrationRow)}
    known = list(TABLES)
    if applied and applied <= set(FORMAT_1):
        raise LeagueError(
            f"{file.path}: a league of format 1, which only the older malice that wrote it can read or go on with:"
            " play the tournament again with this one, with another --db"
        )
    if applied > set(known):
        raise LeagueError(f"{file.path}: written by a newer malice (schema {max(applied)})")
    if not applied or applied != set(known[: len(applied)]):
        raise file.damage(
            "table _sqlite_migrations", f"expected the first of {', '.join(known)}, got {', '.join(sorted(applied))}"
        )
    for migration, created in TABLES.items():
        for table in created:
            if (table in tables) != (migration in applied):
                state = "is missing" if migration in applied else f"is there, but not its migration {migration}"
                raise file.damage(f"{'column' if '.' in table else 'table'} {table}", state)
    return frozenset(table for migration in applied for table in TABLES[migration])


def migrate(file: LeagueFile, tables: frozenset[str]) -> None:
    """Bring the tables to the newest schema.

    Raises:
        sqlite3.Error: the disk is full or fails.
    """
    if len(tables) == sum(map(len, TABLES.values())):
        return
    # Imported here: it loads numpy, which a reader of a league does not need.
    from sqlite_utils import Database, Migrations

    migrations = Migrations("malice")
    for migration in MIGRATIONS:
        migrations()(migration)
    migrations.apply(Database(file.connection))


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
        self._noted = False
        if not create and not path.is_file():
            raise LeagueError("no such database", where=path)
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
            raise LeagueError(f"{error} when that run is over, or end it with: malice stop {self.path}") from None
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
            if self._noted:
                connection.execute("DELETE FROM runs")
            connection.execute(f"PRAGMA busy_timeout = {CLOSING_WAIT_MS}")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("PRAGMA journal_mode = DELETE")

    def append(self, name: str, events: Iterable[AnyEvent]) -> None:
        """Write events of a tournament to the journal: all of them or none.

        Raises:
            ValueError: one contradicts what happened before.
            Stopped: the disk is full or fails.
        """
        self.append_all((name, event) for event in events)

    def append_all(self, events: Iterable[tuple[str, AnyEvent]], ruling: int | None = None) -> None:
        """Write events of several tournaments, as `append`; with them, the ruling of this number no longer waits."""
        league = self.league().fork()
        number, digest = self._read, self._digest
        with self._writing():
            for name, event in events:
                at, text = time.time(), encode_event(event)
                league.apply(name, event, at)
                digest = chain_event(digest, number, name, at, text)
                self._file.write("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", (number, name, at, text, digest))
                number += 1
            if ruling is not None:
                self._file.write("DELETE FROM decisions WHERE number = ?", (ruling,))
        self.league()

    def note_run(self, run: RunningRun) -> None:
        """Write down who plays, until the league is closed."""
        with self._writing():
            self._file.write("DELETE FROM runs")
            self._file.write("INSERT INTO runs VALUES (1, ?)", (msgspec.json.encode(run).decode(),))
        self._noted = True

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
            self._name, self._league, self._read, self._digest = None, Tournaments(), 0, ROOT

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
    """The rows of a game in both tables; they are made before a transaction locks the file."""
    summary, failed = msgspec.json.encode(game).decode(), encode_failed(game.finish())
    return (
        (game.number, tournament, *astuple(record.key), failed, summary, record.digest),
        (game.number, pack_record(record), record.events or None),
    )


def is_played(path: Path) -> bool:
    """Whether a run writes to a league now; ask only while this process does not have the file open.

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
