"""What a league says of its games and of itself is compared with all that could contradict it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.json import encode
from msgspec.structs import replace

from malice.referee.records import Key
from malice.tournaments.errors import UnverifiedError
from malice.tournaments.league.config import Config
from malice.tournaments.league.store import Store
from malice.tournaments.league.stored_games import pack_record
from malice.tournaments.league.verify import verify_league
from malice.tournaments.running.plan import Plan
from tests.command_line import malice
from tests.leagues import change, play_small_league, replace_in_journal, write_events


@pytest.fixture
def league(tmp_path: Path) -> Path:
    return play_small_league(tmp_path)


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        (
            "UPDATE games SET number = 9 WHERE number = 1; UPDATE records SET number = 9 WHERE number = 1",
            "table games: expected 1 row, got 2",
        ),
        ("INSERT INTO games SELECT 2, 0, 0, 0, 1, 0, failed, summary, digest FROM games WHERE number = 1", "got 3"),
        ("INSERT INTO games SELECT 2, 1, 0, 0, 1, 0, failed, summary, digest FROM games WHERE number = 1", "got 3"),
        ("UPDATE games SET summary = replace(summary, '\"number\":1', '\"number\":9')", "number: expected 1, got 9"),
        ("UPDATE games SET failed = '[\"greedy\"]'", 'verdicts: expected them for ["greedy"], as in its column'),
        (
            "UPDATE games SET summary = replace(summary, '\"used_ms\":[', '\"used_ms\":[1')",
            "the summary for standings does not match",
        ),
    ],
)
def test_an_edit_of_the_games_is_found(league: Path, statements: str, said: str) -> None:
    change(league, statements)

    assert said in refuse(league)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"name":"small"', '"name":"x"', "name: the tournament is 'small', the file says 'x'"),
        ('"label":"greedy"', '"label":"x"', "versions: expected versions that play, got 'greedy' 1"),
        ('"seed":"small"', '"seed":"other"', "the seed is not the one that the file gives"),
        ('"move_ms":1000', '"move_ms":2000', "game 0.0.0.0: expected the clock of the tournament"),
        ('"./short.toml"', '"./other.toml"', "rulesets: expected other"),
        ('"anchor":null', '"anchor":"nobody"', "expected the anchor 'nobody' among the labels"),
        ('"hand_size":5', '"hand_size":4', "the digest does not match"),
        ('"deals":1,"tables"', '"deals":2,"tables"', "asks for 'round-robin' with other deals there"),
        ('["greedy",1],["uniform",1]', '["uniform",1],["greedy",1]', "expected 'uniform' (content "),
        (
            '"title":"round-robin"',
            '"title":"adds x"',
            "part 0 ('adds x'): the format asks for 'round-robin' with other title there",
        ),
        ('"suspended":[]', '"suspended":["greedy"]', "part 0 ('round-robin'): the format asks for no part there"),
    ],
)
def test_an_edit_of_the_journal_is_found(league: Path, old: str, new: str, said: str) -> None:
    replace_in_journal(league, old, new)

    assert said in refuse(league)


def test_a_tournament_seed_that_does_not_fit_the_commit_is_found(league: Path) -> None:
    with Store(league) as store:
        seed = store.tournament().secret.hex()
    replace_in_journal(league, '"seed":"small"', '"seed":null')
    with Store(league) as store:
        assert verify_league(store).games == 2

    replace_in_journal(league, seed, 64 * "0")

    assert "commit: expected 'sha256:" in refuse(league)


def test_an_entry_that_a_part_leaves_out_must_have_been_suspended(tmp_path: Path) -> None:
    first, rest = '["standard",[["first",1],["uniform",1]],null]', '["standard",[["first",1],["greedy",1]],null]'
    with Store(tmp_path / "t.db", create=True) as store:
        Plan.prepare(Config(entries=("first", "uniform", "greedy")), tmp_path).write(store)

    def leave_out(event: str) -> str:
        shorter = (
            event.replace(f"{first},", "").replace(f",{first}", "").replace(f",{rest}", "").replace(f"{rest},", "")
        )
        return shorter.replace('"suspended":[]', '"suspended":["first"]')

    write_events(tmp_path / "t.db", lambda events: list(map(leave_out, events)))

    assert "part 0: leaves out 'first', which no game suspended" in refuse(tmp_path / "t.db")


def test_a_part_that_closes_with_an_open_game_is_found(league: Path) -> None:
    change(league, "DELETE FROM records WHERE number = 1; DELETE FROM games WHERE number = 1")

    assert "game 0.0.0.1: is missing, although its part is closed" in refuse(league)


def refuse(path: Path) -> str:
    """Return why a league does not verify."""
    with Store(path) as store, pytest.raises(UnverifiedError) as caught:
        verify_league(store)
    return str(caught.value)


def test_a_verdict_that_was_taken_away_is_found(tmp_path: Path) -> None:
    league = play_small_league(tmp_path, crash=True)
    with Store(league) as store:
        assert verify_league(store).games == 2
        record = replace(store.record(Key(0, 0, 0, 0)), faults=())
        game = replace(next(store.games()), verdicts=("", ""))
    with closing(sqlite3.connect(league)) as connection:
        connection.execute("UPDATE games SET summary = ?, failed = '[]' WHERE number = 0", (encode(game).decode(),))
        connection.execute("UPDATE records SET record = ? WHERE number = 0", (pack_record(record),))
        connection.commit()

    with Store(league) as store, pytest.raises(UnverifiedError, match=r"game 0\.0\.0\.0: expected the verdicts"):
        verify_league(store)


def test_verify_says_what_it_does_not_cover(league: Path) -> None:
    before = malice("verify", league).stdout
    replace_in_journal(league, '"author":"The malice authors"', '"author":"x"')

    result = malice("verify", league)

    assert (result.exit_code, result.stdout) == (0, before)
    (line,) = (line for line in before.splitlines() if line.startswith("not covered"))
    assert all(word in line for word in ("version", "author", "command", "creation", "times", "notes", "stderr"))
