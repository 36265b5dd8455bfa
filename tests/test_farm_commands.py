"""The commands that name a scheduler: which one they take, and what they make of its answers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from malice.referee.errors import DataError
from malice.tournaments.check.report import Finding, Report, Step, Thought, format_report
from malice.tournaments.errors import Stopped
from malice.tournaments.farm import worker
from malice.tournaments.farm.machine import Speeds
from malice.tournaments.farm.scheduler import read_address
from malice.tournaments.farm.station import Terms
from malice.tournaments.farm.work import ExamAnswer
from tests.command_line import malice
from tests.processes import PATIENCE_S, list_loaded


@pytest.fixture
def without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malice.tournaments.commands.cluster.find_spec", lambda name: None)


@pytest.mark.usefixtures("without_dask")
@pytest.mark.parametrize("words", [("worker", "s.json"), ("compare", "first", "uniform", "--dask", "s.json")])
def test_without_the_extra_one_line_says_how_to_get_it(words: tuple[str, ...]) -> None:
    done = malice(*words)

    assert done.exit_code == 2
    assert "pip install '.[dask]'" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("worker", "friday.toml"), "friday.toml"),
        (("compare", "first", "uniform", "--dask", "10.0.0.1"), "10.0.0.1"),
        (("worker", "udp://10.0.0.1:8786"), "udp://"),
        (("compare", "first", "uniform", "--min-factor", "0.5", "--deals", "1"), "--min-factor"),
        (("compare", "first", "uniform", "--patience", "2h", "--deals", "1"), "--patience"),
        (("worker", "tcp://127.0.0.1:9", "--patience", "soon"), "--patience"),
    ],
)
def test_what_names_no_scheduler_is_refused_at_once(words: tuple[str, ...], named: str) -> None:
    done = malice(*words)

    assert done.exit_code == 2
    assert named in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("words", [("worker",), ("compare", "first", "uniform", "--dask")])
@pytest.mark.parametrize(
    "text", [b"", b'{"type": "Sch', b"{}", b'{"address": 5}', b'{"address": "http://a:1"}', b"\xff"]
)
def test_a_broken_file_of_a_scheduler_is_refused(
    words: tuple[str, ...], text: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("malice.tournaments.farm.scheduler.WRITING_S", 0.0)
    file = tmp_path / "s.json"
    file.write_bytes(text)

    done = malice(*words, file)

    assert done.exit_code == 2
    assert [str(file) in line for line in done.stderr.splitlines()] == [True]


@pytest.mark.parametrize(
    ("words", "role"), [(("worker",), "WORKER"), (("compare", "first", "uniform", "--dask"), "CLIENT")]
)
def test_an_address_with_tls_names_the_variables_of_its_certificates(words: tuple[str, ...], role: str) -> None:
    done = malice(*words, "tls://127.0.0.1:9")

    assert done.exit_code == 2
    named = set(re.findall(r"DASK_DISTRIBUTED__COMM__TLS__(\w+)", done.stderr))
    assert named == {"CA_FILE", f"{role}__CERT", f"{role}__KEY"}


@pytest.mark.parametrize("report", ["", "{}", "\x1b[2J", "[" * 100_000])
@pytest.mark.parametrize("bots", [("first",), ("first", "uniform")])
def test_a_report_that_is_none_fails_the_bot_and_says_so(
    bots: tuple[str, ...], report: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "malice.tournaments.farm.exams.ExamSender.examine", lambda *_: dict.fromkeys(bots, ExamAnswer(report))
    )

    done = malice("check", *bots, "--dask", "tcp://127.0.0.1:9")

    assert done.exit_code == (2 if len(bots) == 1 else 10)
    assert "the worker sent no report: " in done.output


def test_no_text_of_a_report_passes_for_a_line_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = "\x1b[2J\nError: all is lost"
    finding = Finding(bad, bad, bad, bad, (bad,), bad, bad)
    thought = Thought(1.0, 1.0, bad, "\x1b\nError: all", 0, 0, bad)
    report = Report(bad, True, bad, (Step(bad, bad, "failed", bad, (bad,), finding),), (thought,))
    answer = ExamAnswer(msgspec.json.encode(report).decode())
    monkeypatch.setattr("malice.tournaments.farm.exams.ExamSender.examine", lambda *_: {"first": answer})

    done = malice("check", "first", "--dask", "tcp://127.0.0.1:9")

    assert done.exit_code == 0
    assert [line for line in done.output.split("\n") if "\x1b" in line or line.startswith("Error")] == []


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_one_bot_is_reported_as_without_a_cluster(options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    report = Report("first", True, "none", (Step("starts", "starts in time", "passed", "1 ms"),), ())
    answer = ExamAnswer(msgspec.json.encode(report).decode())
    monkeypatch.setattr("malice.tournaments.farm.exams.ExamSender.examine", lambda *_: {"first": answer})

    done = malice("check", "first", "--dask", "tcp://127.0.0.1:9", *options)

    expected = [msgspec.json.encode(report).decode()] if options else list(format_report(report))
    assert (done.exit_code, done.stdout.splitlines()) == (0, expected)


def test_a_worker_that_no_scheduler_takes_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "list_words", lambda *_: [sys.executable, "-S", "-c", "exit(1)"])
    monkeypatch.setattr(worker, "PAUSE_S", 0.0)
    monkeypatch.setattr(worker, "ask_address", lambda address, patience_s: address)

    with pytest.raises(Stopped, match="'ann'"):
        worker.run_worker("127.0.0.1:8786", "ann", Terms(((0,),), 1, 1.0, str(tmp_path), 1_000_000))


def test_a_worker_says_once_that_it_waits_for_the_file_of_its_scheduler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("malice.tournaments.farm.machine.measure_speeds", lambda cpu_sets: Speeds(1.0, 1.0))
    monkeypatch.setattr(worker, "run_worker", lambda *_: None)
    file = tmp_path / "s.json"

    done = malice("worker", file, "--cache", tmp_path)

    assert (done.exit_code, done.stderr.count(str(file))) == (0, 1)


OPEN = ("tcp://10.0.0.1:8786", "10.0.0.1:8786", "ws://box:8786", "tcp://0.0.0.0:8786", "tcp://[::]:8786", "tcp://box:9")


@pytest.mark.parametrize(
    "words", [("worker",), ("compare", "first", "uniform", "--dask"), ("check", "first", "--dask")]
)
@pytest.mark.parametrize("address", OPEN)
@pytest.mark.parametrize("by_file", [False, True])
def test_a_scheduler_that_others_can_reach_needs_tls(
    words: tuple[str, ...], address: str, by_file: bool, tmp_path: Path
) -> None:
    scheduler = tmp_path / "s.json" if by_file else address
    if by_file and "://" not in address:
        address = f"tcp://{address}"
    (tmp_path / "s.json").write_text(json.dumps({"address": address}))

    done = malice(*words, scheduler)

    assert (done.exit_code, done.stderr.splitlines()[-1].startswith(f"Error: {address}: expected TLS")) == (2, True)


def test_a_scheduler_that_listens_to_others_is_refused_under_whatever_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Exposed:
        """A client of a scheduler that was started without --host."""

        def __init__(self, *_: object, **__: object) -> None: ...

        def scheduler_info(self, n_workers: int) -> dict[str, object]:
            return {"address": "tcp://10.0.0.5:8786", "workers": {}}

        def close(self, timeout: float) -> None: ...

    monkeypatch.setattr("malice.tournaments.farm.dask_cluster.SealedClient", Exposed)

    done = malice("compare", "first", "uniform", "--dask", "tcp://127.0.0.1:8786")

    assert (done.exit_code, "tcp://10.0.0.5:8786: expected TLS" in done.stderr) == (2, True)


def test_a_worker_joins_no_open_scheduler_whose_file_comes_later(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text('{"address": "tcp://10.0.0.5:8786"}')

    with pytest.raises(DataError, match="expected TLS"):
        worker.run_worker(str(file), "ann", Terms(((0,),), 1, 1.0, str(tmp_path), 1_000_000))


def test_a_worker_joins_no_scheduler_that_listens_to_others(tmp_path: Path) -> None:
    terms = Terms(((0,),), 1, 1.0, str(tmp_path), 1_000_000)
    words = [sys.executable, "-P", "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    words += ["--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(tmp_path / "s.json")]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL) as scheduler:
        try:
            port = read_address(tmp_path / "s.json", PATIENCE_S).rpartition(":")[2]
            with pytest.raises(DataError, match="expected TLS"):
                worker.run_worker(f"127.0.0.1:{port}", "ann", terms)
        finally:
            scheduler.kill()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:8786", "127.1.2.3:8786", "tcp://[::1]:8786", "ws://localhost:1"])
def test_a_worker_beside_its_scheduler_listens_where_only_its_machine_can_reach_it(address: str) -> None:
    words = worker.list_words(address, "ann", Terms(((0,),), 1, 1.0, "cache", 1))

    assert f"{words[words.index('--host') + 1]}:" in address.replace("[", "").replace("]", "")
    assert words[words.index("--dashboard-address") + 1] == "127.0.0.1:0"
    assert "--no-dashboard" in words


def test_the_pages_of_dask_are_shown_where_they_are_asked_for() -> None:
    words = worker.list_words("tcp://127.0.0.1:1", "ann", Terms(((0,),), 1, 1.0, "c", 1), 7200.0, "127.0.0.1:8790")

    assert words[words.index("--dashboard-address") + 1] == "127.0.0.1:8790"
    assert "--dashboard" in words
    assert words[words.index("--death-timeout") + 1] == "7200"


def test_a_scheduler_that_does_not_answer_can_be_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malice.tournaments.farm.dask_cluster.CONNECT_S", 0.2)

    done = malice("compare", "first", "uniform", "--dask", tmp_path / "gone.json")

    assert (done.exit_code, "gone.json" in done.stderr) == (3, True)


def test_a_run_without_the_option_imports_nothing_of_dask() -> None:
    names = (
        "commands.run",
        "commands.machine",
        "running.run",
        "farm.dispatch",
        "farm.worker",
        "farm.station",
        "farm.exams",
    )
    loaded = list_loaded("\n".join(f"import malice.tournaments.{name}" for name in names))

    assert not {name for name in loaded if name.partition(".")[0] in ("dask", "distributed", "tornado")}
