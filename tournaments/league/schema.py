"""The tables of a league: how to create them, and whether a file has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from malice.tournaments.errors import DamagedLeague, LeagueError
from malice.tournaments.league.file import APPLICATION_ID, LeagueFile, StoredRow

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


MIGRATIONS = (m006_league, m007_events)
TABLES = {"m006_league": ("journal", "games", "records"), "m007_events": ("records.events",)}
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
    """Return the tables of a league; none if no run created a tournament in the file yet.

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
    """Return the tables of the applied migrations, if the file has these and no others of ours."""
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
