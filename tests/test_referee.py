"""A batch with real bots: its records, their evidence, and nothing left behind."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from malice.referee.batch import play_batch
from malice.referee.records import (
    BatchDone,
    EndBatch,
    GameBegun,
    GameOrder,
    Key,
    Record,
    RefereeFault,
    Report,
    Started,
)
from malice.referee.replay import check_record
from malice.referee.seat import Watch
from tests.tables import PATIENCE_MS, RULES, Script, batch, play, player, records, reports, seated

START_MS = 3000
"""For an answer that never comes, where the bot must start and answer others before."""

pytestmark = pytest.mark.slow


def test_a_batch_has_a_record_for_each_game_and_then_it_is_done() -> None:
    found = reports(batch(player("honest"), player("honest"), games=3))

    games = [GameBegun, Record]
    kinds = [type(report) for report in found]
    assert kinds == [GameBegun, Started, Started, Record, *games, *games, BatchDone]
    for deal, record in enumerate(report for report in found if isinstance(report, Record)):
        check_record(record)
        assert record.key == Key(0, 0, deal, 0)
        assert record.entries == (("honest", "00"), ("honest", "00"))
        assert record.faults == ()
        assert [seat.version for seat in record.seats] == ["7", "7"]
        assert record.elapsed_ms >= sum(record.micros) / 1000


def test_a_batch_played_twice_has_the_same_digests() -> None:
    told = batch(player("honest"), player("declines"), games=4)

    assert [record.digest for record in records(told)] == [record.digest for record in records(told)]


def test_players_sit_where_the_game_says() -> None:
    told = batch(player("honest"), player("declines"), games=2)
    first, second = told.games

    found = records(replace(told, games=(first, replace(second, seating=(1, 0)))))

    assert [record.entries[0][0] for record in found] == ["honest", "declines"]
    assert found[0].seats[0].name == found[1].seats[1].name


def test_a_crash_is_a_forfeit_with_all_its_evidence() -> None:
    found = records(batch(player("dies", "move", "SIGSEGV", "20000"), player("honest")))

    check_record(found[0])
    assert (found[0].places, found[0].reason, found[0].actions) == ((2, 1), "forfeit", ((0, "!crash"),))
    fault = found[0].faults[0]
    assert (fault.code, fault.exit, fault.action) == ("crash", "killed by signal 11 (SIGSEGV)", 0)
    assert fault.lines[0].startswith('> {"type":"hello","id":1')
    assert fault.lines[-1].startswith('> {"type":"move","id":3')
    assert fault.stderr == "a" * 8192 + "\n... 3616 bytes left out ...\n" + "z" * 8192


def test_after_a_verdict_the_next_game_has_a_fresh_process_and_the_honest_bot_keeps_its_own() -> None:
    found = reports(batch(player("dies", "move", "1", "0"), player("honest"), games=3))

    played = [report for report in found if isinstance(report, Record)]
    assert [len(record.faults) for record in played] == [1, 1, 1]
    assert len({record.seats[1].name for record in played}) == 1
    assert [isinstance(report, Started) for report in found].count(True) == 4


def test_a_death_off_turn_counts_at_the_next_request() -> None:
    found = records(batch(player("leaves"), player("honest")))

    check_record(found[0])
    played = [seat for seat, action in found[0].actions if action[0] != "!"]
    assert played.count(0) == 1
    assert played.count(1) >= 1
    assert found[0].actions[-1] == (0, "!crash")
    assert found[0].faults[0].exit == "exited with status 0"


def test_a_death_off_turn_is_nothing_if_the_game_ends_first() -> None:
    found = reports(batch(player("leaves"), player("says", "move", '{"id":ID,"move":"Go"}'), games=2))

    played = [report for report in found if isinstance(report, Record)]
    for record in played:
        assert record.places == (1, 2)
        assert [fault.code for fault in record.faults] == ["illegal"]
    assert [isinstance(report, Started) for report in found].count(True) == 4, "the dead bot was started anew"


def test_a_game_that_nobody_can_begin_is_void_and_the_next_one_is_tried() -> None:
    found = records(batch(player("vanishes"), player("dies", "game_start", "2", "0"), games=2))

    for record in found:
        check_record(record)
        assert record.reason == "void"
        assert [fault.exit for fault in record.faults] == ["exited with status 5", "exited with status 2"]


def test_a_bot_that_cannot_be_started_forfeits() -> None:
    lost = replace(player("honest"), command=("/nowhere/bot",))

    found = records(batch(player("honest"), lost))

    check_record(found[0])
    assert (found[0].places, found[0].actions) == ((1, 2), ((1, "!crash"),))


@pytest.mark.parametrize(("stops", "init_ms"), [("hello", 250), ("game_start", START_MS)])
def test_a_bot_that_does_not_begin_in_time_forfeits(stops: str, init_ms: int) -> None:
    with seated("stops", stops, init_ms=init_ms) as seat:
        record = play(seat, Script())

    check_record(record)
    assert (record.actions, record.places) == (((0, "!timeout"),), (2, 1))
    assert record.faults[0].sentence.startswith(f"no answer to {stops} within {init_ms} ms (")
    assert init_ms <= record.micros[0] / 1000 == record.seats[0].used_ms < PATIENCE_MS
    assert record.faults[0].limit_ms == init_ms <= (record.faults[0].took_ms or 0) < PATIENCE_MS


def test_an_end_that_is_not_answered_in_time_changes_nothing() -> None:
    with seated("stops", "game_end", init_ms=START_MS) as seat:
        record = play(seat, Script())

    assert record.faults == ()
    assert record.digest == play(Script(), Script()).digest


def test_a_bot_that_ignores_bye_is_ended_after_half_a_second_without_a_verdict() -> None:
    found: list[Report] = []
    acted: list[float] = []

    def watch(order: GameOrder) -> Watch:
        return lambda played: acted.append(time.monotonic())

    play_batch(batch(player("stays"), player("stays")), None, found.append, watch=watch)
    left = time.monotonic()

    record, done = found[-2:]
    assert isinstance(record, Record)
    assert isinstance(done, BatchDone)
    assert record.faults == ()
    assert [seat.farewell for seat in record.seats] == ["", ""]
    assert 0.5 <= left - acted[-1] < PATIENCE_MS / 1000


def test_a_bot_is_told_to_go_at_the_end_of_its_batch(tmp_path: Path) -> None:
    records(batch(player("dies", "move", "1", "0"), player("lingers", str(tmp_path / "done"), "0")))

    assert (tmp_path / "done").exists()


def test_how_a_bot_exits_after_bye_is_no_verdict() -> None:
    found = reports(batch(player("dies", "bye", "SIGSEGV", "0"), player("dies", "bye", "1", "0")))

    assert [type(report) for report in found[3:]] == [Record, BatchDone]
    assert isinstance(found[3], Record)
    assert found[3].faults == ()


def test_rules_that_make_no_game_are_a_fault_of_the_referee() -> None:
    told = batch(player("honest"), player("honest"))

    found = reports(replace(told, rules=replace(RULES, payoff_size=99)))

    assert found[0] == GameBegun(Key(0, 0, 0, 0))
    assert isinstance(found[1], RefereeFault)
    assert found[1].key == Key(0, 0, 0, 0)
    assert "cards" in found[1].sentence


def test_a_batch_leaves_no_process_no_zombie_and_no_descriptor() -> None:
    lost = replace(player("honest"), command=("/nowhere/bot",))
    gc.collect()  # what other tests left
    before = set(os.listdir("/proc/self/fd"))

    found = reports(batch(player("dies", "move", "1", "0"), player("stays"), games=2))
    found += reports(batch(player("closes", "hello", "1"), lost))
    gc.collect()

    assert set(os.listdir("/proc/self/fd")) == before
    pids = [report.pid for report in found if isinstance(report, Started)]
    assert len(pids) == 4
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


def test_an_end_line_ends_the_batch_that_is_played_and_no_later_one() -> None:
    line = msgspec.json.encode(batch(player("honest"), player("honest"), games=2)) + b"\n"
    end = msgspec.json.encode(EndBatch()) + b"\n"

    with subprocess.Popen(
        [sys.executable, "-P", "-m", "malice.referee"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(end + line + end)
        process.stdin.flush()
        assert msgspec.json.decode(process.stdout.readline(), type=Report) == BatchDone()
        process.stdin.write(line)
        process.stdin.flush()
        found = [type(msgspec.json.decode(process.stdout.readline(), type=Report)) for _ in range(7)]
        process.stdin.close()

    assert found == [GameBegun, Started, Started, Record, GameBegun, Record, BatchDone]
