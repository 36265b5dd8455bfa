"""Tournaments as they are run for real: whatever ends them, nothing finished is lost and nothing is left running."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from malice.referee.records import Key, Record
from malice.tournaments.league.store import Store
from tests.command_line import malice
from tests.processes import PATIENCE_S
from tests.runs import MALICE, Run, read_until
from tests.tables import BOTS

TELLER = BOTS / "teller.py"

pytestmark = pytest.mark.slow


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def tell(folder: Path) -> Run:
    """Return a tournament whose bot stops in its third game until somebody listens, if there is a pipe."""
    run = Run(folder)
    run.write(
        f'''
        entries = ["{sys.executable} {TELLER} fifo", "uniform"]
        seed = "told"
        deals = 12
        init_ms = 60_000
        ''',
        "auto",
    )
    return run


@pytest.fixture
def told(tmp_path: Path) -> Run:
    told = tell(tmp_path)
    os.mkfifo(told.fifo)
    return told


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The tournament SHA of `told` when nothing happens to it."""
    other = tell(tmp_path_factory.mktemp("undisturbed"))
    code, _, err = other.finish()
    assert code == 0, err
    return other.sha()


def test_one_job_and_two_give_the_same_tournament(tmp_path: Path) -> None:
    found = []
    for jobs in ("1", "2"):
        folder = tmp_path / jobs
        folder.mkdir()
        each = Run(folder)
        each.write('entries = ["greedy", "uniform", "first"]\nseed = "jobs"\ndeals = 2')
        code, _, err = each.finish("--jobs", jobs)
        assert code == 0, err
        found.append((each.games(), each.sha()))

    assert found[0] == found[1]
    assert found[0][0] == 12


def test_ctrl_c_finishes_the_running_game_and_names_the_command_that_goes_on(told: Run, undisturbed: str) -> None:
    process = told.start("--jobs", "1")
    with told.in_the_third_game():
        process.send_signal(signal.SIGINT)
        assert read_until(process, "finishing") == (
            "finishing 1 game, at most 9 min by the clocks; Ctrl-C again stops at once\n"
        )
        told.await_last_order()
    _, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 3
    assert "stopped by SIGINT after 3 of 24 games" in err
    assert "resume with: malice run t.toml --db t.db --jobs 1" in err
    assert told.mark.await_end() == []
    assert told.games() == 3
    code, _, err = told.finish("--jobs", "2")
    assert code == 0, err
    assert "games are already played" in err
    assert told.sha() == undisturbed


def test_kill_9_loses_nothing_that_was_finished_and_leaves_nothing_running(told: Run, undisturbed: str) -> None:
    process = told.start("--jobs", "1")
    with told.in_the_third_game():
        process.kill()
        process.communicate(timeout=PATIENCE_S)

        assert told.mark.await_end() == []
    with sqlite3.connect(told.db) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    assert told.games() == 2
    code, _, err = told.finish()
    assert code == 0, err
    assert told.sha() == undisturbed


def test_a_referee_that_is_killed_is_replaced_and_its_game_is_played_again(told: Run, undisturbed: str) -> None:
    process = told.start("--jobs", "1")
    with told.in_the_third_game():
        (referee,) = told.find_referees()
        os.kill(referee, signal.SIGKILL)
        _, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 0, err
    assert told.mark.await_end() == []
    assert told.sha() == undisturbed


def test_a_finished_run_leaves_one_file_and_kept_bots_and_is_readable_from_a_read_only_folder(run: Run) -> None:
    run.write('entries = ["uniform", "first"]\nseed = "x"\ndeals = 1')

    code, _, err = run.finish()

    assert code == 0, err
    assert sorted(path.name for path in run.folder.iterdir()) == ["short.toml", "t.bots", "t.db", "t.toml"]
    with sqlite3.connect(run.db) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    connection.close()


def test_the_seed_of_a_part_is_told_when_it_is_closed_and_not_before(told: Run) -> None:
    process = told.start("--jobs", "1")
    with told.in_the_third_game():
        before = malice("verify", told.db).stdout
        with Store(told.db) as store:
            seed = store.tournament().seeds(0).seed.hex()
    process.communicate(timeout=PATIENCE_S)

    assert seed not in before
    assert "seed            published when" in before
    assert f"seed            {seed}" in malice("verify", told.db).stdout


def test_a_second_run_on_the_same_database_waits_for_the_first(told: Run, undisturbed: str) -> None:
    first = told.start("--jobs", "1")
    with told.in_the_third_game():
        second = told.start()
        assert second.stderr is not None
        said = second.stderr.readline()
    first.communicate(timeout=PATIENCE_S)
    _, err = second.communicate(timeout=PATIENCE_S)

    assert "another malice run is writing to it; waiting" in said
    assert (first.returncode, second.returncode) == (0, 0), err
    assert told.sha() == undisturbed


@pytest.mark.whole
def test_the_same_file_with_more_deals_goes_on(run: Run) -> None:
    run.write('entries = ["uniform", "first"]\nseed = "x"\ndeals = 1')
    run.finish()
    before = run.digests()
    run.write('entries = ["uniform", "first"]\nseed = "x"\ndeals = 3')

    code, _, err = run.finish()

    assert code == 0, err
    assert "2 more deals at 1 table: 4 games" in err
    assert before.items() < run.digests().items()
    assert {key for key in run.digests() if key.part} == {Key(1, 0, deal, turn) for deal in (0, 1) for turn in (0, 1)}
    assert malice("verify", run.db).exit_code == 0


