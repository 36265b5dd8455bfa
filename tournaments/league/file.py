"""The only access to the file of a league: it waits for locks, yields checked rows, and names the place of any
damage.

No exception of sqlite3 or of a decoder escapes from reading a damaged file.
"""

from __future__ import annotations

import contextlib
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, TextIO, TypeVar

import msgspec
from msgspec import Struct

from malice.tournaments.errors import DamagedLeague, LeagueError, LockedLeague

T = TypeVar("T")

WAIT_S = 30.0
"""The longest wait for the lock of another program."""
ANNOUNCE_AFTER_S = 0.5
"""The shortest wait worth a message: a program that writes holds its lock for milliseconds."""
STEP_S = 0.05


class Waiting:
    """Retries an attempt that a lock prevents, until the lock is gone or the time is up.

    Args:
        limit_s: the longest wait, in seconds.
        out: where to announce a wait; None for stderr.
        now: returns the time in seconds.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self,
        limit_s: float = WAIT_S,
        out: TextIO | None = None,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._limit_s = limit_s
        self._out = out
        self._now = now
        self._sleep = sleep

    def wait_for(self, path: Path, holder: str, attempt: Callable[[], T]) -> T:
        """Call `attempt` until no lock prevents it, and pass on its result.

        Args:
            path: the file, for the message.
            holder: the first half of the message, such as "another program has locked it".
            attempt: retried while it fails with `BlockingIOError` or SQLite's "busy".

        Raises:
            LockedLeague: the lock outlasted the time.
        """
        begin, announced = self._now(), False
        while True:
            try:
                return attempt()
            except (BlockingIOError, sqlite3.Error) as error:
                if not is_lock(error):
                    raise
            waited = self._now() - begin
            if waited >= self._limit_s:
                raise LockedLeague(f"{path}: {holder}, and had not finished after {self._limit_s:g} s; try again")
            if waited >= ANNOUNCE_AFTER_S and not announced:
                announced = True
                self._announce(f"{path}: {holder}; waiting for up to {self._limit_s:g} s")
            self._sleep(STEP_S)

    def _announce(self, text: str) -> None:
        with contextlib.suppress(OSError):  # a closed terminal is no reason to stop waiting
            print(text, file=self._out or sys.stderr, flush=True)


def is_lock(error: Exception) -> bool:
    """Whether an error only means that another program holds a lock."""
    if isinstance(error, sqlite3.Error):
        return get_primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    return isinstance(error, BlockingIOError)


def get_primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code; 0 if the error is not SQLite's own."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


R = TypeVar("R", bound="StoredRow")

APPLICATION_ID = 0x6D616C69
"""Marks a file as a league, in its header ("mali")."""
MAGIC = b"SQLite format 3\0"
HEADER_BYTES = 100
FIRST_BYTES = 65_536
"""The largest first page; the schema of a league fits in it."""
OUR_SCHEMA = (b"CREATE TABLE journal (\n", b"UNIQUE (tournament, part,", b"REFERENCES games")
LONGEST_VALUE = 1 << 28
"""Most bytes of a stored value: a damaged length must not take all memory."""
LONGEST_QUOTE = 60
"""Most characters of a value in a message."""
LONGEST_REASON = 300
"""Most characters of the reason in a message."""
ACCESS = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH)
"""Codes for missing permission or room, not for damage."""
UNREADABLE = (sqlite3.Error, MemoryError, UnicodeDecodeError)
"""What reading a damaged file raises; the last one when SQLite's message quotes a damaged name."""
TABLES_ARE_WRONG = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
HOLDER = "another program has locked it"


class StoredRow(Struct, frozen=True, array_like=True):
    """A stored row: its fields are the columns of `SELECT`, in that order."""

    TABLE: ClassVar[str]
    SELECT: ClassVar[str]

    def place(self) -> str:
        """Name the row by its table and its first column."""
        key = self.__struct_fields__[0]
        return _describe_place(self.TABLE, key, getattr(self, key))


class NotText(bytes):
    """A TEXT value that is not UTF-8; no column accepts it."""


