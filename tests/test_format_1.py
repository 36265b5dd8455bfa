"""A league of format 1: one sentence says what to do, and the file stays as it is."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.command_line import malice

FORMAT_1 = """
    PRAGMA application_id = 0x6D616C69;
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
    CREATE TABLE _sqlite_migrations (
        id INTEGER PRIMARY KEY, migration_set TEXT, name TEXT, applied_at TEXT
    );
    INSERT INTO _sqlite_migrations VALUES (1, 'malice', 'm001_league', '2026-01-01 12:00:00');
    INSERT INTO rulesets VALUES ('standard', 'Two seats', 'a book', '{}');
    INSERT INTO games VALUES (0, 0, 0, 0, '{}', 'x');
    INSERT INTO records VALUES (0, x'00');
"""
READMISSIONS = """
    CREATE TABLE readmissions (label TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (label, number)) STRICT;
    INSERT INTO _sqlite_migrations VALUES (2, 'malice', 'm002_readmissions', '2026-01-01 12:00:00');
"""


@pytest.mark.parametrize("statements", [FORMAT_1, FORMAT_1 + READMISSIONS])
@pytest.mark.parametrize(
    "words",
    [
        ("standings", "{db}"),
        ("site", "{db}", "--out", "{db}.site"),
        ("export", "{db}"),
        ("verify", "{db}"),
        ("replay", "{db}", "0.0.0"),
        ("run", "{toml}", "--db", "{db}"),
    ],
)
def test_every_command_says_in_one_sentence_what_to_do(statements: str, words: tuple[str, ...], tmp_path: Path) -> None:
    db, toml = tmp_path / "old.db", tmp_path / "old.toml"
    connection = sqlite3.connect(db)
    connection.executescript(statements)
    connection.close()
    toml.write_text('entries = ["greedy", "uniform"]\n')
    before = db.read_bytes()

    result = malice(*(word.format(db=db, toml=toml) for word in words))

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == (
        f"Error: {db}: a league of format 1, which only the older malice that wrote it can read or go on with:"
        " play the tournament again with this one, with another --db\n"
    )
    assert db.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.db", "old.toml"]
