"""What a worker does with what it is sent: who it says it is, which bots it keeps, what it refuses."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import zlib
from pathlib import Path

import msgspec
import pytest
import trio
from msgspec.structs import replace

from malice.referee.errors import BotError, DataError
from malice.referee.isolation import probe
from malice.referee.records import Isolation
from malice.tournaments.check.report import Finding, Report, Step, Thought, format_report
from malice.tournaments.entries.bots import find_bot, load_bot_folder
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.entries.provenance import describe_build, name_programs
from malice.tournaments.errors import Stopped
from malice.tournaments.farm import station as stations
from malice.tournaments.farm import worker
from malice.tournaments.farm.bot_cache import FRESH_S, BotCache, Lacking
from malice.tournaments.farm.machine import RUNS, Allowance, Speeds, choose_rate, measure_speeds, read_allowance
from malice.tournaments.farm.scheduler import read_address
from malice.tournaments.farm.station import Referees, Station, Terms
from malice.tournaments.farm.work import (
    ExamAnswer,
    Introduction,
    Need,
    Refusal,
    Task,
    Ticket,
    make_ticket,
    pack,
    read_identity,
    read_reply,
    unpack,
)
from malice.tournaments.farm.worker import choose_slots, was_unanswered
from malice.tournaments.running.coordinator import RefereeProcess
from malice.tournaments.running.hooks import Outcome
from tests.command_line import malice
from tests.processes import PATIENCE_S, Mark, list_loaded
from tests.tables import batch

HERE = read_identity()
NEED = Need(HERE, ("spite",), Isolation("bwrap", required=True), 1, ())


@pytest.fixture
def station(tmp_path: Path) -> Station:
    return Station(Terms(((0,), (1,)), 1, 0.9, str(tmp_path / "cache"), 1_000_000))


def make_bot(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "bot.toml").write_text(f'name = "{folder.name}"\nrun = ["./bot"]\n')
    (folder / "bot").write_text(f"#!/bin/sh\n# {text}\n")
    (folder / "bot").chmod(0o755)
    return folder


def keep(folder: Path, league: Path) -> tuple[Ticket, bytes]:
    """Return the ticket of a bot and its tar file, as a league keeps it."""
    kept = KeptBots(league, lambda line: None)
    bot = kept.keep(load_bot_folder(folder))
    return make_ticket(bot), (kept.folder / f"{bot.content}.tar").read_bytes()


def test_a_worker_says_what_it_has_and_what_it_lacks(station: Station) -> None:
    need = replace(NEED, isolation=Isolation("none"), contents=("ab" * 32,), cpus_per_game=2)

    told = station.introduce(need)

    assert isinstance(told, Introduction)
    assert (told.slots, told.slots_per_game, told.capacity, told.speed) == (2, 2, 1, 0.9)
    assert told.lacks == need.contents


@pytest.mark.parametrize(
    ("need", "reason"),
    [
        (replace(NEED, malice=replace(HERE, version="9.9")), "expected malice 9.9, it has 0.1.0"),
        (replace(NEED, malice=replace(HERE, code="00ff")), "with the code 00ff, its code is "),
        (replace(NEED, families=("bridge",)), "bridge"),
        (replace(NEED, cpus_per_game=3), "a game takes 3 processors, it has 2"),
        (NEED, "isolation 'bwrap' is unavailable: bwrap not found"),
    ],
)
def test_a_worker_says_why_it_cannot_play(
    need: Need, reason: str, station: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "explain_missing_sandbox", lambda: "bwrap not found")

    told = station.introduce(need)

    assert isinstance(told, Refusal)
    assert reason in told.why


def test_other_compiled_rules_are_another_malice_and_none_are_the_same() -> None:
    here, other, without = (replace(HERE, core=core) for core in ("12ab", "34cd", ""))

    assert here.explain_difference(other) == "expected malice-core of the sources 34cd, its core is of 12ab"
    assert here.explain_difference(without) is without.explain_difference(here) is None


def test_what_built_a_bot_is_told_by_its_compiler_and_by_what_that_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    compiler = tmp_path / "bin/made-up-cc"
    compiler.write_text("#!/bin/sh\necho\necho 'version 13.2 (of $1)'; echo more\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    folder = make_bot(tmp_path / "ann", "one")
    with (folder / "bot.toml").open("a") as file:
        file.write('needs = ["made-up-cc", "not-there"]\nignore = ["out"]\n')
    told = describe_build(load_bot_folder(folder))
    (folder / "out").write_text("made")
    later = describe_build(load_bot_folder(folder))

    assert re.fullmatch(r"made-up-cc version 13\.2 \(of \$1\); files [0-9a-f]{12}", told)
    assert (name_programs(later) == name_programs(told), later == told) == (True, False)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"slots_per_game": 0}, "slots_per_game"),
        ({"slots_per_game": 3}, "expected at most 2 slots for a game, got 3"),
        ({"slots": -1}, "slots"),
        ({"slots": 10**6}, "slots"),
        ({"slots": 1.5}, "slots"),
        ({"speed": 1e308}, "speed"),
        ({"speed": 1e-308}, "speed"),
        ({"speed": 0}, "speed"),
        ({"speed": -1.0}, "speed"),
        ({"speed": float("inf")}, "malformed"),
        ({"speed": float("nan")}, "malformed"),
        ({"lacks": ["cd" * 32]}, "it asks for a bot that is none of this run: cdcd"),
        ({"warnings": "none"}, "warnings"),
        ({"host": 5}, "host"),
    ],
)
def test_a_worker_that_says_what_cannot_be_is_refused(said: dict[str, object], why: str) -> None:
    need = replace(NEED, contents=("ab" * 32,))
    sound = {
        "type": "introduction",
        "host": "here",
        "slots": 2,
        "slots_per_game": 1,
        "speed": 1.0,
        "lacks": ["ab" * 32],
    }

    assert isinstance(read_reply(zlib.compress(json.dumps(sound).encode()), need), Introduction)
    reply = read_reply(zlib.compress(json.dumps(sound | said).encode()), need)

    assert isinstance(reply, Refusal)
    assert why in reply.why


def test_a_worker_that_somebody_else_started_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MALICE_WORKER", raising=False)
    told = msgspec.json.decode(unpack(stations.introduce(pack(NEED))), type=Refusal)

    assert told.why == "expected a worker that `malice worker` started, got another one"


def test_a_worker_whose_processes_do_not_start_says_so(station: Station, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ExceptionGroup("", [OSError("no more processes")])

    monkeypatch.setattr("malice.tournaments.farm.station._run", fail)

    answer = station.play(Task(7, "run", (batch(),), ()), lambda: False)

    assert (answer.task, answer.records, answer.trouble) == (7, (), "OSError: no more processes")


def test_a_worker_without_room_says_that_it_cannot_keep_a_bot(
    station: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(stations, "find_station", lambda: station)
    monkeypatch.setattr(station.bots, "receive", fail)

    assert b"no space left" in unpack(stations.introduce(pack(NEED), ("ab" * 32,), b""))


def test_a_bot_arrives_as_it_was_sent_or_not_at_all(tmp_path: Path) -> None:
    cache = BotCache(tmp_path / "cache", 1_000_000)
    ticket, tar = keep(make_bot(tmp_path / "ann", "one"), tmp_path / "t.db")
    with pytest.raises(Lacking), cache.hold(ticket):
        pass
    assert cache.find_lacking([ticket.content]) == (ticket.content,)

    cache.receive(ticket.content, tar)
    with cache.hold(ticket) as bot:
        assert bot.hash == ticket.content
        assert bot.folder
        assert os.access(bot.folder / "bot", os.X_OK)

    other = replace(ticket, content="cd" * 32)
    cache.receive(other.content, tar)
    with pytest.raises(Exception, match="damaged: expected the content cdcdcdcdcdcd"), cache.hold(other):
        pass
    with pytest.raises(ValueError, match="expected a content hash"):
        cache.receive("../escape", tar)


def test_a_copy_in_which_a_bot_wrote_stays_for_those_that_play_from_it(tmp_path: Path) -> None:
    cache = BotCache(tmp_path / "cache", 1_000_000)
    ticket, tar = keep(make_bot(tmp_path / "ann", "one"), tmp_path / "t.db")
    cache.receive(ticket.content, tar)
    with cache.hold(ticket) as bot:
        assert bot.folder
        bot.folder.chmod(0o700)
        (bot.folder / "log.txt").write_text("played")
        with cache.hold(ticket) as again:
            assert (again, [each.name for each in bot.folder.glob("*.txt")]) == (bot, ["log.txt"])


def test_bots_that_were_not_used_for_long_make_room_unless_they_play(tmp_path: Path) -> None:
    cache = BotCache(tmp_path / "cache", 1)
    tickets = []
    for name in ("old", "played", "fresh"):
        ticket, tar = keep(make_bot(tmp_path / name, name), tmp_path / "t.db")
        cache.receive(ticket.content, tar)
        tickets.append(ticket)
    old, played, _fresh = tickets
    with cache.hold(played):
        for each in (old, played):
            long_ago = time.time() - FRESH_S - 100
            os.utime(tmp_path / f"cache/worker.bots/{each.content}.tar", (long_ago, long_ago))
        ticket, tar = keep(make_bot(tmp_path / "new", "new"), tmp_path / "t.db")
        cache.receive(ticket.content, tar)

    here = [each.content for each in (*tickets, ticket)]
    assert cache.find_lacking(here) == (old.content,)


def test_a_command_line_plays_only_where_its_files_are_the_same(tmp_path: Path) -> None:
    cache = BotCache(tmp_path / "cache", 1_000_000)
    (tmp_path / "bot.py").write_text("print()")
    ticket = make_ticket(find_bot("python3 bot.py", tmp_path))
    with cache.hold(ticket) as bot:
        assert bot.command == ("python3", "bot.py")

    (tmp_path / "bot.py").write_text("print(1)")
    with pytest.raises(BotError, match="a command line does not travel"), cache.hold(ticket):
        pass


@pytest.mark.parametrize(
    ("slots", "each", "expected"),
    [
        (0, 1, ((0,), (1,), (2,), (3,))),
        (0, 3, ((0, 1, 2),)),
        (2, 2, ((0, 1), (2, 3))),
        (1, 1, ((),)),  # another worker of this machine may have the rest
        (3, 2, ((), (), ())),
    ],
)
def test_slots_share_the_processors(slots: int, each: int, expected: tuple[tuple[int, ...], ...]) -> None:
    assert choose_slots(slots, each, range(4)) == expected


@pytest.mark.parametrize(
    ("code", "seconds", "gives_up"),
    [(1, 61.0, True), (1, 5.0, False), (0, 61.0, False), (-9, 61.0, False), (-9, 3600.0, False), (1, 3600.0, False)],
)
def test_a_worker_gives_up_only_if_no_scheduler_answered(code: int, seconds: float, gives_up: bool) -> None:
    assert was_unanswered(code, seconds) is gives_up


def test_a_calibration_gives_a_factor_of_each_clock() -> None:
    speeds = measure_speeds([(), ()], run_s=0.001, runs=3)

    assert 0.01 < speeds.cpu < 100
    assert 0 < speeds.wall < 2 * speeds.cpu


@pytest.mark.parametrize(
    ("files", "own", "expected"),
    [
        ({"a/b/cpu.max": "max 100000", "a/cpu.max": "150000 100000", "a/memory.max": "max"}, "0::/a/b", (1.5, None)),
        ({"cpu.max": "50000 100000", "memory.max": "1073741824"}, "0::/a/b", (0.5, 2**30)),
        (
            {
                "cpu/cpu.cfs_quota_us": "200000",
                "cpu/cpu.cfs_period_us": "100000",
                "memory/box/memory.limit_in_bytes": "536870912",
                "memory/memory.limit_in_bytes": "9223372036854771712",
            },
            "4:memory:/box\n1:cpu:/\n0::/",
            (2.0, 2**29),
        ),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, "1:cpu:/", (None, None)),
        ({}, None, (None, None)),
    ],
)
def test_control_groups_bound_what_a_worker_uses(
    files: dict[str, str], own: str | None, expected: tuple[float | None, int | None], tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    if own is not None:
        (tmp_path / "own").write_text(f"{own}\n")

    allowance = read_allowance(tmp_path, tmp_path / "own")

    assert (allowance.cpus, allowance.memory) == expected


@pytest.mark.parametrize(
    ("allowance", "slots", "expected"),
    [
        (Allowance(1.5), 0, 1),
        (Allowance(0.2), 0, 1),
        (Allowance(2.0), 0, 2),
        (Allowance(None, 3 * 2**28), 0, 3),
        (Allowance(64.0, 2**40), 0, 4),
        (Allowance(1.5), 3, 3),
    ],
)
def test_slots_are_no_more_than_the_control_group_allows_unless_they_are_asked_for(
    allowance: Allowance, slots: int, expected: int
) -> None:
    assert len(choose_slots(slots, 1, range(4), allowance)) == expected


def test_a_worker_with_less_memory_than_its_bots_may_use_warns(station: Station, tmp_path: Path) -> None:
    little = Station(Terms(((0,), (1,)), 1, 0.9, str(tmp_path / "cache"), 1_000_000, memory=3 * 10**9))
    need = replace(NEED, isolation=Isolation("none", memory_mb=1000))

    told, enough = little.introduce(need), station.introduce(need)

    assert isinstance(told, Introduction)
    assert isinstance(enough, Introduction)
    assert [line for line in told.warnings if line not in enough.warnings] == [
        "warning: it may use 3000 MB of memory; the bots of 2 games may use 4000 MB (memory_mb): fewer --slots are safe"
    ]


def test_a_worker_measures_again_how_fast_it_is_while_all_others_of_its_slots_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("malice.tournaments.farm.station.MEASURE_EVERY_S", 0.0)
    monkeypatch.setattr("malice.tournaments.farm.station.measure_speeds", lambda cpu_sets, runs: Speeds(0.5, 0.25))
    monkeypatch.setattr("malice.tournaments.farm.station._run", lambda *_: Outcome())
    answers = [
        Station(Terms(sets, 1, 0.9, str(tmp_path / "cache"), 1_000_000)).play(
            Task(7, "run", (replace(batch(), players=()),), ()), lambda: False
        )
        for sets in (((0,),), ((0,), (1,)))
    ]

    assert [answer.measured for answer in answers] == [Speeds(0.5, 0.25), None]


def test_a_referee_process_rests_between_two_tasks_unless_it_died_and_then_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mark = Mark()
    monkeypatch.setenv(*next(iter(mark.variable().items())))
    referees = Referees()

    async def take(*cpus: int) -> RefereeProcess:
        async with referees.take(cpus) as process:
            return process

    monkeypatch.setattr(stations, "REST_S", 3600.0)
    first, again, elsewhere = (trio.run(take, *cpus) for cpus in ((), (), (0,)))
    assert (first is again, first is elsewhere) == (True, False)

    first.kill()
    mark.await_end(but=1)
    monkeypatch.setattr(stations, "REST_S", 0.0)
    assert trio.run(take) is not first
    assert trio.run(take, 0) is elsewhere
    assert mark.await_end() == []


def test_a_worker_that_was_told_to_leave_begins_no_game(station: Station) -> None:
    station.leave()

    answer = station.play(Task(7, "run", (batch(),), ()), lambda: False)

    assert (answer.leaving, answer.records, answer.trouble) == (True, (), "")
    assert isinstance(station.introduce(NEED), Refusal)
    assert station.is_idle()


def test_neighbours_that_slow_some_measurements_down_do_not_change_a_calibration() -> None:
    quiet, disturbed = ["6000"] * RUNS, [*["3000"] * (RUNS // 2), *["6000"] * (RUNS // 2)]

    assert choose_rate(" ".join(quiet)) == choose_rate(" ".join(disturbed)) == 6000
    assert choose_rate(" ".join([*quiet[1:], "60000"])) == 6000, "a quirk of the clock"


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
