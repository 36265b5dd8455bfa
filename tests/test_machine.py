"""What the machine does is held against nobody: sleep, lost sandboxes, lack of memory; and whose CPU time is whose."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

import pytest

from malice.referee.batch import play_batch
from malice.referee.bot import BotProcess
from malice.referee.clock import MS
from malice.referee.errors import MachineFault
from malice.referee.isolation import cgroups, probe
from malice.referee.records import Isolation, Player, Record, RefereeFault, Report
from malice.referee.seat import BotSeat, SeatObserver
from malice.referee.verdicts import Verdict
from tests.tables import PATIENCE_MS, batch, move_request, player, seated

SHORT_MS = 250
HOUR = 3600 * 1000 * MS

pytestmark = pytest.mark.slow


class Jump:
    """The time an hour from now: to a request whose deadline was set before, the machine has slept."""

    def monotonic_ns(self) -> int:
        return time.monotonic_ns() + HOUR


def test_a_deadline_that_a_sleeping_machine_missed_is_no_fault_of_the_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    with seated("freezes") as seat:
        seat.begin()
        with monkeypatch.context() as patched:
            patched.setattr("malice.referee.exchange.time", Jump())
            with pytest.raises(MachineFault, match=r"stood still for 3[56]\d\d\.\d s over a deadline"):
                seat.ask_move(move_request(seat), PATIENCE_MS * MS)


def test_the_game_in_which_the_machine_slept_is_given_back_and_the_next_one_is_played(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[Report] = []
    game = batch(player("honest"), player("honest"))
    monkeypatch.setattr("malice.referee.exchange.time", Jump())

    play_batch(game, None, told.append)

    assert [type(report) for report in told if isinstance(report, Record | RefereeFault)] == [RefereeFault]
    monkeypatch.undo()
    play_batch(game, None, told.append)
    assert sum(isinstance(report, Record) for report in told) == 1


# sandboxes


@pytest.fixture
def fragile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a bubblewrap first on the path that fails for a bot of tests as often as the returned file has lines."""
    assert probe.explain_missing_sandbox() is None
    real, failures = shutil.which("bwrap"), tmp_path / "failures"
    failures.write_text("")
    script = tmp_path / "bin" / "bwrap"
    script.parent.mkdir()
    script.write_text(
        f'#!/bin/sh\nif [ -s {failures} ]; then sed -i 1d {failures}; echo "bwrap: no more of these" >&2; exit 1; fi\n'
        f'exec {real} "$@"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    return failures


@pytest.mark.sandbox
def test_a_sandbox_that_fails_after_it_worked_is_no_crash_of_its_bot(fragile: Path) -> None:
    seat = BotSeat(player("honest"), PATIENCE_MS, None, isolation=Isolation("bwrap"))
    seat.begin()
    seat.dismiss()
    fragile.write_text("once\n")

    with pytest.raises(MachineFault, match="the sandbox of a bot failed, it exited with status 1: bwrap: no more"):
        seat.begin()
    seat.dismiss()
    seat.begin()
    seat.dismiss()


@pytest.mark.sandbox
def test_a_bot_that_exits_like_a_sandbox_and_speaks_like_one_is_still_blamed(tmp_path: Path) -> None:
    script = tmp_path / "bot.sh"
    script.write_text('echo "bwrap: no more of these" >&2; exit 1\n')
    liar = Player("liar", "00", ("/bin/sh", str(script)), str(tmp_path))
    seat = BotSeat(liar, PATIENCE_MS, None, isolation=Isolation("bwrap"))

    with pytest.raises(Verdict, match="exited with status 1"):
        seat.begin()
    seat.dismiss()


# CPU time


def test_a_bot_that_thinks_longer_than_its_cpu_time_is_late() -> None:
    with seated("spins") as seat:
        seat.begin()
        with pytest.raises(Verdict) as caught:
            seat.ask_move(move_request(seat), None, 100 * MS)

    assert caught.value.code == "timeout"
    assert caught.value.sentence == "no answer to move within 100 ms of CPU time (it still thinks)"


@pytest.mark.sandbox
def test_what_children_think_counts_where_a_control_group_can_tell_and_else_meets_the_cap() -> None:
    counts = cgroups.find_parents().freeze
    cap_ms = PATIENCE_MS if counts else 2000
    thinking = 'import subprocess, sys\nsubprocess.run([sys.executable, "-c", "while True: pass"])'
    command = (sys.executable, "-I", str(Path(__file__).parent / "isolated_bot.py"), "", thinking)
    seat = BotSeat(Player("boxed", "00", command, None), PATIENCE_MS, None, isolation=Isolation("bwrap"))
    try:
        seat.begin()
        with pytest.raises(Verdict) as caught:
            seat.ask_move(move_request(seat), cap_ms * MS, 100 * MS)
    finally:
        seat.dismiss()

    counted = "100 ms of CPU time (it still thinks)" if counts else f"{cap_ms} ms ("
    assert caught.value.sentence.startswith(f"no answer to move within {counted}")


def test_a_bot_that_waits_uses_no_cpu_time_but_meets_the_cap_on_the_wall() -> None:
    with seated("freezes") as seat:
        seat.begin()
        with pytest.raises(Verdict) as caught:
            seat.ask_move(move_request(seat), SHORT_MS * MS, 10 * MS)

    assert caught.value.sentence.startswith("no answer to move within 250 ms (")


def test_cpu_time_between_an_answer_and_the_next_request_is_counted_as_idle_in_its_game() -> None:
    bots: list[BotProcess] = []
    seat = BotSeat(player("ponders"), PATIENCE_MS, None, observer=SeatObserver(bots.append))
    try:
        seat.begin()
        seat.ask_move(move_request(seat), None)
        answered = bots[0].cpu_ns()
        while bots[0].cpu_ns() < answered + 50 * MS:
            pass
        assert seat.report().idle_ms < 10  # what a process still does after its answer is written
        seat.ask_move(move_request(seat), None)
        assert seat.report().idle_ms >= 40
        seat.begin()
        assert seat.report().idle_ms == 0
    finally:
        seat.dismiss()


@pytest.mark.sandbox
def test_what_children_think_while_nothing_was_asked_is_idle_time_too() -> None:
    bots: list[BotProcess] = []
    code = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'while True: pass'])"
    command = (sys.executable, "-I", str(Path(__file__).parent / "isolated_bot.py"), code)
    boxed = Player("boxed", "00", command)
    for freeze in (False, True):
        seat = BotSeat(boxed, PATIENCE_MS, None, Isolation("bwrap", freeze=freeze), SeatObserver(bots.append))
        try:
            seat.begin()
            seat.ask_move(move_request(seat), None)
            bot = bots.pop()
            counted = bot.all_cpu_ns() + 50 * MS
            last = time.monotonic_ns() + (PATIENCE_MS if bot.runs_off_turn else 200) * MS
            while bot.all_cpu_ns() < counted and time.monotonic_ns() < last:
                pass
            seat.ask_move(move_request(seat), None)
            assert (seat.report().idle_ms >= 40) == bot.runs_off_turn
        finally:
            seat.dismiss()


@pytest.mark.sandbox
def test_a_frozen_bot_cannot_think_while_it_is_not_asked() -> None:
    with_freezing = Isolation("bwrap", freeze=True)
    seat = BotSeat(player("ponders"), PATIENCE_MS, None, isolation=with_freezing)
    try:
        seat.begin()
        seat.ask_move(move_request(seat), None)
        before = time.monotonic_ns()
        while time.monotonic_ns() < before + 200 * MS:
            pass
        seat.ask_move(move_request(seat), None)
        assert seat.report().idle_ms < 100
    finally:
        seat.dismiss()
