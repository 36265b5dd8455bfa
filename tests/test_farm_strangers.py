"""What a worker that wishes us ill can send: nothing of it is unpickled, believed unchecked, or printed as it is."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from malice.referee.records import Isolation
from malice.tournaments.farm.cluster import Answered, Introduced
from malice.tournaments.farm.dask_cluster import DaskCluster
from malice.tournaments.farm.identity import Identity
from malice.tournaments.farm.work import Answer, Exam, Introduction, Need, Refusal, Task, Ticket
from tests.documents import ROOT
from tests.processes import Mark
from tests.tables import batch

PATIENCE_S = 60
CONTENT = "ab" * 32
NEED = Need(Identity("0", "", ""), (), Isolation("none"), 1, (CONTENT,))
EXAM = Exam(Ticket(CONTENT, {}), ())
CALLS = ("introduce", "receive_bot", "play", "examine", "finish")


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


def meet(cluster: DaskCluster, folder: Path) -> Introduction | Refusal:
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


def examine(cluster: DaskCluster, folder: Path) -> str:
    """Return what came of an examination."""
    (answer,) = cluster.examine([EXAM], NEED, {CONTENT: folder / f"{CONTENT}.tar"}, lambda line: None)
    return answer.trouble


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
            examine(cluster, folder)
        case "finish":
            cluster.finish("run")
    meet(cluster, folder)

    assert str(os.getpid()) not in traces.read_text().split()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("how", ["returns", "raises", "text", "garbage"])
def test_a_worker_that_answers_something_else_than_bytes_is_refused(
    how: str, cluster: DaskCluster, folder: Path
) -> None:
    def be_odd(call: str) -> None:
        (folder / "way").write_text(f"{call}:{how}")

    be_odd("play")
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(play(cluster) or b"", type=Answer)
    be_odd("examine")
    assert examine(cluster, folder).startswith("the worker sent no report: ")
    for call in ("introduce", "receive_bot"):
        be_odd(call)
        assert isinstance(meet(cluster, folder), Refusal)
