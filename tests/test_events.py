"""The events of real runs: what `--events` writes, when, and to whom."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest
from click.testing import Result

from malice.tournaments.commands.exit_codes import NO_READER
from malice.tournaments.league.store import Store
from malice.tournaments.running.events import (
    ComparisonState,
    EntrySuspended,
    GameFailed,
    GameFinished,
    GameStarted,
    PartFinished,
    PartOpened,
    RunEnded,
    RunEvent,
    RunStarted,
    VerdictGiven,
)
from malice.tournaments.running.result_events import AnyEvent, ComparisonResult, StandingsComputed
from tests import event_tables
from tests.command_line import malice
from tests.processes import PATIENCE_S
from tests.runs import MALICE, Run, read_until
from tests.tables import BOTS

pytestmark = pytest.mark.slow

E = TypeVar("E")
MOST_BYTES = 1 << 22
ROOM_BYTES = 3000
"""What is left for the events of some games."""


def decode(line: bytes) -> RunEvent:
    """Return the event of a line that has its fields and no others."""
    event: RunEvent = msgspec.json.decode(line, type=AnyEvent)
    assert msgspec.json.encode(event) == line
    return event


def read(path: Path) -> list[RunEvent]:
    return [decode(line) for line in path.read_bytes().splitlines()]


def play(folder: Path, *words: str | Path) -> Result:
    """Run the tournament of a folder."""
    return malice("run", folder / "t.toml", "--db", folder / "t.db", "--isolation", "none", *words)


def pick(events: Sequence[RunEvent], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def check_order(events: Sequence[RunEvent]) -> None:
    """Check that every game began before anything else is told of it, and that counts go up one by one."""
    begun: set[str] = set()
    for event in events:
        match event:
            case GameStarted(key=key):
                begun.add(key)
            case VerdictGiven(key=key) | GameFinished(key=key) | GameFailed(key=key):
                assert key in begun
    done = [event.done for event in pick(events, GameFinished)]
    first = pick(events, RunStarted)[0].done
    assert done == [*range(first + 1, first + len(done) + 1)]


@pytest.fixture(scope="module")
def resumed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the events of two runs: one, and another after more deals; one bot dies in every game."""
    folder = tmp_path_factory.mktemp("resumed")
    dies = f"{sys.executable} {BOTS / 'dies.py'} move 3 0"
    for deals in (1, 4):
        text = f'entries = ["greedy", {{ bot = "{dies}", label = "dies" }}]\nseed = "e"\nsuspend_after = 4'
        (folder / "t.toml").write_text(f"{text}\ndeals = {deals}")
        result = play(folder, "--events", folder / "e.jsonl")
        assert result.exit_code == 0, result.stderr
        if deals == 1:
            with (folder / "e.jsonl").open("a") as file:
                file.write('{"type":"game_sta')
    return folder


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> list[RunEvent]:
    """The events of a run whose referee was killed in its third game, and that Ctrl-C ended in the same game later."""
    run = Run(tmp_path_factory.mktemp("killed"))
    teller = f"{sys.executable} {BOTS / 'teller.py'} fifo"
    run.write(f'entries = [{{ bot = "{teller}", label = "teller" }}, "first"]\nseed = "told"\ndeals = 12\n')
    os.mkfifo(run.fifo)
    words = ("--jobs", "1", "--isolation", "none", "--events", "e.jsonl")
    process = run.start(*words)
    with run.in_the_third_game():
        (referee,) = run.find_referees()
        os.kill(referee, signal.SIGKILL)
        os.mkfifo(run.folder / "next")
        (run.folder / "next").rename(run.fifo)
    with run.in_the_third_game():
        process.send_signal(signal.SIGINT)
        read_until(process, "finishing")
        run.await_last_order()
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 3
    return read(run.folder / "e.jsonl")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[RunEvent]]:
    """The league of a comparison, and its events, which went to stdout."""
    db = tmp_path_factory.mktemp("compared") / "c.db"
    words = ("--isolation", "none", "--seed", "events", "--elo1", "150", "--db", db)
    result = malice("compare", "greedy", "first", *words, "--events", "-")
    assert result.exit_code == 0, result.stderr
    assert "better: " in result.stderr
    return db, [decode(line.encode()) for line in result.stdout.splitlines()]


def test_every_kind_of_event_occurs(
    resumed: Path, killed: list[RunEvent], compared: tuple[Path, list[RunEvent]]
) -> None:
    first, _, second = (resumed / "e.jsonl").read_bytes().partition(b'{"type":"game_sta\n')
    events = [decode(line) for line in (first + second).splitlines()]

    assert {type(event) for event in (*events, *killed, *compared[1])} == set(event_tables.EVENTS)


def test_two_runs_are_one_story_that_agrees_with_the_league(resumed: Path) -> None:
    stories = (resumed / "e.jsonl").read_bytes().split(b'{"type":"game_sta\n')
    first, second = ([decode(line) for line in story.splitlines()] for story in stories)
    for events in (first, second):
        check_order(events)
        assert isinstance(events[0], RunStarted)
        assert isinstance(events[-1], RunEnded)
        assert (events[-1].reason, events[-1].exit) == ("complete", 0)
    games = pick([*first, *second], GameFinished)
    with Store(resumed / "t.db") as store:
        stored = {str(game.key): game for game in store.stored_games()}

    assert {game.key: game.digest for game in games} == {key: game.digest for key, game in stored.items()}
    assert [(run.done, run.total) for run in pick([*first, *second], RunStarted)] == [(0, 2), (2, 8)]
    assert [part.games for part in pick([*first, *second], PartOpened)] == [2, 6]
    assert [part.part for part in pick([*first, *second], PartFinished)] == [0, 1]
    assert {(each.label, each.code) for each in pick(first, VerdictGiven)} == {("dies", "crash")}
    assert [(each.label, each.part) for each in pick(second, EntrySuspended)] == [("dies", 1)]
    (told,) = pick(second, StandingsComputed)
    assert [row.label for row in told.standings[0].rows] == ["greedy", "dies"]


