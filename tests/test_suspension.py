"""Bots that fail again and again play no more, and it does not matter how many jobs there were."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.referee.records import Key
from malice.tournaments.league.contents import Finished
from malice.tournaments.league.counting import Suspensions, find_suspended, is_left_out, list_suspensions
from malice.tournaments.league.store import Store
from tests.command_line import malice
from tests.leagues import replace_in_journal
from tests.runs import Run
from tests.summaries import played
from tests.tables import BOTS


def game(number: int, verdicts: tuple[str, str], labels: tuple[str, str] = ("a", "b")) -> Finished:
    return replace(played((0, 0, number, 0), labels, (1, 2), verdicts=verdicts), number=number).finish()


BAD, GOOD = ("crash", ""), ("", "")


def test_so_many_verdicts_in_a_row_suspend() -> None:
    games = [game(0, BAD), game(1, GOOD), game(2, BAD), game(3, BAD), game(4, BAD), game(5, GOOD)]

    assert find_suspended(games, 3) == {"a": 4}
    assert find_suspended(games, 4) == {}
    assert find_suspended(games, 0) == {}


def test_games_without_a_suspended_bot_go_on_and_its_own_are_left_out() -> None:
    assert is_left_out(5, ("a", "b"), {"a": 4})
    assert not is_left_out(4, ("a", "b"), {"a": 4})
    assert not is_left_out(5, ("b", "c"), {"a": 4})


def test_what_was_played_ahead_counts_for_nobody() -> None:
    games = [game(number, BAD) for number in range(3)] + [game(number, ("", "late")) for number in range(3, 9)]

    assert find_suspended(games, 3) == {"a": 2}


def test_a_readmitted_bot_begins_to_count_anew() -> None:
    games = [game(number, BAD) for number in range(7)]

    assert find_suspended(games, 3, {("a", 2)}) == {"a": 5}
    assert find_suspended(games, 3, {("a", 2), ("a", 5)}) == {}


def test_suspensions_that_were_lifted_are_listed_too() -> None:
    games = [game(number, BAD) for number in range(7)]

    assert list(list_suspensions(games, 3, {("a", 2)})) == [("a", 2), ("a", 5)]
    assert list(list_suspensions(games, 3)) == [("a", 2)]


@pytest.mark.parametrize("seed", range(20))
def test_a_run_that_is_watched_knows_what_the_games_say_in_whatever_order_they_finish(seed: int) -> None:
    chance = random.Random(seed)
    labels = [("a", "b"), ("b", "c"), ("a", "c")]
    games = [
        game(number, (chance.choice(("", "crash")), chance.choice(("", "", "", "crash"))), chance.choice(labels))
        for number in range(60)
    ]
    order = list(games)
    chance.shuffle(order)
    readmitted = {("a", number) for number in range(30)}
    suspensions = Suspensions(order[:10], 3, readmitted)

    for at, each in enumerate(order[10:], 11):
        suspensions.add(each)
        finished = sorted(order[:at], key=lambda game: game.number)
        assert suspensions.suspended == find_suspended(finished, 3, readmitted)


@pytest.fixture
def failing(tmp_path: Path) -> Run:
    run = Run(tmp_path)
    bot = f"{sys.executable} {BOTS / 'dies.py'} move 3 0"
    run.write(f'entries = ["uniform", "{bot}", "first"]\nseed = "s"\ndeals = 3\nsuspend_after = 2\n')
    return run


@pytest.mark.slow
def test_a_suspended_bot_plays_no_more_with_any_number_of_jobs_and_resumed(failing: Run, tmp_path: Path) -> None:
    found = []
    for jobs in ("1", "3"):
        folder = tmp_path / jobs
        folder.mkdir()
        for name in ("t.toml", "short.toml"):
            shutil.copy(failing.folder / name, folder)
        run = Run(folder)
        code, _, err = run.finish("--jobs", jobs)
        assert code == 0, err
        assert "dies is suspended: it ended 2 games in a row by a verdict;" in err
        assert "malice entry reinstate t.db dies" in err
        found.append((run.digests(), run.sha()))
        assert run.finish("--jobs", jobs)[0] == 0
        assert run.sha() == found[-1][1]

    assert found[0] == found[1]
    keys = set(found[0][0])
    assert {key for key in keys if key.table != 2} == {Key(0, 0, 0, 0), Key(0, 0, 0, 1)}
    assert len([key for key in keys if key.table == 2]) == 6


@pytest.mark.whole
@pytest.mark.slow
def test_a_reinstated_bot_plays_what_it_missed_in_new_parts_and_is_suspended_again(failing: Run) -> None:
    assert failing.finish()[0] == 0
    before = failing.digests()
    assert malice("entry", "reinstate", failing.db, "dies").exit_code == 0

    code, _, err = failing.finish()

    assert code == 0, err
    assert before.items() < failing.digests().items()
    assert failing.games() == len(before) + 4, "each of its parts suspends it anew"
    assert "dies is suspended" in err
    with Store(failing.db) as store:  # standings read games in passes, pages keep them
        kept, passed = store.read(), store.read(keep=False)
        assert list(passed.games) == kept.games
        assert passed.suspended == kept.suspended == store.suspended()
        assert passed.format_input.counted_games.left_out == kept.format_input.counted_games.left_out
    verified = json.loads(malice("verify", failing.db, "--json").stdout)
    assert (verified["complete"], verified["suspended"]) == (True, ["dies"])
    assert [(part["title"], part["games"], part["closed"]) for part in verified["parts"]] == [
        ("round-robin", 8, True),
        ("3 more deals at 1 table", 2, True),
        ("2 more deals at 1 table", 2, True),
    ]


@pytest.mark.whole
@pytest.mark.slow
def test_verify_and_pages_of_a_league_with_a_suspended_bot(failing: Run) -> None:
    assert failing.finish("--site", "pages")[0] == 0

    assert "(complete but for the games of suspended bots), all of them replay" in malice("verify", failing.db).stdout
    front = (failing.folder / "pages" / "index.html").read_text()
    assert "except for the games of suspended bots" in front
    assert "</bdi></a> is suspended" in front
    assert " is suspended: " in (failing.folder / "pages" / "bots" / "dies.html").read_text()
    assert " is suspended: " not in (failing.folder / "pages" / "bots" / "first.html").read_text()


@pytest.mark.slow
def test_a_game_that_is_missing_for_no_reason_does_not_verify(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text('entries = ["first", "uniform"]\ndeals = 1')
    assert malice("run", tmp_path / "t.toml", "--db", tmp_path / "t.db", "--isolation", "none").exit_code == 0
    with sqlite3.connect(tmp_path / "t.db") as connection:
        for table in ("records", "games"):
            connection.execute(f"DELETE FROM {table} WHERE number = 1")
    connection.close()

    result = malice("verify", tmp_path / "t.db")

    assert result.exit_code == 5
    assert "game 0.0.0.1: is missing, although its part is closed" in result.stderr


@pytest.mark.whole
@pytest.mark.slow
def test_a_game_that_was_played_ahead_of_a_suspension_is_counted_nowhere(failing: Run) -> None:
    file = failing.folder / "t.toml"
    file.write_text(file.read_text().replace("suspend_after = 2", "suspend_after = 20"))
    assert failing.finish()[0] == 0
    replace_in_journal(failing.db, '"suspend_after":20', '"suspend_after":2')
    malice("site", failing.db, "--out", failing.folder / "pages", code=0)

    (status,) = json.loads(malice("status", failing.db, "--json").stdout)["tournaments"]
    (report,) = json.loads(malice("report", failing.db, "--json").stdout)
    verified = json.loads(malice("verify", failing.db, "--json").stdout)
    assert (verified["games"], verified["left_out"]) == (8, 10)
    assert [(each["games"], each["planned"]) for each in (status, report, verified)] == [(8, 8)] * 3
    assert report["played"] == 8
    assert "8 games played ·" in (failing.folder / "pages" / "index.html").read_text()
