"""What bots write to stderr, as those who read along get it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.referee.batch import play_batch
from malice.referee.bot import LONGEST, StderrLines
from malice.referee.errors import Abandoned
from malice.referee.records import Record, Report, Started, StderrLine
from malice.tournaments.running.coordinator import play_batches
from malice.tournaments.running.hooks import Hooks
from tests.tables import batch, player


def cut(*chunks: bytes) -> list[str]:
    """Return the lines of a stream that comes in such chunks and ends."""
    told: list[str] = []
    lines = StderrLines(told.append)
    for chunk in chunks:
        lines.add(chunk)
    lines.end()
    return told


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ([b"one\ntwo\n"], ["one", "two"]),
        ([b"o", b"ne\r\ntw", b"o"], ["one", "two"]),
        ([b"\n\n"], ["", ""]),
        ([], []),
        ([b"\xff\n"], ["\ufffd"]),
        ([b"x" * (2 * LONGEST + 1)], ["x" * LONGEST, "x" * LONGEST, "x"]),
    ],
)
def test_a_stream_is_told_line_by_line_and_the_last_one_at_its_end(chunks: list[bytes], lines: list[str]) -> None:
    assert cut(*chunks) == lines


def talker(text: str) -> tuple[str, ...]:
    """Return the command of a bot that prints something to stderr with every answer, and leaves a last word."""
    program = (
        "import json,sys\n"
        "for line in sys.stdin:\n"
        "  request = json.loads(line)\n"
        "  if request['type'] == 'bye': break\n"
        f"  print({text!r}, request['type'], file=sys.stderr, flush=True)\n"
        "  print(json.dumps({'id': request['id'], 'move': request.get('legal', [''])[0]}), flush=True)\n"
        "print('farewell', end='', file=sys.stderr, flush=True)\n"
    )
    return (sys.executable, "-I", "-c", program)


@pytest.mark.slow
def test_every_line_of_a_healthy_game_is_reported_with_the_label_of_its_bot() -> None:
    told: list[StderrLine] = []
    records: list[Record] = []
    game = batch(replace(player("talker"), command=talker("I hear")), player("honest"))

    play_batches(iter([replace(game, stderr=True)]), 1, 1, Hooks(records.append), on_stderr=told.append)

    lines = [line.line for line in told if line.label == "talker"]
    moves = sum(seat == 0 for seat, _ in records[0].actions)
    assert lines == ["I hear hello", "I hear game_start", *["I hear move"] * moves, "I hear game_end", "farewell"]
    assert records[0].faults == ()


@pytest.mark.slow
def test_nothing_is_reported_that_nobody_asked_for() -> None:
    told: list[Report] = []

    play_batch(batch(replace(player("talker"), command=talker("I hear")), player("honest")), None, told.append)

    assert not any(isinstance(report, StderrLine) for report in told)


@pytest.mark.slow
def test_bots_are_ended_though_nobody_takes_their_last_words() -> None:
    pids: list[int] = []
    before = set(os.listdir("/proc/self/fd"))

    def tell(report: Report) -> None:
        if isinstance(report, Started):
            pids.append(report.pid)
        elif isinstance(report, StderrLine):
            raise Abandoned("nobody reads")

    game = batch(*(replace(player("talker"), command=talker("I hear")) for _ in range(2)))
    play_batch(replace(game, stderr=True), None, tell)

    assert len(pids) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert set(os.listdir("/proc/self/fd")) == before
