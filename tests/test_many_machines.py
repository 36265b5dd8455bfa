"""A cluster of real processes: the one that docs/many-machines.md starts, and what may happen to it afterwards."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest

from malice.protocol.messages import Move
from malice.referee.game_runner import GameRunner
from malice.referee.records import Key, Record
from malice.tournaments.bench.games import Puppet
from malice.tournaments.check.report import Report
from malice.tournaments.league.config import read_config
from malice.tournaments.league.store import Store
from malice.tournaments.running.plan import read_plan
from tests.documents import Reader
from tests.processes import PATIENCE_S, Mark, await_end
from tests.runs import MALICE, Run

pytestmark = pytest.mark.slow

BOT = """
name = "odd"
run = ["tests/start", "docs/build.py"]
build = ["sh", "-c", "mkdir -p out && echo made >> out/built"]
ignore = ["out"]
"""
START = '#!/bin/sh\ntest -s out/built && test -L docs/build.py && exec python3 "$1"\n'
PLAY = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    answer = {"id": request["id"], "name": "odd"}
    if request["type"] == "move":
        answer["move"] = request["legal"][0]
    print(json.dumps(answer), flush=True)
"""
WAITS = """
import contextlib, json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    if request["type"] == "game_start" and os.path.exists({fifo!r}):
        with contextlib.suppress(BrokenPipeError), open({fifo!r}, "w") as pipe:
            pipe.write("here\\n" + " " * 1_000_000)
    answer = {{"id": request["id"], "name": "waits"}}
    if request["type"] == "move":
        answer["move"] = request["legal"][0]
    print(json.dumps(answer), flush=True)
"""
SCHEDULER = (
    *(sys.executable, "-P", "-m", "distributed.cli.dask_scheduler"),
    *("--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0"),
)
TOURNAMENT = """
entries = ["first", "odd", { bot = "first", label = "again" }]
seed = "far"
deals = 12
isolation = "none"
rulesets = ["./short.toml"]
"""
GAMES = 3 * 12 * 2
SHORT = 'extends = "standard"\n[rules]\npayoff_size = 2\n'


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """Somebody who has read the page; the cluster that it starts still runs."""
    folder = tmp_path_factory.mktemp("farm") / "reader"
    folder.mkdir()
    each = Reader(folder)
    try:
        each.read("docs/many-machines.md")
        yield each
    finally:
        each.mark.end()


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    each = Run(tmp_path)
    (tmp_path / "short.toml").write_text(SHORT)
    make_odd_bot(tmp_path / "odd")
    each.write(TOURNAMENT)
    yield each
    each.mark.end()


def make_odd_bot(folder: Path) -> None:
    """Make a bot whose folders have the names that careless copies leave out, with an exec bit and a symlink."""
    for name in ("tests", "docs", "build"):
        (folder / name).mkdir(parents=True)
    (folder / "bot.toml").write_text(BOT)
    (folder / "tests/start").write_text(START)
    (folder / "tests/start").chmod(0o755)
    (folder / "build/play.py").write_text(PLAY)
    (folder / "docs/build.py").symlink_to("../build/play.py")


class Processes(ExitStack):
    """Processes that bear a mark, and are gone at the end of this context."""

    def __init__(self, mark: Mark) -> None:
        super().__init__()
        self._mark = mark

    def keep(self, process: subprocess.Popen[str]) -> subprocess.Popen[str]:
        self.enter_context(process)
        self.callback(self._mark.end)  # before anybody is waited for
        return process

    def start(self, *words: str) -> subprocess.Popen[str]:
        return self.keep(subprocess.Popen(words, env=self._mark.environ(), stderr=subprocess.PIPE, text=True))

    def start_worker(self, scheduler: str, name: str) -> subprocess.Popen[str]:
        cache = Path(scheduler).with_name(name)
        return self.start(*MALICE, "worker", scheduler, "--name", name, "--slots", "1", "--cache", str(cache))


def read_line(process: subprocess.Popen[str], words: str) -> str:
    """Return the next line on stderr with these words in it."""
    assert process.stderr is not None
    return next(line for line in process.stderr if words in line)


