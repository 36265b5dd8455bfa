"""The one gate to a league's file: every stored value comes through here as a checked row, or as an error with a place.

Nothing that SQLite, UTF-8, JSON or zlib can say about a damaged file gets past it as an exception of theirs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, TypeVar

import msgspec
from msgspec import Struct

from tournaments.errors import DamagedLeague, LeagueError, LockedLeague
from tournaments.league.waiting import Waiting, is_lock, get_primary_code

T = TypeVar("T")
R = TypeVar("R", bound="Row")

APPLICATION_ID = 0x6D616C69
"""Says in the file's header that it is ours ("mali")."""
MAGIC = b"SQLite format 3\0"
HEADER_BYTES = 100
FIRST_BYTES = 65_536
"""The longest first page; the schema of a league fits in it."""
OUR_SCHEMA = (b"CREATE TABLE tournament", b"CREATE TABLE rulesets", b"CREATE TABLE readmissions")
LONGEST_VALUE = 1 << 28
"""Bytes of one stored value at most: a damaged length must not take all memory."""
LONGEST_QUOTE = 60
"""Characters of a value in a message."""
LONGEST_REASON = 300
"""Characters of what is wrong in a message."""
ACCESS = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH)
"""What says that we may not, or that there is no room, rather than that the file is damaged."""
UNREADABLE = (sqlite3.Error, MemoryError, UnicodeDecodeError)
"""What reading a damaged file raises; the last where SQLite's own message quotes a damaged name."""
TABLES_ARE_WRONG = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
HOLDER = "another program has locked it"


class Row(Struct, frozen=True):
    """A row as it is stored: its fields are the columns that `SELECT` names, in that order."""

    TABLE: ClassVar[str]
    SELECT: ClassVar[str]

    def place(self) -> str:
        """Name the row: its table, and its first column with its value."""
        key = self.__struct_fields__[0]
        return _describe_place(self.TABLE, key, getattr(self, key))


class NotText(bytes):
    """A TEXT value that is not UTF-8; it fits no column."""


class LeagueFile:
    """An open SQLite file.

    Args:
        path: the file.
        waiting: how locks of others are waited for.

    Raises:
        LeagueError: it cannot be opened.
    """

    def __init__(self, path: Path, waiting: Waiting) -> None:
        self.path = path
        self._waiting = waiting
        try:
            self.connection = sqlite3.connect(path, isolation_level=None, timeout=0)
        except sqlite3.Error as error:
            raise LeagueError(f"{path}: {error}") from None
        self.connection.text_factory = _decode_text
        self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)

    def rows(self, kind: type[R], rest: str = "", values: tuple[object, ...] = ()) -> Iterator[R]:
        """Return the rows of a kind, each checked against the types and bounds of its struct.

        Raises:
            DamagedLeague: the table cannot be read, or a value does not fit its column; the message names the place.
            LockedLeague: somebody else keeps the file locked.
        """
        last = f"table {kind.TABLE}"
        with self.reading(lambda: last):
            for raw in self._execute(f"{kind.SELECT} {rest}", values):
                row = self._check(kind, raw)
                last = f"{row.place()} and what follows it"
                yield row

    def _check(self, kind: type[R], raw: tuple[object, ...]) -> R:
        names = kind.__struct_fields__
        try:
            return msgspec.convert(dict(zip(names, raw, strict=True)), kind, builtin_types=(bytes,))
        except msgspec.ValidationError as error:
            what, _, column = str(error).partition(" - at `$.")
            told = (
                "text that is not UTF-8"
                if isinstance(dict(zip(names, raw, strict=True)).get(column[:-1]), NotText)
                else ""
            )
            where = f"{_describe_place(kind.TABLE, names[0], raw[0])}, column {column[:-1]}"
            raise self.damage(where, told or _lower_first(what)) from None

    def number(self, sql: str, what: str) -> int:
        """Return the whole number that a statement yields.

        Args:
            sql: the statement.
            what: what is read, for the message.

        Raises:
            DamagedLeague: it yields nothing, or something else.
        """
        with self.reading(lambda: what):
            found = self._execute(sql).fetchone()
        if found is None or not isinstance(found[0], int):
            raise self.damage(what, f"expected a whole number, got {found!r:.{LONGEST_QUOTE}}")
        return found[0]

    def integrity(self) -> str:
        """Return the first thing that SQLite finds wrong with the file as a whole; nothing if all is well."""
        with self.reading(lambda: "the whole file"):
            (found,) = self._execute("PRAGMA integrity_check(1)").fetchone()
        return "" if found == "ok" else " ".join(str(found).split())

    @contextmanager
    def reading(self, where: Callable[[], str]) -> Iterator[None]:
        """Turn what SQLite says about a file that it cannot read into an error with a place."""
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
        if isinstance(error, UnicodeDecodeError):
            return self.damage(where, "a name in the schema is not UTF-8")
        return self.damage(where, str(error) or "a length that no memory holds")

    def damage(self, where: str, what: str) -> DamagedLeague:
        """Return the error that names the place of a damaged value in one line: the file, then `where`."""
        told = " ".join(what.split())  # SQLite quotes whole statements
        return DamagedLeague(f"{self.path}: {where}: {told:.{LONGEST_REASON}}")

    def looks_ours(self) -> bool:
        """Tell by its first bytes whether a file that SQLite cannot make sense of is, or was, a league."""
        first = self._read_first_bytes()
        cut = 0 < len(first) < HEADER_BYTES and first[: len(MAGIC)] == MAGIC[: len(first)]
        ours = first[68:72] == APPLICATION_ID.to_bytes(4, "big")
        return cut or ours or any(statement in first for statement in OUR_SCHEMA)

    def is_foreign(self) -> bool:
        """Tell whether the file holds something that is no SQLite database; of short ones SQLite does not say so."""
        first = self._read_first_bytes()
        return bool(first) and not first.startswith(MAGIC)

    def _read_first_bytes(self) -> bytes:
        with self.path.open("rb") as file:
            return file.read(FIRST_BYTES)

    # Writing

    def write(self, sql: str, values: tuple[object, ...] = ()) -> None:
        """Carry out a statement.

        Raises:
            DamagedLeague: the file cannot be written as its tables are not what they were.
            LockedLeague: somebody else keeps the file locked.
            sqlite3.Error: the disk is full or fails, or the row is there already.
        """
        self.attempt(lambda: self.connection.execute(sql, values))

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[None]:
        """Write all that follows or nothing of it; or, without `write`, see the file as it is now.

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
        """Return what `what` returns, once nobody locks the file.

        Raises:
            DamagedLeague, LockedLeague, sqlite3.Error: as `write`.
        """
        try:
            return self._waiting.wait_for(self.path, HOLDER, what)
        except UnicodeDecodeError as error:
            raise self._explain(error, "the tables") from None
        except sqlite3.Error as error:
            if get_primary_code(error) in TABLES_ARE_WRONG:
                raise self.damage("the tables", str(error)) from None
            raise

    def _execute(self, sql: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
        return self._waiting.wait_for(self.path, HOLDER, lambda: self.connection.execute(sql, values))


def _decode_text(raw: bytes) -> str | NotText:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return NotText(raw)


def _describe_place(table: str, column: str, value: object) -> str:
    return f"table {table}, {column} {value!r:.{LONGEST_QUOTE}}"


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