class LeagueFile:
    """An open SQLite file.

    Args:
        path: the file.
        waiting: how to wait for the locks of other programs.

    Raises:
        LeagueError: the file cannot be opened.
    """

    def __init__(self, path: Path, waiting: Waiting) -> None:
        self.path = path
        self._waiting = waiting
        self.openings = 1
        """How often the file was opened: what SQLite counts for a connection begins anew with each."""
        self.connection = self._connect()

    def _connect(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(self.path, isolation_level=None, timeout=0)
        except sqlite3.Error as error:
            raise LeagueError(f"{self.path}: {error}") from None
        connection.text_factory = _decode_text
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        return connection

    @contextmanager
    def away(self) -> Iterator[None]:
        """Close the file while this context lasts: whoever writes to it cannot finish while others have it open.

        Raises:
            LeagueError: the file is gone afterwards.
        """
        self.connection.close()
        try:
            yield
        finally:
            if not self.path.is_file():  # SQLite would create it
                raise LeagueError("no such database", where=self.path)
            self.connection = self._connect()
            self.openings += 1

    def rows(self, kind: type[R], rest: str = "", values: tuple[object, ...] = ()) -> Iterator[R]:
        """Yield the rows of a kind, each checked against the types and bounds of its struct.

        Raises:
            DamagedLeague: the table cannot be read, or a value does not fit its column; the message names the place.
            LockedLeague: another program keeps the file locked.
        """
        row: R | None = None
        with self.reading(lambda: f"{row.place()} and what follows it" if row else f"table {kind.TABLE}"):
            for raw in self._execute(f"{kind.SELECT} {rest}", values):
                row = self._check(kind, raw)
                yield row

    def _check(self, kind: type[R], raw: tuple[object, ...]) -> R:
        try:
            return msgspec.convert(raw, kind, builtin_types=(bytes,))
        except msgspec.ValidationError as error:
            reason, _, place = str(error).partition(" - at `$[")
            names, at = kind.__struct_fields__, int(place.partition("]")[0])
            if isinstance(raw[at], NotText):
                reason = "text that is not UTF-8"
            where = f"{_describe_place(kind.TABLE, names[0], raw[0])}, column {names[at]}"
            raise self.damage(where, _lower_first(reason)) from None

    def number(self, sql: str, what: str) -> int:
        """The integer that a statement yields.

        Args:
            sql: the statement.
            what: the name of the value, for the message.

        Raises:
            DamagedLeague: it yields nothing, or another type.
        """
        with self.reading(lambda: what):
            row = self._execute(sql).fetchone()
        if row is None or not isinstance(row[0], int):
            raise self.damage(what, f"expected a whole number, got {row!r:.{LONGEST_QUOTE}}")
        return row[0]

    def integrity(self) -> str:
        """The first problem that SQLite finds in the whole file; empty if it finds none."""
        with self.reading(lambda: "the whole file"):
            (problem,) = self._execute("PRAGMA integrity_check(1)").fetchone()
        return "" if problem == "ok" else " ".join(str(problem).split())

    def copy(self, target: Path) -> None:
        """Write what the file holds at one moment to a new file, whoever writes to this one meanwhile.

        Raises:
            DamagedLeague: the file cannot be read.
            LockedLeague: another program keeps it locked.
        """
        with self.reading(lambda: "the whole file"), contextlib.closing(sqlite3.connect(target)) as copy:
            self._waiting.wait_for(self.path, HOLDER, lambda: self.connection.backup(copy))
            copy.execute("PRAGMA journal_mode = DELETE")

    @contextmanager
    def reading(self, where: Callable[[], str]) -> Iterator[None]:
        """Turn what SQLite raises about an unreadable file into an error that names the place."""
        try:
            yield
        except UNREADABLE as error:
            raise self._explain(error, where()) from None

    def _explain(self, error: Exception, where: str) -> LeagueError | DamagedLeague | LockedLeague:
        if isinstance(error, sqlite3.Error):
            if is_lock(error):
                return LockedLeague(f"{self.path}: {HOLDER}; try again")
            if get_primary_code(error) in ACCESS:
                return LeagueError(f"{self.path}: {error}")
            if get_primary_code(error) == sqlite3.SQLITE_NOTADB:
                return DamagedLeague(f"{self.path}: not a malice league, or one with a damaged header")
        if isinstance(error, UnicodeDecodeError):
            return self.damage(where, "a name in the schema is not UTF-8")
        return self.damage(where, str(error) or "a length that no memory holds")

    def damage(self, where: str, what: str) -> DamagedLeague:
        """An error of one line that names the file, the place of the damage, and the reason."""
        reason = " ".join(what.split())  # SQLite quotes whole statements
        return DamagedLeague(f"{self.path}: {where}: {reason:.{LONGEST_REASON}}")

    def looks_ours(self) -> bool:
        """Whether a file that SQLite cannot read begins like a league."""
        first = self._read_first_bytes()
        cut = 0 < len(first) < HEADER_BYTES and first[: len(MAGIC)] == MAGIC[: len(first)]
        ours = first[68:72] == APPLICATION_ID.to_bytes(4, "big")
        return cut or ours or any(statement in first for statement in OUR_SCHEMA)

    def is_foreign(self) -> bool:
        """Whether the file is not an SQLite database; SQLite itself does not notice this in short files."""
        first = self._read_first_bytes()
        return bool(first) and not first.startswith(MAGIC)

    def _read_first_bytes(self) -> bytes:
        with self.path.open("rb") as file:
            return file.read(FIRST_BYTES)

    # Writing

    def write(self, sql: str, values: tuple[object, ...] = ()) -> None:
        """Execute a statement.

        Raises:
            DamagedLeague: damaged tables prevent it.
            LockedLeague: another program keeps the file locked.
            sqlite3.Error: the disk is full or fails, or the row exists already.
        """
        self.attempt(lambda: self.connection.execute(sql, values))

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[None]:
        """Write everything in the block or nothing; without `write`, read one state of the file.

        Raises:
            DamagedLeague, LockedLeague, sqlite3.Error: as `write`.
        """
        self.write("BEGIN IMMEDIATE" if write else "BEGIN")
        try:
            yield
            self.write("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise

    def attempt(self, what: Callable[[], T]) -> T:
        """Call `what`, once no other program locks the file, and return its result.

        Raises:
            DamagedLeague, LockedLeague, sqlite3.Error: as `write`.
        """
        try:
            return self._waiting.wait_for(self.path, HOLDER, what)
        except UnicodeDecodeError as error:
            raise self._explain(error, "the tables") from None
        except sqlite3.Error as error:
            if get_primary_code(error) in TABLES_ARE_WRONG:
                raise self._explain(error, "the tables") from None
            raise

    def _execute(self, sql: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
        return self._waiting.wait_for(self.path, HOLDER, lambda: self.connection.execute(sql, values))


def list_league_files(league: Path) -> tuple[str, ...]:
    """The paths of a league: its file, and what lies beside it, of SQLite and of ours; not all of them exist."""
    path = league.resolve()
    files = (f"{path}{end}" for end in ("", "-wal", "-shm", "-journal"))
    beside = (find_name_list, find_people, find_kept_bots, find_opinions, find_daily_deals)
    return (*files, *(str(find(path)) for find in beside))


def find_name_list(league: Path) -> Path:
    """The path of the list that says whose bots play in an anonymous league; it may not exist."""
    return league.with_suffix(".names.csv")


def find_people(league: Path) -> Path:
    """The file with the names of those who play in a league of people; it may not exist."""
    return league.with_suffix(".names.json")


def find_daily_deals(league: Path) -> Path:
    """The folder that keeps the daily deals of those who play in a league of people; it may not exist."""
    return league.with_suffix(".daily")


def find_kept_bots(league: Path) -> Path:
    """The folder in which the bots of a league are kept; it may not exist."""
    return league.resolve().with_suffix(".bots")


def find_opinions(league: Path) -> Path:
    """The folder that keeps what bots would have played in the games of a league; it may not exist."""
    return league.resolve().with_suffix(".opinions")


def _decode_text(raw: bytes) -> str | NotText:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return NotText(raw)


def _describe_place(table: str, column: str, value: object) -> str:
    return f"table {table}, {column} {value!r:.{LONGEST_QUOTE}}"


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