def play_alone(run: Run) -> dict[Key, str]:
    """Return the digests of the games as both bots play them: they take the first action of the list."""

    def choose(request: Move) -> tuple[str, int]:
        assert isinstance(request.legal, tuple)
        return request.legal[0], 0

    digests = {}
    with Store(run.db) as store:
        plan = read_plan(store, read_config(run.folder / "t.toml"), run.folder)
    for each in plan.tournament.schedules[0].batches():
        batch = plan.make_batch(each, list(each.games()))
        for order in batch.games:
            digests[order.key] = GameRunner(batch, order, [Puppet(choose), Puppet(choose)]).play().digest
    return digests


def zip_builds(record: Record) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield each entry of a game with what built it."""
    yield from zip(record.entries, record.builds, strict=False)


@pytest.mark.whole
def test_kills_of_a_worker_and_of_the_run_change_nothing(reader: Reader, run: Run) -> None:
    cluster = ("--dask", str(reader.folder / "scheduler.json"))
    process = run.start(*cluster)
    run.await_games(6, process)
    os.kill(reader.mark.find("distributed.cli.dask_worker")[0], signal.SIGKILL)
    gone = read_line(process, "is gone: ")
    process.kill()
    process.communicate()
    left = await_end(lambda: reader.mark.find("malice.referee"))
    code, _, err = run.finish(*cluster, malice=MALICE)

    assert re.search(r"is gone: [1-9]\d* games? handed out again", gone)
    assert left == []
    assert code == 0, err
    assert run.games() == GAMES
    assert run.digests() == play_alone(run)
    assert [path.read_text() for path in (reader.folder / "cache").rglob("out/built")] == ["made\n"], "built once"
    with Store(run.db) as store:
        builds = {(entry[0], build) for record in store.records() for entry, build in zip_builds(record)}
    assert [label for label, build in builds if build.startswith("; files ")] == ["odd"]


@pytest.mark.whole
def test_a_worker_examines_bots(reader: Reader, run: Run) -> None:
    (run.folder / "quitter").mkdir()
    (run.folder / "quitter/bot.toml").write_text('name = "quitter"\nrun = ["true"]\n')

    words = ("check", "quitter", "gone", "--json", "--isolation", "none", "--rulesets", "standard")
    done = subprocess.run(
        [*MALICE, *words, "--dask", str(reader.folder / "scheduler.json")],
        cwd=run.folder,
        env=run.mark.environ(),
        capture_output=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 10, done.stderr
    quitter, gone = msgspec.json.decode(done.stdout, type=list[Report])
    assert (quitter.bot, quitter.steps[0].step, quitter.steps[0].result) == ("quitter", "starts", "failed")
    assert (gone.bot, gone.steps[0].step) == ("gone", "bot"), "it never left"


@pytest.mark.whole
def test_a_worker_that_gets_sigterm_finishes_hands_back_and_leaves(run: Run, tmp_path: Path) -> None:
    scheduler = str(tmp_path / "scheduler.json")
    (tmp_path / "waits").mkdir()
    (tmp_path / "waits/bot.toml").write_text('name = "waits"\nrun = ["{python}", "bot.py"]\n')
    (tmp_path / "waits/bot.py").write_text(WAITS.format(fifo=str(run.fifo)))
    run.write(TOURNAMENT.replace("odd", "waits"))
    os.mkfifo(run.fifo)
    with Processes(run.mark) as processes:
        processes.start(*SCHEDULER, "--scheduler-file", scheduler)
        cat = processes.start_worker(scheduler, "cat")
        process = processes.keep(run.start("--dask", scheduler))
        with run.in_a_game():
            cat.terminate()
            read_line(cat, "leaving: ")
        left = read_line(process, " leaves").strip(), read_line(process, " has left").strip()
        code = cat.wait(PATIENCE_S)
        processes.start_worker(scheduler, "dog")
        process.communicate(timeout=PATIENCE_S)

    assert "leaves: it finishes the games that it plays" in left[0]
    assert left[1].endswith("has left: 0 games handed out again")
    assert (code, process.returncode) == (0, 0)
    assert run.games() == GAMES
    assert run.digests() == play_alone(run)


def test_a_worker_that_gets_sigterm_together_with_its_scheduler_ends(tmp_path: Path) -> None:
    scheduler = str(tmp_path / "scheduler.json")
    with Processes(Mark()) as processes:
        dask = processes.start(*SCHEDULER, "--scheduler-file", scheduler)
        worker = processes.start_worker(scheduler, "ann")
        read_line(worker, "Starting established connection")
        dask.terminate()
        worker.terminate()
        code = worker.wait(PATIENCE_S)

    assert code == 0
