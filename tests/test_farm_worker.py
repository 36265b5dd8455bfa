"""What a worker does with what it is sent: who it says it is, which bots it keeps, what it refuses."""

from __future__ import annotations

import json
import os
import re
import time
import zlib
from pathlib import Path

import msgspec
import pytest
import trio
from msgspec.structs import replace

from malice.referee.errors import BotError
from malice.referee.isolation import probe
from malice.referee.records import Isolation
from malice.tournaments.entries.bots import find_bot, load_bot_folder
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.entries.provenance import describe_build, name_programs
from malice.tournaments.farm import station as stations
from malice.tournaments.farm.bot_cache import FRESH_S, BotCache, Lacking
from malice.tournaments.farm.machine import RUNS, Allowance, Speeds, choose_rate, measure_speeds, read_allowance
from malice.tournaments.farm.station import Referees, Station, Terms
from malice.tournaments.farm.work import (
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
from tests.processes import Mark
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


def test_an_allowance_of_one_processor_is_no_plural() -> None:
    assert [Allowance(cpus).describe() for cpus in (0.5, 1.0)] == ["0.5 processors", "1 processor"]


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
