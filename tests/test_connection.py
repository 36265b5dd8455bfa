"""The connection to bots: deadlines of several at once, and output that comes early."""

from __future__ import annotations

import fcntl
import os
import struct
import sys
import termios
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest

from malice.protocol.messages import BareAnswer
from malice.referee.bot import BotProcess
from malice.referee.clock import MS
from malice.referee.connection import BotConnection, await_answers
from malice.referee.errors import Abandoned
from malice.referee.exchange import Exchange
from malice.referee.records import Player
from malice.referee.seat import BotSeat
from malice.referee.verdicts import Verdict
from tests.tables import PATIENCE_MS, move_request, player

SLEEPER = """
import json, signal, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        signal.pause()
    print(json.dumps({"id": request["id"]}), flush=True)
"""
HOARDER = """
import sys
sys.stdin.readline()
sys.stdout.write('{"id":1}\\n' + "x" * 10)
sys.stdout.flush()
sys.stdin.readline()
sys.stdout.write("y" * 100_000)
sys.stdout.flush()
"""

READER = """
import os, sys
sys.stdin.readline()
os.close(2)
os.write(1, b'{"id":1')
os.write(1, b'}\\n')
open(sys.argv[1], "w").close()
sys.stdin.readline()
"""
"""Reads a request of any length, closes its stderr, answers in two pieces, and tells so through a named pipe."""
EXITS = """
import sys
sys.stdin.read(1)
open(sys.argv[1]).close()
sys.stderr.write("no more")
sys.exit(4)
"""
"""Reads the beginning of a request, and exits once the reader has answered its own."""
SLEEPS = "import signal; signal.pause()"
LONG = b'{"id":1,"type":"hello","x":"%s"}\n' % (b"x" * 300_000)
"""Fills every pipe several times."""

pytestmark = pytest.mark.slow


def note_stop(stopped: list[int], number: int) -> Callable[[], None]:
    return lambda: stopped.append(number)


def make_seat(program: str) -> BotSeat:
    return BotSeat(Player("program", "00", (sys.executable, "-I", "-c", program)), PATIENCE_MS, None)


def test_each_seat_has_its_own_deadline_and_stops_when_it_has_answered_or_failed() -> None:
    stopped: list[int] = []
    with ExitStack() as stack:
        seats = [make_seat(SLEEPER), make_seat(SLEEPER), BotSeat(player("honest"), PATIENCE_MS, None)]
        for number, seat in enumerate(seats):
            stack.callback(seat.dismiss)
            seat.begin()
            assert seat.process
            seat.process.freeze = note_stop(stopped, number)
        connections = [
            seat.send_move(move_request(seat), limit_ms * MS)
            for seat, limit_ms in zip(seats, (2000, 3000, PATIENCE_MS), strict=True)
        ]
        stopped.clear()  # the greeting
        await_answers([connection for connection in connections if connection])
        walls = []
        for seat in seats[:2]:
            with pytest.raises(Verdict) as caught:
                seat.collect_move()
            assert caught.value.code == "timeout"
            walls.append(caught.value.wall // MS)
        seats[2].collect_move()

    assert walls[0] >= 2000
    assert walls[1] >= 3000
    assert walls[0] < walls[1]
    assert stopped == [2, 0, 1]


def test_a_line_that_grows_too_long_before_its_answer_is_awaited_is_a_verdict() -> None:
    with ExitStack() as stack:
        seat = make_seat(HOARDER)
        stack.callback(seat.dismiss)
        seat.begin()
        seat.send_move(move_request(seat), None)
        assert seat.process
        # A full pipe: the next read takes as much as we ever read at once.
        while struct.unpack("i", fcntl.ioctl(seat.process.stdout, termios.FIONREAD, b"0000"))[0] < 1 << 16:
            pass

        with pytest.raises(Verdict) as caught:
            seat.collect_move()

    assert caught.value.code == "protocol"


def test_long_requests_go_to_several_bots_at_once_whether_they_read_or_not(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with ExitStack() as stack:
        programs = (SLEEPS, EXITS, READER)
        bots = [BotProcess(Player("p", "00", (sys.executable, "-I", "-c", each, str(fifo)))) for each in programs]
        connections = [BotConnection(bot, None) for bot in bots]
        for bot in bots:
            stack.callback(bot.kill)
        for connection, limit_ms in zip(connections, (500, PATIENCE_MS, PATIENCE_MS), strict=True):
            exchange = Exchange("hello", 1, msgspec.json.Decoder(BareAnswer), limit_ms * MS, None)
            connection.send_request(LONG, exchange)
        await_answers(connections)
        found = []
        for connection in connections[:2]:
            with pytest.raises(Verdict) as caught:
                connection.collect_answer()
            found.append(caught.value)
        answer, _, _ = connections[2].collect_answer()

    assert found[0].code == "timeout"
    assert "does not read" in found[0].sentence
    assert (found[1].code, found[1].sentence) == ("crash", "the bot exited with status 4")
    assert answer == BareAnswer(1)


def test_the_process_that_sent_the_batch_may_go_while_several_bots_think() -> None:
    ours, theirs = os.pipe()
    with ExitStack() as stack:
        bots = [BotProcess(Player("p", "00", (sys.executable, "-I", "-c", SLEEPS))) for _ in range(2)]
        connections = [BotConnection(bot, ours) for bot in bots]
        for bot in bots:
            stack.callback(bot.kill)
        for connection in connections:
            exchange = Exchange("hello", 1, msgspec.json.Decoder(BareAnswer), None, None)
            connection.send_request(b'{"id":1,"type":"hello"}\n', exchange)
        os.close(theirs)

        with pytest.raises(Abandoned):
            await_answers(connections)

    os.close(ours)