def test_a_game_that_the_referee_could_not_finish_begins_again_and_ctrl_c_is_told(killed: list[RunEvent]) -> None:
    check_order(killed)
    (failed,) = pick(killed, GameFailed)
    assert failed.again
    assert [event.key for event in pick(killed, GameStarted)].count(failed.key) == 2
    finished = {event.key for event in pick(killed, GameFinished)}
    assert failed.key in finished
    assert {event.key for event in pick(killed, GameStarted)} == finished
    (end,) = pick(killed, RunEnded)
    assert (end.reason, end.exit) == ("stopped", 3)
    assert end.sentence.startswith("stopped by SIGINT")
    assert pick(killed, StandingsComputed)


def test_a_comparison_tells_how_it_stands_deal_by_deal_and_what_it_found(compared: tuple[Path, list[RunEvent]]) -> None:
    db, events = compared
    check_order(events)
    states = pick(events, ComparisonState)
    (result,) = pick(events, ComparisonResult)
    (pair,) = json.loads(malice("standings", db, "--pair", "greedy", "first", "--json").stdout)

    assert states[0].deals == 0
    assert [state.accepted for state in states] == [None] * (len(states) - 1) + ["H1"]
    assert states[-1].deals == result.comparison.advantage.deals
    assert states[-1].counts == result.comparison.advantage.counts
    assert json.loads(msgspec.json.encode(result.comparison)) == pair


def test_an_anonymous_tournament_tells_neutral_names_and_no_digests(tmp_path: Path) -> None:
    says = f"{sys.executable} {BOTS / 'says.py'} move secret"
    (tmp_path / "t.toml").write_text(f'entries = ["greedy", "{says}"]\ndeals = 1\nanonymous = true')

    result = play(tmp_path, "--events", tmp_path / "e.jsonl")

    assert result.exit_code == 0, result.stderr
    told = (tmp_path / "e.jsonl").read_text()
    games = pick(read(tmp_path / "e.jsonl"), GameFinished)
    assert {label for game in games for label in game.labels} == {"bot 1", "bot 2"}
    assert [word for word in ("greedy", "says", "secret", "digest", str(tmp_path)) if word in told] == []
    assert len(pick(read(tmp_path / "e.jsonl"), VerdictGiven)) == 2


@pytest.mark.parametrize("target", ["missing/e.jsonl", ".", "t.toml", "t.db"])
def test_what_is_no_place_for_events_is_refused_before_anything_is_played(target: str, tmp_path: Path) -> None:
    text = 'entries = ["greedy", "first"]\ndeals = 1'
    (tmp_path / "t.toml").write_text(text)

    result = play(tmp_path, "--events", tmp_path / target)

    assert result.exit_code == 2
    assert "--events" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t.toml"]
    assert (tmp_path / "t.toml").read_text() == text


def test_two_kinds_of_data_on_stdout_are_refused() -> None:
    assert malice("compare", "greedy", "first", "--json", "--events", "-").exit_code == 2


def test_a_reader_that_is_gone_ends_the_run_and_a_full_disk_stops_it(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.write('entries = ["greedy", "first"]\nseed = "x"\ndeals = 12\nisolation = "none"')
    with subprocess.Popen(
        [*MALICE, "run", "t.toml", "--events", "-"],
        cwd=tmp_path,
        env=run.mark.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout
        assert isinstance(decode(process.stdout.readline().rstrip(b"\n")), RunStarted)
        process.stdout.close()
        assert process.wait(PATIENCE_S) == NO_READER

    assert run.mark.await_end() == []
    code, _, err = run.finish("--events", "/dev/full")
    assert code == 3
    assert "cannot write events" in err


@pytest.mark.whole
def test_events_that_find_no_more_room_cost_no_game(tmp_path: Path) -> None:
    text = 'entries = ["greedy", "first"]\nseed = "x"\ndeals = 6\nisolation = "none"'
    runs = [Run(tmp_path / name) for name in ("full", "undisturbed")]
    for run in runs:
        run.folder.mkdir()
        run.write(text)
    full, undisturbed = runs
    assert undisturbed.finish("--events", "t.jsonl")[0] == 0
    began = (undisturbed.folder / "t.jsonl").read_bytes().splitlines(keepends=True)[0]
    file = full.folder / "t.jsonl"
    file.write_bytes(began + began * ((MOST_BYTES - ROOM_BYTES) // len(began) - 1))  # nothing else is as large

    with (full.folder / "said").open("wb") as said:
        process = subprocess.Popen(
            [*MALICE, "run", "t.toml", "--db", "t.db", "--site", "pages", "--events", "t.jsonl"],
            cwd=full.folder,
            env=full.mark.environ(),
            stderr=said,
            stdout=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_BYTES, resource.RLIM_INFINITY)),
        )
        code = process.wait(timeout=120)
    *whole, _torn = file.read_bytes().split(b"\n")
    told = {event.key for event in pick([decode(line) for line in whole], GameFinished)}
    stored = {str(key) for key in full.digests()}

    assert (code, b"cannot write events" in (full.folder / "said").read_bytes()) == (3, True)
    assert told <= stored
    assert 0 < len(stored) < 12
    assert full.finish("--site", "pages")[0] == 0
    assert full.sha() == undisturbed.sha()


def test_the_tables_of_the_page_are_those_of_the_structs() -> None:
    page = event_tables.PAGE.read_text("utf-8")

    assert event_tables.insert(page, event_tables.draw()) == page, "python -m tests.event_tables writes them"
