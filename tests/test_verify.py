"""What a league says of its games and of itself is compared with all that could contradict it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.json import encode
from msgspec.structs import replace

from referee.records import Key
from tests.leagues import change, play_small_league
from tests.test_cli import malice
from tournaments.errors import UnverifiedError
from tournaments.league.packing import pack_record
from tournaments.league.store import Store
from tournaments.league.verify import verify_league


@pytest.fixture
def league(tmp_path: Path) -> Path:
    return play_small_league(tmp_path)


def set_in_config(old: str, new: str) -> str:
    return f"UPDATE tournament SET config = replace(config, '{old}', '{new}')"


MOVED = """
    UPDATE games SET number = 9, summary = replace(summary, '"number":1', '"number":9') WHERE number = 1;
    UPDATE records SET number = 9 WHERE number = 1
"""


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        (MOVED, "game 0.0.1: expected the number 1, got 9"),
        ("UPDATE games SET summary = replace(summary, '\"number\":1', '\"number\":9')", "number: expected 1, got 9"),
        ("UPDATE tournament SET planned = 7", "planned: expected 2 games, as scheduled, got 7"),
        ("UPDATE tournament SET name = 'x'", "name: the column name has 'x', the configuration 'small'"),
        ("UPDATE entries SET name = 'x' WHERE position = 0", "label: expected 'x'"),
        ("INSERT INTO readmissions VALUES ('greedy', 1)", "'greedy' is readmitted after game 0.0.1, which did not"),
        ("INSERT INTO readmissions VALUES ('nobody', 7)", "'nobody' is readmitted after game 7, which did not"),
        (set_in_config('"seed":"small"', '"seed":"other"'), "the seed is not the one that the configuration gives"),
        (set_in_config('"move_ms":1000', '"move_ms":2000'), "game 0.0.0: expected the clock of the tournament"),
        (set_in_config('"./short.toml"', '"./other.toml"'), "table rulesets: expected other, got short"),
        (set_in_config('"anchor":null', '"anchor":"nobody"'), "expected the anchor 'nobody' among the labels"),
        (
            "UPDATE rulesets SET rules = replace(rules, '\"hand_size\":5', '\"hand_size\":4')",
            "the digest does not match",
        ),
        (
            "UPDATE games SET summary = replace(summary, '\"used_ms\":[', '\"used_ms\":[1')",
            "the summary for standings does not match",
        ),
    ],
)
def test_an_edit_is_found(league: Path, statements: str, said: str) -> None:
    change(league, statements)

    with Store(league) as store, pytest.raises(UnverifiedError) as caught:
        verify_league(store)

    assert said in str(caught.value)


def test_a_readmission_in_a_league_that_goes_on_needs_a_verdict(league: Path) -> None:
    change(league, "UPDATE tournament SET complete = 0; INSERT INTO readmissions VALUES ('greedy', 1)")

    with Store(league) as store, pytest.raises(UnverifiedError, match="which did not suspend it"):
        verify_league(store)


def test_games_beyond_the_schedule_are_found(tmp_path: Path) -> None:
    league = play_small_league(tmp_path, deals=2)
    change(league, "UPDATE tournament SET planned = 2, config = replace(config, '\"deals\":2', '\"deals\":1')")

    with Store(league) as store, pytest.raises(UnverifiedError, match=r"game 0\.1\.0: expected a deal below 1"):
        verify_league(store)


def test_a_verdict_that_was_taken_away_is_found(tmp_path: Path) -> None:
    league = play_small_league(tmp_path, crash=True)
    with Store(league) as store:
        assert verify_league(store).games == 2
        record = replace(store.record(Key(0, 0, 0)), faults=())
        game = replace(next(store.games()), verdicts=("", ""))
    with closing(sqlite3.connect(league)) as connection:
        connection.execute("UPDATE games SET summary = ? WHERE number = 0", (encode(game).decode(),))
        connection.execute("UPDATE records SET record = ? WHERE number = 0", (pack_record(record),))
        connection.commit()

    with Store(league) as store, pytest.raises(UnverifiedError, match=r"game 0\.0\.0: expected the verdicts"):
        verify_league(store)


def test_verify_says_what_it_does_not_cover(league: Path) -> None:
    before = malice("verify", league).stdout
    change(league, "UPDATE entries SET version = 'x', author = 'x'; UPDATE tournament SET created = 1")

    result = malice("verify", league)

    assert (result.exit_code, result.stdout) == (0, before)
    (line,) = (line for line in before.splitlines() if line.startswith("not covered"))
    assert all(word in line for word in ("version", "author", "command", "creation", "times", "notes", "stderr"))
