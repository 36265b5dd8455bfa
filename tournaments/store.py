"""The league's SQLite file: one writer, one transaction for each finished game."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

import msgspec
from sqlite_utils import Database, Migrations

from referee.records import Key, Record
from referee.ruleset import Parameters, Ruleset
from tournaments.config import Config, identity
from tournaments.errors import BrokenRecord, LeagueError
from tournaments.league import Entry, Game, Tournament
from tournaments.packing import pack, unpack
from tournaments.series import Score, scores
from tournaments.standings import Standings, standings
from tournaments.suspension import Readmission, left_out, suspended

APPLICATION_ID = 0x6D616C69
"""Says in the file's header that it is ours ("mali")."""

migrations = Migrations("malice")


@migrations()
def m001_league(db: Database) -> None:
    """A tournament, its entries and rulesets, and its games: a row for standings, a blob for replays."""
    db.conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    tables = """
        CREATE TABLE tournament (
            id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT NOT NULL, config TEXT NOT NULL,
            seed BLOB NOT NULL, "commit" TEXT NOT NULL, planned INTEGER NOT NULL, complete INTEGER NOT NULL,
            created REAL NOT NULL
        ) STRICT;
        CREATE TABLE rulesets (name TEXT PRIMARY KEY, about TEXT NOT NULL, source TEXT NOT NULL, rules TEXT NOT NULL)
            STRICT;
        CREATE TABLE entries (
            position INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE, hash TEXT NOT NULL, name TEXT NOT NULL,
            version TEXT NOT NULL, author TEXT NOT NULL, language TEXT NOT NULL, command TEXT NOT NULL
        ) STRICT;
        CREATE TABLE games (
            number INTEGER PRIMARY KEY, "table" INTEGER NOT NULL, deal INTEGER NOT NULL, rotation INTEGER NOT NULL,
            summary TEXT NOT NULL, digest TEXT NOT NULL, UNIQUE ("table", deal, rotation)
        ) STRICT;
        CREATE TABLE records (number INTEGER PRIMARY KEY REFERENCES games, record BLOB NOT NULL) STRICT;
    """
    for statement in tables.split(";"):
        if statement.strip():
            db.conn.execute(statement)


@migrations()
def m002_readmissions(db: Database) -> None:
    """Suspensions that were lifted: of which bot, and by the number of the game that brought them about."""
    db.conn.execute(
        "CREATE TABLE readmissions (label TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (label, number)) STRICT"
    )


_summary_decoder = msgspec.json.Decoder(Game)


