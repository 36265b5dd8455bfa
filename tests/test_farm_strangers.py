"""What a worker that wishes us ill can send: nothing of it is unpickled, believed unchecked, or printed as it is."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from malice.referee.records import Isolation
from malice.tournaments.entries.bots import find_bot
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.farm.cluster import Answered, Introduced
from malice.tournaments.farm.dask_cluster import DaskCluster
from malice.tournaments.farm.exams import ExamSender
from malice.tournaments.farm.work import Identity, Introduction, Need, Refusal, Task, read_answer
from tests.documents import ROOT
from tests.processes import Mark
from tests.tables import batch

PATIENCE_S = 60
CONTENT = "ab" * 32
NEED = Need(Identity("0", "", ""), (), Isolation("none"), 1, (CONTENT,))
CALLS = ("introduce", "play", "examine", "finish")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a hostile cluster."""
    folder, mark = tmp_path_factory.mktemp("hostile"), Mark()
    (folder / "way").write_text("")
    (folder / f"{CONTENT}.tar").write_bytes(b"a bot")
    words = [sys.executable, "-P", str(ROOT / "tests/hostile_cluster.py"), str(folder)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(words, cwd=folder, env=mark.environ(), stdout=log, stderr=log)
    try:
        while not (folder / "scheduler.json").exists():
            assert process.poll() is None, (folder / "log").read_text()
            time.sleep(0.05)
        yield folder
    finally:
        mark.end()
        process.wait()


@pytest.fixture(scope="module")
def cluster(folder: Path) -> Iterator[DaskCluster]:
    with DaskCluster(str(folder / "scheduler.json")) as cluster:
        yield cluster


def meet(cluster: DaskCluster, folder: Path) -> Introduction | Refusal | None:
    """Return what the worker says of itself."""
    (address,) = cluster.list_workers()
    cluster.introduce(address, NEED, {CONTENT: folder / f"{CONTENT}.tar"})
    told = cluster.events.get(timeout=PATIENCE_S)
    assert isinstance(told, Introduced), told
    return told.reply


def play(cluster: DaskCluster) -> bytes | None:
    """Return how the worker answers a task."""
    (address,) = cluster.list_workers()
    cluster.submit(address, Task(7, secrets.token_hex(8), (batch(),), ()))
    answered = cluster.events.get(timeout=PATIENCE_S)
    assert isinstance(answered, Answered), answered
    return answered.answer


def examine(folder: Path) -> str:
    """Return what came of an examination."""
    kept = KeptBots(folder / "t.db", lambda line: None)
    sender = ExamSender(kept, Isolation("none"), (), lambda line: None)
    return sender.examine(str(folder / "scheduler.json"), {"first": find_bot("first", folder)})["first"].trouble


@pytest.mark.parametrize("how", ["returns", "raises", "kind", "tells"])
@pytest.mark.parametrize("call", CALLS)
def test_nothing_that_a_worker_sends_is_unpickled_or_printed_here(
    call: str, how: str, cluster: DaskCluster, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    traces = folder / "traces"
    traces.write_text("")
    (folder / "way").write_text(f"{call}:{how}")

    match call:
        case "play":
            play(cluster)
        case "examine":
            examine(folder)
        case "finish":
            cluster.finish("run")
    meet(cluster, folder)

    assert str(os.getpid()) not in traces.read_text().split()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("how", ["returns", "raises", "text", "garbage", "bomb"])
def test_a_worker_that_answers_something_else_than_packed_bytes_is_refused(
    how: str, cluster: DaskCluster, folder: Path
) -> None:
    def be_odd(call: str) -> None:
        (folder / "way").write_text(f"{call}:{how}")

    be_odd("play")
    with pytest.raises(ValueError, match=r"raised an exception|malformed|at most"):
        read_answer(play(cluster) or b"", 7, {})
    be_odd("examine")
    assert examine(folder).startswith("the worker sent no report: ")
    be_odd("introduce")
    assert isinstance(meet(cluster, folder), Refusal)
