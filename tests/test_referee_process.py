"""The referee process: batch lines in, record lines out, and nothing left behind on any way out."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
import trio
from msgspec.structs import replace

from malice.referee.records import Batch, BatchDone, GameBegun, Record, Report, Started
from malice.referee.replay import check_record
from malice.tournaments.running.coordinator import RefereeProcess
from malice.tournaments.running.hooks import NO_LEDGER
from tests.processes import PATIENCE_S, Mark
from tests.tables import batch, player

pytestmark = pytest.mark.slow


class Referee:
    """A referee process whose bots wait in mid-game, each with a child, until somebody ends them."""

    def __init__(self, folder: Path) -> None:
        self.fifo = folder / "fifo"
        self.mark = Mark()
        """That of the referee, its bots, and theirs."""
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "malice.referee"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=self.mark.environ(),
            cwd=Path(__file__).parents[1],
        )
        assert self.process.stdin
        assert self.process.stdout
        assert self.process.stderr
        self._decoder: msgspec.json.Decoder[Report] = msgspec.json.Decoder(Report)
        self.input, self.output, self.errors = self.process.stdin, self.process.stdout, self.process.stderr

    def give(self, told: Batch) -> None:
        self.input.write(msgspec.json.encode(told) + b"\n")

    def report(self) -> Report:
        return self._decoder.decode(self.output.readline())

    def to_mid_game(self) -> list[Started]:
        """Play until a bot thinks for ever, with a child beside it; return what was started."""
        os.mkfifo(self.fifo)
        pipe = os.open(self.fifo, os.O_RDONLY | os.O_NONBLOCK)
        self.give(batch(player("parent", str(self.fifo)), player("honest")))
        assert select.select([pipe], [], [], PATIENCE_S)[0]
        os.close(pipe)
        assert len(list(self.mark.alive())) == 4
        found = [self.report() for _ in range(3)]
        return [report for report in found if isinstance(report, Started)]

    def close(self) -> None:
        self.mark.end()
        self.process.wait()
        for pipe in (self.input, self.output, self.errors):
            pipe.close()


@pytest.fixture
def referee(tmp_path: Path) -> Iterator[Referee]:
    process = Referee(tmp_path)
    yield process
    process.close()


def test_a_batch_line_becomes_record_lines(referee: Referee) -> None:
    told = batch(player("honest"), player("declines"), games=2)

    referee.give(told)
    found = [referee.report() for _ in range(7)]
    referee.give(told)
    again = [referee.report() for _ in range(7)]

    assert [type(report) for report in found] == [GameBegun, Started, Started, Record, GameBegun, Record, BatchDone]
    for one, other in zip(found[3:6:2], again[3:6:2], strict=True):
        assert isinstance(one, Record)
        assert isinstance(other, Record)
        check_record(one)
        assert one.digest == other.digest


def test_an_idle_referee_ends_in_order_when_its_input_is_closed(referee: Referee) -> None:
    referee.give(batch(player("honest"), player("honest")))
    while not isinstance(referee.report(), BatchDone):
        pass

    referee.input.close()

    assert referee.process.wait(PATIENCE_S) == 0
    assert referee.errors.read() == b""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"nonsense\n", "malformed"),
        (b"\xff\xfe\n", "malformed"),
        (b'{"type":"batch"}\n', "missing required field `family`"),
    ],
)
def test_a_bad_batch_line_is_refused_in_one_line(referee: Referee, line: bytes, said: str) -> None:
    referee.input.write(line)

    assert referee.process.wait(PATIENCE_S) == 2
    sentence = referee.errors.read().decode()
    assert sentence.startswith("referee: expected a batch line: ")
    assert said in sentence
    assert sentence.count("\n") == 1


@pytest.mark.parametrize(
    "spoil",
    [
        lambda order: replace(order, seating=(0, 2)),
        lambda order: replace(order, seating=(0, 0)),
        lambda order: replace(order, rngs=(1,)),
        lambda order: replace(order, deal_seed="cards"),
    ],
)
def test_a_batch_that_does_not_fit_together_is_a_bad_line(referee: Referee, spoil: Callable[..., object]) -> None:
    told = batch(player("honest"), player("honest"))
    line = msgspec.to_builtins(told) | {"games": [msgspec.to_builtins(spoil(told.games[0]))]}

    referee.input.write(msgspec.json.encode(line) + b"\n")

    assert referee.process.wait(PATIENCE_S) == 2
    assert referee.errors.read().startswith(b"referee: expected a batch line: ")


def test_a_closed_input_ends_the_referee_its_bots_and_their_children_in_mid_game(referee: Referee) -> None:
    referee.to_mid_game()

    referee.input.close()

    assert referee.mark.await_end() == []
    assert referee.process.wait() == 0
    assert referee.errors.read() == b""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_referee_its_bots_and_their_children_in_mid_game(
    referee: Referee, number: signal.Signals
) -> None:
    referee.to_mid_game()

    referee.process.send_signal(number)

    assert referee.mark.await_end() == []
    assert referee.process.wait() == 128 + number
    assert referee.errors.read() == b""


def test_bots_die_with_a_referee_that_is_killed_and_their_groups_are_known(referee: Referee) -> None:
    """Only a reader of `Started` can then end the children of the bots."""
    started = referee.to_mid_game()
    bots = [os.pidfd_open(bot.pid) for bot in started]

    referee.process.kill()

    for bot in bots:
        assert select.select([bot], [], [], PATIENCE_S)[0]
        os.close(bot)
    (child,) = referee.mark.alive()
    assert os.getpgid(child) == started[0].pid
    os.killpg(started[0].pid, signal.SIGKILL)
    assert referee.mark.await_end() == []


def test_a_referee_whose_reports_nobody_reads_ends_when_its_input_is_closed(referee: Referee) -> None:
    fcntl.fcntl(referee.output, fcntl.F_SETPIPE_SZ, 4096)
    referee.give(batch(player("dies", "move", "1", "16000"), player("honest")))
    for kind in (GameBegun, Started, Started):
        assert isinstance(referee.report(), kind)
    assert select.select([referee.output], [], [], PATIENCE_S)[0], "the start of a record that is longer than the pipe"

    referee.input.close()

    assert referee.mark.await_end() == []
    assert referee.process.wait() == 0


def test_a_referee_that_still_starts_is_told_to_end_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    slow = f"import signal\nwith open({str(fifo)!r}, 'w') as pipe:\n    pipe.write('here')\nsignal.pause()\n"
    (tmp_path / "sitecustomize.py").write_text(slow)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    async def leave_at_once() -> int | None:
        async with RefereeProcess(NO_LEDGER) as process:
            assert fifo.read_text() == "here"
        return process._process.returncode

    assert trio.run(leave_at_once) == -signal.SIGTERM