class Store:
    """A league that is open for reading, and for one writer for writing.

    Raises:
        LeagueError: the file is missing, is no database of ours, or is of a newer schema.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        if not create and not path.is_file():
            raise LeagueError(f"{path}: no such database")
        try:
            if create:
                with contextlib.suppress(OSError):  # it is there, or cannot be made, which SQLite says too
                    # Nobody else's business while it is played: the seed is in it.
                    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            self._connection = sqlite3.connect(path, isolation_level=None)
        except sqlite3.Error as error:
            raise LeagueError(f"{path}: {error}") from None
        self._db = Database(self._connection)
        self._lock: int | None = None
        try:
            self._check_ours()
            if create:
                self._begin_writing()
        except sqlite3.Error as error:
            self._connection.close()
            raise LeagueError(f"{path}: {error}") from None
        except LeagueError:
            self._connection.close()
            raise

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """See the league as it is now, whatever a run adds meanwhile."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("COMMIT")

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what was written stays readable from anywhere."""
        if self._lock is not None:
            self._finish_writing()
        self._connection.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _check_ours(self) -> None:
        # A run that died while it made the file may have left the list of migrations, and nothing in it.
        ours = "SELECT count(*) FROM sqlite_master WHERE tbl_name != '_sqlite_migrations'"
        if not self._connection.execute(ours).fetchone()[0]:
            return
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        if application != APPLICATION_ID:
            raise LeagueError(f"{self.path}: a database, but not one of malice")
        known = {migration.name for migration in migrations.pending(Database(memory=True))}
        applied = {migration.name for migration in migrations.applied(self._db)}
        if applied - known:
            raise LeagueError(f"{self.path}: written by a newer malice (schema {max(applied)})")

    def _begin_writing(self) -> None:
        # Held until the process ends; SQLite's own locks are of another kind and do not meet it.
        self._lock = os.open(self.path, os.O_RDWR)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise LeagueError(f"{self.path}: another malice run is writing to it") from None
        migrations.apply(self._db)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")

    def _finish_writing(self) -> None:
        """Fold the write-ahead log into the file, so that it can be read from a read-only disk."""
        with contextlib.suppress(sqlite3.Error):  # a full disk, or a reader: the log stays beside the file, whole
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.execute("PRAGMA journal_mode = DELETE")

    # What is written

    def found(
        self, config: Config, seed: bytes, tournament: Tournament, entries: tuple[Entry, ...],
        rulesets: tuple[Ruleset, ...],
    ) -> None:  # fmt: skip
        """Write a new tournament into an empty league, in place of one that never came to its first game."""
        self._connection.execute("BEGIN IMMEDIATE")
        for table in ("tournament", "rulesets", "entries"):
            self._connection.execute(f"DELETE FROM {table}")
        self._connection.execute(
            "INSERT INTO tournament VALUES (1, ?, ?, ?, ?, ?, 0, ?)",
            (
                tournament.name,
                identity(config),
                seed,
                tournament.commit,
                tournament.planned,
                tournament.created,
            ),
        )
        self._connection.executemany(
            "INSERT INTO rulesets VALUES (?, ?, ?, ?)",
            [(each.name, each.about, each.source, msgspec.json.encode(each.rules).decode()) for each in rulesets],
        )
        self._connection.executemany(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (place, *msgspec.structs.astuple(entry)[:-1], msgspec.json.encode(entry.command).decode())
                for place, entry in enumerate(entries)
            ],
        )
        self._connection.execute("COMMIT")

    def add(self, game: Game, record: Record) -> None:
        """Write a finished game: when this returns it is on the disk, and before nothing of it is.

        Raises:
            sqlite3.Error: the disk is full or failed; the league is as it was before.
        """
        summary = msgspec.json.encode(game).decode()
        row = (game.number, record.key.table, record.key.deal, record.key.rotation, summary, record.digest)
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._connection.execute("INSERT INTO games VALUES (?, ?, ?, ?, ?, ?)", row)
            self._connection.execute("INSERT INTO records VALUES (?, ?)", (game.number, pack(record)))
            self._connection.execute("COMMIT")
        except sqlite3.Error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def plan(self, games: int) -> None:
        """Say how many games the tournament has, now that series ask for more."""
        self._connection.execute("UPDATE tournament SET planned = ?", (games,))

    def complete(self, struck: Iterable[int] = ()) -> None:
        """Say that every game is played; from now on the seed may be told.

        Args:
            struck: numbers of games that were played ahead, although a suspended bot leaves them out.
        """
        numbers = [(number,) for number in struck]
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("DELETE FROM records WHERE number = ?", numbers)
        self._connection.executemany("DELETE FROM games WHERE number = ?", numbers)
        self._connection.execute("UPDATE tournament SET complete = 1")
        self._connection.execute("COMMIT")

    def readmit(self, label: str, number: int) -> None:
        """Lift the suspension of a bot that the game of this number brought about."""
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("INSERT INTO readmissions VALUES (?, ?)", (label, number))
        self._connection.execute("UPDATE tournament SET complete = 0")
        self._connection.execute("COMMIT")

    # What is read

    def is_empty(self) -> bool:
        """Tell whether no game was stored yet: then another tournament may be founded here."""
        return not self._db["games"].exists() or not self._db["games"].count

    def config(self) -> str:
        """Return what must not change while the tournament goes on, as JSON."""
        return str(self._row("config"))

    def seed(self) -> bytes:
        """Return the seed, secret until the tournament is complete."""
        seed = self._row("seed")
        assert isinstance(seed, bytes)
        return seed

    def _row(self, column: str) -> str | bytes | int | float:
        found = self._connection.execute(f'SELECT "{column}" FROM tournament').fetchone()
        if found is None:
            raise LeagueError(f"{self.path}: holds no tournament")
        return found[0]  # type: ignore[no-any-return]

    def tournament(self) -> Tournament:
        """Return the tournament as it was started."""
        complete = bool(self._row("complete"))
        return Tournament(
            name=str(self._row("name")),
            commit=str(self._row("commit")),
            seed=self.seed().hex() if complete else None,
            complete=complete,
            planned=int(self._row("planned")),
            created=float(self._row("created")),
            rulesets={ruleset.name: ruleset.rules for ruleset in self.rulesets()},
            suspended=self.suspended(),
        )

    def rulesets(self) -> tuple[Ruleset, ...]:
        """Return the rulesets that are played."""
        rows = self._connection.execute("SELECT name, about, source, rules FROM rulesets ORDER BY rowid")
        return tuple(
            Ruleset(name, about, source, msgspec.json.decode(rules, type=Parameters))
            for name, about, source, rules in rows
        )

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries in the order of the tournament file."""
        rows = self._connection.execute(
            "SELECT label, hash, name, version, author, language, command FROM entries ORDER BY position"
        )
        return tuple(
            Entry(label, hash, name, version, author, language, tuple(msgspec.json.decode(command)))
            for label, hash, name, version, author, language, command in rows
        )

    def standings(self) -> tuple[Standings, ...]:
        """Return the standings as they are now."""
        anchor = msgspec.json.decode(self.config(), type=Config).anchor
        out = self.suspended()
        counted = (game for game in self.games() if not left_out(game.number, game.labels, out))
        return standings(counted, [entry.label for entry in self.entries()], anchor)

    def suspended(self) -> dict[str, int]:
        """Return which bots play no more, each with the number of the game after which it was so."""
        after = msgspec.json.decode(self.config(), type=Config).suspend_after
        return suspended(self.games(), after, self.readmissions())

    def readmissions(self) -> set[Readmission]:
        """Return the suspensions that were lifted."""
        if not self._db["readmissions"].exists():
            return set()
        return {(label, number) for label, number in self._connection.execute("SELECT * FROM readmissions")}

    def series(self) -> dict[Key, Score]:
        """Return where the series stands after each game, for the rulesets that play series."""
        return dict(scores(self.games(), {each.name: each.rules.match_target for each in self.rulesets()}))

    def keys(self) -> set[Key]:
        """Return the keys of all finished games."""
        return {Key(*row) for row in self._connection.execute('SELECT "table", deal, rotation FROM games')}

    def games(self) -> Iterator[Game]:
        """Return every finished game without its actions, in the order of the schedule."""
        for (summary,) in self._connection.execute("SELECT summary FROM games ORDER BY number"):
            yield _summary_decoder.decode(summary)

    def digests(self) -> Iterator[str]:
        """Return the digests of all games in the order of their keys."""
        rows = self._connection.execute('SELECT digest FROM games ORDER BY "table", deal, rotation')
        return (digest for (digest,) in rows)

    def records(self) -> Iterator[Record]:
        """Return every finished game whole, in the order of the schedule."""
        return self._records("ORDER BY number")

    def rows(self) -> Iterator[tuple[Game, Record]]:
        """Return every finished game with its row, in the order of the schedule."""
        return self._rows("ORDER BY number")

    def record(self, key: Key) -> Record:
        """Return one game.

        Raises:
            LeagueError: it is not in the league.
        """
        where = 'WHERE "table" = ? AND deal = ? AND rotation = ?'
        found = next(self._records(where, (key.table, key.deal, key.rotation)), None)
        if found is None:
            raise LeagueError(f"{self.path}: no game {key}")
        return found

    def _records(self, where: str, values: tuple[int, ...] = ()) -> Iterator[Record]:
        return (record for _, record in self._rows(where, values))

    def _rows(self, where: str, values: tuple[int, ...] = ()) -> Iterator[tuple[Game, Record]]:
        rules = {ruleset.name: ruleset.rules for ruleset in self.rulesets()}
        commit = str(self._row("commit"))
        rows = self._connection.execute(
            f'SELECT summary, record, "table", deal, rotation FROM games JOIN records USING (number) {where}', values
        )
        for summary, blob, *key in rows:
            try:
                game = _summary_decoder.decode(summary)
                record = unpack(blob, game, rules[game.ruleset], commit)
            except (msgspec.MsgspecError, zlib.error, ValueError, KeyError) as error:
                raise BrokenRecord(f"game {'.'.join(map(str, key))}: cannot be read: {error}") from None
            if game.key != Key(*key):
                raise BrokenRecord(f"game {'.'.join(map(str, key))}: its row is of game {game.key}")
            yield game, record