def test_two_tournaments_share_a_league_and_each_goes_on(run: Run) -> None:
    run.write('entries = ["uniform", "first"]\nseed = "x"\ndeals = 1\nname = "monday"')
    run.finish()
    monday = run.sha()
    run.write('entries = ["uniform", "greedy"]\nseed = "x"\ndeals = 2\nname = "friday"')

    code, _, err = run.finish()

    assert code == 0, err
    assert "friday: new tournament; the league has monday" in err
    with Store(run.db) as store:
        store.select("friday")
        assert len(store.keys()) == 4
        store.select("monday")
        assert [game.number for game in store.games()] == [0, 1]
    assert f"tournament SHA  {monday}" in malice("verify", run.db, "--tournament", "monday").stdout


@pytest.fixture(scope="module")
def two_deals(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A league to which no test adds anything."""
    run = Run(tmp_path_factory.mktemp("two-deals"))
    run.write('entries = ["uniform", "first"]\nseed = "x"\ndeals = 2')
    assert run.finish()[0] == 0
    return run


@pytest.mark.parametrize(
    ("entries", "more", "said"),
    [
        ('"uniform", "first"', "deals = 1", "deals: expected at least 2, as before, got 1"),
        ('"uniform", "first"', "deals = 2\nseats = 2", "seats = 0 (now 2)"),
        ('"uniform", "first"', 'deals = 2\nrulesets = ["classic"]', "rulesets: 'short' is gone since"),
        ('"uniform", "greedy"', "deals = 2", "entries: 'first' is gone from the file"),
    ],
)
def test_a_file_that_takes_back_what_it_said_is_refused(entries: str, more: str, said: str, two_deals: Run) -> None:
    with Store(two_deals.db) as store:
        before = list(store.events())
    two_deals.write(f'entries = [{entries}]\nseed = "x"\n{more}')

    code, _, err = two_deals.finish()

    assert code == 2
    assert said in err
    with Store(two_deals.db) as store:
        assert list(store.events()) == before


def test_a_bot_that_was_changed_meanwhile_is_refused_until_new_versions_may_play(run: Run) -> None:
    bot = run.folder / "bot.py"
    shutil.copy(TELLER, bot)
    run.write(f'entries = ["uniform", "{sys.executable} bot.py none"]\nseed = "x"\ndeals = 1')
    assert run.finish()[0] == 0
    before = run.digests()
    bot.write_text(bot.read_text() + "\n")

    code, _, err = run.finish()

    assert code == 2
    assert "bot: the bot has changed since the last run; --new-versions lets the new version play" in err
    assert "2 more games" in err
    assert run.digests() == before
    code, _, err = run.finish("--new-versions")
    assert code == 0, err
    assert "adds bot, version 2: 2 games" in err
    assert before.items() < run.digests().items()
    with Store(run.db) as store:
        assert [game.versions[game.labels.index("bot")] for game in store.games()] == [1, 1, 2, 2]
    assert malice("verify", run.db).exit_code == 0


def test_an_entry_that_does_not_greet_is_named_before_the_first_game(run: Run) -> None:
    run.write('entries = ["uniform", "false"]\ndeals = 1')

    code, _, err = run.finish()

    assert code == 2
    assert "false: crash: the bot exited with status 1" in err
    assert run.mark.await_end() == []


def test_a_full_disk_stops_the_run_and_keeps_the_database_whole(run: Run) -> None:
    run.write('entries = ["uniform", "first"]\nseed = "x"\ndeals = 20')
    limited = ["sh", "-c", 'ulimit -f 200; exec "$@"', "sh", *MALICE, "run", "t.toml", "--db", "t.db"]

    done = subprocess.run(limited, cwd=run.folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    assert done.returncode == 3
    assert "t.db: cannot store a game:" in done.stderr
    assert "Traceback" not in done.stderr
    with sqlite3.connect(run.db) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    kept = run.games()
    assert 0 < kept < 40
    code, _, err = run.finish()
    assert code == 0, err
    assert run.games() == 40


def test_every_stored_game_is_whole(run: Run) -> None:
    run.write('entries = ["uniform", "greedy"]\nseed = "x"\ndeals = 2')
    run.finish()

    with Store(run.db) as store:
        records = list(store.records())
        summaries = list(store.games())

    assert [record.key for record in records] == [game.key for game in summaries]
    for record, game in zip(records, summaries, strict=True):
        assert isinstance(record, Record)
        assert len(record.actions) == len(record.micros) == len(record.cpu_micros) == game.actions
        assert sum(game.asked) == game.actions
        assert record.places == game.places


@pytest.mark.parametrize(("words", "code"), [("run t.toml", 3), ("standings t.db", 130)])
def test_an_interrupt_before_the_command_has_begun_ends_it_like_a_later_one(words: str, code: int) -> None:
    program = (
        "import os, signal; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT});"
        " os.kill(os.getpid(), signal.SIGINT); from malice.tournaments.launch import main; main()"
    )

    ended = subprocess.run([sys.executable, "-c", program, *words.split()], capture_output=True, text=True)

    assert ended.returncode == code
    assert ended.stderr == ("Error: interrupted; resume with: malice run t.toml\n" if code == 3 else "")
