"""The tables of a league, how they came to be, and whether a file has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from tournaments.errors import DamagedLeague, LeagueError
from tournaments.league.file import APPLICATION_ID, LeagueFile, Row

if TYPE_CHECKING:
    from sqlite_utils import Database


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
            version TEXT NOT NULL, author TEXT NOT NULL, language TEXT NOT NULL, command TEXT NOT NULL,
            rulesets TEXT NOT NULL
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


def m002_readmissions(db: Database) -> None:
    """Suspensions that were lifted: of which bot, and by the number of the game that brought them about."""
    db.conn.execute(
        "CREATE TABLE readmissions (label TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (label, number)) STRICT"
    )


TABLES = {
    "m001_league": ("tournament", "rulesets", "entries", "games", "records"),
    "m002_readmissions": ("readmissions",),
}
"""By migration, in their order: the tables that it makes."""
FIRST = frozenset(TABLES["m001_league"])


class SchemaRow(Row, frozen=True):
    """A table that is in the file."""

    TABLE: ClassVar[str] = "sqlite_master"
    SELECT: ClassVar[str] = "SELECT sqlite_master.name FROM sqlite_master WHERE type = 'table'"

    name: str


class MigrationRow(Row, frozen=True):
    """A migration that was applied."""

    TABLE: ClassVar[str] = "_sqlite_migrations"
    SELECT: ClassVar[str] = "SELECT _sqlite_migrations.name FROM _sqlite_migrations WHERE migration_set = 'malice'"

    name: str


def examine(file: LeagueFile) -> frozenset[str]:
    """Return the tables of a league; none for a file into which no run came to found anything.

    Raises:
        LeagueError: it is not a league, or one of a newer schema.
        DamagedLeague: it is or was a league, and does not have the tables of one.
    """
    try:
        tables = {row.name for row in file.rows(SchemaRow)}
        application = file.number("PRAGMA application_id", "the header")
    except DamagedLeague as error:
        if file.looks_ours():
            raise
        raise LeagueError(str(error)) from None
    # A run that died while it made the file may have left the list of migrations, and nothing in it.
    if not tables - {"_sqlite_migrations", "sqlite_sequence"} and application != APPLICATION_ID:
        if file.looks_ours():
            raise file.damage("the header", "expected the tables of a league, got none")
        if file.is_foreign():
            raise LeagueError(f"{file.path}: file is not a database")
        return frozenset()
    # Two of our tables may be missing, or the header damaged: either alone does not make it the file of somebody else.
    if application != APPLICATION_ID and len(tables & FIRST) < len(FIRST) - 2:
        raise LeagueError(f"{file.path}: a database, but not one of malice")
    if application != APPLICATION_ID:
        raise file.damage("the header", f"expected the application id {APPLICATION_ID:#x}, got {application:#x}")
    return _check_migrations(file, tables)


def _check_migrations(file: LeagueFile, tables: set[str]) -> frozenset[str]:
    """Return our tables if they are those that the applied migrations made."""
    applied = {row.name for row in file.rows(MigrationRow)}
    known = list(TABLES)
    if applied > set(known):
        raise LeagueError(f"{file.path}: written by a newer malice (schema {max(applied)})")
    if not applied or applied != set(known[: len(applied)]):
        raise file.damage(
            "table _sqlite_migrations", f"expected the first of {', '.join(known)}, got {', '.join(sorted(applied))}"
        )
    for migration, made in TABLES.items():
        for table in made:
            if (table in tables) != (migration in applied):
                state = "is missing" if migration in applied else f"is there, but not its migration {migration}"
                raise file.damage(f"table {table}", state)
    return frozenset(table for migration in applied for table in TABLES[migration])


def migrate(file: LeagueFile, tables: frozenset[str]) -> None:
    """Bring the tables to the newest schema, if they are not.

    Raises:
        sqlite3.Error: the disk is full or fails.
    """
    if len(tables) == sum(map(len, TABLES.values())):
        return
    # Imported here: it loads numpy, which a reader of a league does not need.
    from sqlite_utils import Database, Migrations

    migrations = Migrations("malice")
    for migration in (m001_league, m002_readmissions):
        migrations()(migration)
    migrations.apply(Database(file.connection))
