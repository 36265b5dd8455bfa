"""Decisions while a run plays: they wait for the deals at play, and all that follows is as if the run had stopped."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from malice.referee.records import Key
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.errors import LeagueError, Stopped
from malice.tournaments.league.config import read_config
from malice.tournaments.league.desk import decide
from malice.tournaments.league.journal import AnyEvent, Renamed, StateChanged
from malice.tournaments.league.notes import Ruling
from malice.tournaments.league.store import Store
from malice.tournaments.running.opening import RunTerms
from malice.tournaments.running.plan import read_plan
from malice.tournaments.running.run import run_tournament
from tests.command_line import malice
from tests.leagues import play_small_league, replace_in_journal
from tests.processes import PATIENCE_S
from tests.runs import MALICE, Run, Until

pytestmark = pytest.mark.slow

BOTS = Path(__file__).parent / "bots"
FILE = (
    'entries = ["{}", "first", "uniform"]\nseed = "desk"\ndeals = 12\nrulesets = ["./short.toml"]\ninit_ms = 60_000\n'
)


def make_run(folder: Path) -> Run:
    """A tournament of three; the first bot waits in its third game if there is a FIFO, until somebody listens."""
    folder.mkdir(exist_ok=True)
    run = Run(folder)
    (folder / "short.toml").write_text('extends = "standard"\n[rules]\npayoff_size = 1\n')
    run.write('name = "desk"\n' + FILE.format(f"{sys.executable} {BOTS / 'teller.py'} fifo"))
    return run


@pytest.fixture
def stopping(tmp_path: Path) -> Iterator[Run]:
    run = make_run(tmp_path / "here")
    os.mkfifo(run.fifo)
    yield run
    run.mark.end()


def stop_after(run: Run, keys: Collection[Key]) -> None:
    """Play these games of a tournament alone."""
    with Store(run.db, create=True) as store:
        plan = read_plan(store, read_config(run.folder / "t.toml"), run.folder)
        with pytest.raises(Stopped):
            run_tournament(store, plan, io.StringIO(), RunTerms(1, playing=Until(keys), kept=KeptBots(run.db)))


@pytest.mark.parametrize(
    "words",
    [("disqualify", "first"), pytest.param(("rename", "first", "zoe"), marks=pytest.mark.whole)],
    ids=lambda words: words[0],
)
def test_a_decision_during_a_run_is_that_of_a_run_stopped_there(
    words: tuple[str, ...], stopping: Run, tmp_path: Path
) -> None:
    what, *labels = words
    process = stopping.start("--jobs", "2", "--events", "events.jsonl")
    with stopping.in_the_third_game():
        told = json.loads(malice("entry", what, stopping.db, *labels, "--reason", "why", "--json", code=0).stdout)
        status = json.loads(malice("status", stopping.db, "--json", code=0).stdout)
        twice = malice("entry", what, stopping.db, *labels)
    _, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 0, err
    assert told == {"label": "first", "what": what, "tournaments": [], "waits": True}
    assert (status["run"]["pid"], status["waiting"][0]["what"]) == (process.pid, what)
    assert (twice.exit_code, "waits already" in twice.stderr) == (2, True)
    assert json.loads(malice("status", stopping.db, "--json", code=0).stdout)["run"] is None
    assert "all of them replay" in malice("verify", stopping.db, code=0).stdout

    (games,) = re.findall(r"first: .*, after (\d+) games", err)
    events = map(json.loads, (stopping.folder / "events.jsonl").read_text().splitlines())
    keys = [Key.parse(event["key"], 1) for event in events if event["type"] == "game_finished"][: int(games)]
    deals = {(key.table, key.deal) for key in keys}
    assert len(keys) == 2 * len(deals), "the deals at play are over in both rotations"
    there = make_run(tmp_path / "there")
    stop_after(there, keys)
    malice("entry", what, there.db, *labels, "--reason", "why", code=0)
    assert there.finish()[0] == 0
    assert there.sha() == stopping.sha()
    assert list_decisions(there) == list_decisions(stopping)


def list_decisions(run: Run) -> list[AnyEvent]:
    with Store(run.db) as store:
        return [event for _, event in store.events() if isinstance(event, StateChanged | Renamed)]


@pytest.mark.whole
def test_whoever_is_reinstated_during_a_run_plays_on_in_it(stopping: Run) -> None:
    process = stopping.start("--jobs", "1")
    with stopping.in_the_third_game():
        malice("entry", "withdraw", stopping.db, "uniform", code=0)
        malice("entry", "reinstate", stopping.db, "nobody", code=2)
    stopping.await_games(4, process)
    malice("entry", "reinstate", stopping.db, "uniform")  # waits, or is refused: it may be too early or too late
    _, err = process.communicate(timeout=PATIENCE_S)
    if "plays again" not in err:
        malice("entry", "reinstate", stopping.db, "uniform")
        assert stopping.finish()[0] == 0

    assert stopping.games() == 72
    assert "all of them replay" in malice("verify", stopping.db, code=0).stdout


@pytest.mark.parametrize("now", [False, pytest.param(True, marks=pytest.mark.whole)])
def test_stop_ends_a_run_as_ctrl_c_does(now: bool, stopping: Run) -> None:
    background = ("sh", "-c", 'trap "" INT; exec "$@"', "sh", *MALICE)  # as a shell starts what ends with &
    process = stopping.start("--jobs", "1", malice=background)
    with stopping.in_the_third_game():
        malice("stop", stopping.db, *(["--now"] if now else []), code=0)
        if now:
            process.wait(PATIENCE_S)
    _, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 3
    assert f"stopped by {'SIGTERM' if now else 'malice stop'} after {2 if now else 3} of 72 games" in err
    assert "no run plays it" in malice("stop", stopping.db, code=2).stderr
    assert stopping.mark.await_end() == []


@pytest.mark.whole
def test_a_decision_that_no_run_took_up_holds_from_the_next_one_on(stopping: Run) -> None:
    process = stopping.start("--jobs", "1")
    with stopping.in_the_third_game():
        malice("entry", "withdraw", stopping.db, "first", code=0)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE_S)
    stopping.mark.end()

    assert "the next run takes it up" in malice("status", stopping.db, code=0).stdout
    code, _, err = stopping.finish()

    assert (code, "first: withdrawn from desk" in err) == (0, True)
    assert "all of them replay" in malice("verify", stopping.db, code=0).stdout


def test_what_was_over_when_somebody_decided_must_be_there(tmp_path: Path) -> None:
    league = play_small_league(tmp_path)
    with Store(league, create=True) as store:
        decide(store, Ruling("withdraw", "greedy", who="prof"))
        with pytest.raises(LeagueError, match="withdrawn already"):
            decide(store, Ruling("withdraw", "greedy"))
    replace_in_journal(league, '"who":"prof","over":[]', '"who":"prof","over":[[0,0,0,2]]')

    assert "game 0.0.1.0: is missing, but was over" in malice("verify", league, code=5).stderr
