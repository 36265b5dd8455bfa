"""Entries that cannot be built or started: all of them are listed, and the others can play without them."""

from __future__ import annotations

import concurrent.futures
import csv
import io
import json
import os
import select
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from malice.tournaments.entries.bots import list_shipped_bots
from malice.tournaments.entries.lookup import run_concurrently
from malice.tournaments.league.store import Store
from tests.command_line import malice
from tests.leagues import change, write_events
from tests.processes import PATIENCE_S, POLL_S
from tests.runs import Run

pytestmark = pytest.mark.slow

FIRST = list_shipped_bots()["first"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = Run(tmp_path)
    run.write('entries = ["uniform", "./ana", "./bob", "false", "greedy"]\nseed = "absent"\ndeals = 2\n')
    write_bot(tmp_path / "ana", "echo compiling; cat luck >&2; exit 3")
    (tmp_path / "ana" / "luck").write_text("no luck\n")
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob" / "bot.toml").write_text("name = ")
    return run


def write_bot(folder: Path, build: str, name: str = "") -> None:
    folder.mkdir(exist_ok=True)
    (folder / "bot.py").write_text((FIRST / "bot.py").read_text())
    manifest = {"name": name or folder.name, "run": ["{python}", "bot.py"], "build": ["sh", "-c", build]}
    (folder / "bot.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in manifest.items()))


def test_every_broken_entry_is_listed_with_its_cause(run: Run) -> None:
    code, _, err = run.finish()

    assert code == 2
    said = err.partition("Error: ")[2].splitlines()
    assert said[0].startswith("3 of 5 entries are broken;")
    assert said[1].startswith("  ana: build: the build sh -c")
    assert said[2:4] == ["    | compiling", "    | no luck"]
    assert said[4].startswith("  bob: bot: ")
    assert said[5] == "  false: crash: the bot exited with status 1"
    assert not run.db.exists()
    assert run.mark.await_end() == []


@pytest.mark.whole
def test_the_others_play_the_same_games_with_and_without_broken_entries(run: Run) -> None:
    assert run.finish("--keep-going")[0] == 0
    between = run.digests()

    assert {(key.part, key.table) for key in between} == {(0, 0)}
    assert len(between) == 4
    with Store(run.db) as store:
        assert store.tournament().complete
        absent = {entry.label: entry.absence.code for entry in store.entries() if entry.absence}
    assert absent == {"ana": "build", "bob": "bot", "false": "crash"}


def test_mended_bots_play_what_is_missing_and_nothing_else_changes(run: Run, tmp_path: Path) -> None:
    run.write('entries = ["uniform", "./ana", "./bob", "greedy"]\nseed = "absent"\ndeals = 1\n')
    assert run.finish("--keep-going")[0] == 0
    before = run.digests()
    write_bot(tmp_path / "ana", "true")
    write_bot(tmp_path / "bob", "true", name="robert")

    code, _, err = run.finish()

    assert code == 0, err
    after = run.digests()
    assert len(after) == 12
    assert {key: after[key] for key in before} == before
    with Store(run.db) as store:
        assert store.tournament().complete
        assert [entry.label for entry in store.entries()] == ["uniform", "ana", "bob", "greedy"]
        assert not any(entry.absence for entry in store.entries())
        assert [part.title for part in store.parts()] == ["round-robin", "adds ana; bob"]
    assert "(complete), all of them replay" in malice("verify", run.db).stdout


@pytest.mark.whole
def test_a_mended_bot_of_an_anonymous_tournament_keeps_its_neutral_name(run: Run, tmp_path: Path) -> None:
    run.write('entries = ["uniform", "greedy", "./bob"]\nanonymous = true\ndeals = 1\n')
    assert run.finish("--keep-going")[0] == 0
    write_bot(tmp_path / "bob", "true", name="robert")

    code, _, err = run.finish()

    assert code == 0, err
    with Store(run.db) as store:
        assert sorted(entry.label for entry in store.entries()) == ["bot 1", "bot 2", "bot 3"]


def test_a_bot_that_breaks_after_games_of_its_own_keeps_them(run: Run, tmp_path: Path) -> None:
    run.write('entries = ["uniform", "./ana", "greedy"]\nseed = "absent"\ndeals = 2\n')
    write_bot(tmp_path / "ana", "test ! -e ../broken")
    assert run.finish()[0] == 0
    change(run.db, "DELETE FROM records WHERE number = 0; DELETE FROM games WHERE number = 0")
    write_events(run.db, lambda events: events[:-1])  # with the end of its part
    kept = run.digests()
    (tmp_path / "broken").touch()
    (tmp_path / "ana" / ".malice-build").unlink()
    shutil.rmtree(tmp_path / "t.bots")

    code, _, err = run.finish("--keep-going")

    assert code == 0, err
    assert "1 game left out, of absent bots: ana" in err
    assert run.digests() == kept
    assert len(kept) == 11
    assert "(of 12, not complete, the games of absent bots wait: ana)" in malice("verify", run.db).stdout
    (tmp_path / "broken").unlink()
    code, _, err = run.finish()
    assert code == 0, err
    assert run.games() == 12
    assert "(complete), all of them replay" in malice("verify", run.db).stdout


def test_no_game_is_left_when_only_one_entry_works(run: Run) -> None:
    run.write('entries = ["uniform", "false"]\ndeals = 1')

    code, _, err = run.finish("--keep-going")

    assert code == 2
    assert "1 of 2 entries is broken; no game can be played without it:" in err
    assert not run.db.exists()


def test_absent_bots_are_marked_wherever_results_are_shown(run: Run, tmp_path: Path) -> None:
    assert run.finish("--keep-going")[0] == 0

    rows = list(csv.DictReader(io.StringIO(malice("standings", run.db, "--csv").stdout)))
    assert {row["bot"]: row["state"] for row in rows} == {
        "uniform": "playing",
        "greedy": "playing",
        "ana": "absent",
        "bob": "absent",
        "false": "absent",
    }
    assert [row["state"] for row in rows] == ["playing"] * 2 + ["absent"] * 3
    (standings,) = json.loads(malice("standings", run.db, "--json").stdout)
    assert [row["state"] for row in standings["rows"]] == [row["state"] for row in rows]
    text = malice("standings", run.db).stdout
    assert "ana (absent)" in text
    assert "(complete), all of them replay" in malice("verify", run.db).stdout, "absent bots are not in a part yet"
    malice("site", run.db, "--out", tmp_path / "site")
    front = (tmp_path / "site" / "index.html").read_text()
    assert front.count('<span class="verdict">absent</span>') == 6, "in the ranking and in the list of bots"
    assert "is absent: it could not be built or started" in front
    assert not any("no luck" in page.read_text() for page in (tmp_path / "site").rglob("bots/*.html"))


def test_builds_run_side_by_side(run: Run, tmp_path: Path) -> None:
    """Each build waits for the other, which works only if both run."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.fail("this test needs two processors")
    run.write('entries = ["./ana", "./bob"]\nseed = "absent"\ndeals = 1\n')
    for pipe in ("there", "back"):
        os.mkfifo(tmp_path / pipe)
    write_bot(tmp_path / "ana", "echo > ../there; read line < ../back")
    write_bot(tmp_path / "bob", "read line < ../there; echo > ../back")

    code, _, err = run.finish()

    assert code == 0, err
    assert run.games() == 2


def test_ctrl_c_ends_all_builds(run: Run, tmp_path: Path) -> None:
    run.write('entries = ["./ana", "./bob"]\ndeals = 1\n')
    os.mkfifo(tmp_path / "started")
    for name in ("ana", "bob"):
        write_bot(tmp_path / name, "echo here > ../started; exec tail -f /dev/null")
    process = run.start()
    started = os.open(tmp_path / "started", os.O_RDWR)  # also a writer: no end of file between the two
    try:
        for _ in range(min(2, len(os.sched_getaffinity(0)))):
            assert select.select([started], [], [], PATIENCE_S)[0], "no build"
            assert os.read(started, 5) == b"here\n"
    finally:
        os.close(started)

    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 3, err
    assert run.mark.await_end() == []


def is_hung_up(guard: int) -> bool:
    """Wait until the other end of a pipe is closed; false if that takes too long."""
    poll = select.poll()
    poll.register(guard, 0)
    return poll.poll(PATIENCE_S * 1000) != []


def test_ctrl_c_while_builds_are_still_begun_ends_those_that_run() -> None:
    hung_up: list[bool] = []

    class Interrupted(list[Callable[[int], None]]):
        def __iter__(self) -> Iterator[Callable[[int], None]]:
            yield self[0]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_concurrently(Interrupted([lambda guard: hung_up.append(is_hung_up(guard))]))

    assert hung_up == [True]


def main_waits_in(file: str) -> bool:
    """Tell whether a function of this file has the main thread wait."""
    frame = sys._current_frames()[threading.main_thread().ident or 0]
    waits = frame.f_code is threading.Condition.wait.__code__
    return waits and file in {each.f_code.co_filename for each, _ in traceback.walk_stack(frame)}


def test_ctrl_c_ends_builds_even_if_another_thread_hears_it() -> None:
    hung_up: list[bool] = []

    def interrupt(guard: int) -> None:
        while not main_waits_in(concurrent.futures._base.__file__):
            time.sleep(POLL_S)
        signal.raise_signal(signal.SIGINT)  # in this thread, so that no wait of the main one ends
        hung_up.append(is_hung_up(guard))

    with pytest.raises(KeyboardInterrupt):
        run_concurrently([interrupt])

    assert hung_up == [True]


@pytest.mark.whole
def test_an_entry_whose_folder_is_gone_is_absent_to_a_run_that_keeps_going(run: Run, tmp_path: Path) -> None:
    run.write('entries = ["uniform", "bots/*"]\nseed = "gone"\ndeals = 1\n')
    (tmp_path / "bots").mkdir()
    for name in ("ann", "ben"):
        write_bot(tmp_path / "bots" / name, "true")
    assert run.finish()[0] == 0
    shutil.rmtree(tmp_path / "bots" / "ben")
    run.write('entries = ["uniform", "bots/*"]\nseed = "gone"\ndeals = 2\n')

    assert run.finish()[0] == 2
    code, _, err = run.finish("--keep-going")

    assert code == 0, err
    assert "  ben: bot: the folder bots/ben is gone\n" in err
    with Store(run.db) as store:
        assert [entry.label for entry in store.entries() if entry.waits] == ["ben"]
        assert len(store.keys()) == 6 + 2


@pytest.mark.whole
@pytest.mark.parametrize("anonymous", [False, True])
def test_the_others_play_on_without_the_only_folder_of_a_pattern_again_and_again(
    run: Run, tmp_path: Path, anonymous: bool
) -> None:
    head = 'entries = ["uniform", "first", "bots/*"]\nseed = "gone"\n' + "anonymous = true\n" * anonymous
    run.write(f"{head}deals = 1\n")
    (tmp_path / "bots").mkdir()
    write_bot(tmp_path / "bots" / "ben", "true")
    assert run.finish()[0] == 0
    shutil.rmtree(tmp_path / "bots" / "ben")

    for deals in (2, 3):
        run.write(f"{head}deals = {deals}\n")
        refused = run.finish()
        code, _, err = run.finish("--keep-going")

        assert refused[0] == 2
        assert code == 0, err
        assert ("bot: its folder is gone\n" if anonymous else "bot: the folder bots/ben is gone\n") in err
        with Store(run.db) as store:
            assert sum(entry.waits for entry in store.entries()) == 1
            assert len(store.keys()) == 6 + 2 * (deals - 1)
