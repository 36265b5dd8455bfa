"""The price of the referee: whole games against an instant bot, over a bare loop with the same bytes.

Everything runs on one processor. Each game is played by the referee, and then at once by a loop that only
writes the lines of that game, in their order and to two processes of the same bot, and reads the answers;
the medians of both are compared.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from statistics import median
from tempfile import TemporaryDirectory

from protocol.codec import encode
from protocol.messages import ClockRules, GameEnd, GameStart, Move, MoveAnswer
from referee.records import Batch, GameOrder, Key, Player, Record
from referee.ruleset import load
from referee.seat import BotSeat
from referee.table import Table
from tournaments.bench import Row
from tournaments.bots import SHIPPED, find_bot
from tournaments.schedule import Seeds

GAMES = 50
WARM_UP = 5


class Scribe:
    """A seat that answers what a record says; all seats of a table write down what they were sent on one list."""

    version = ""
    wants_legal = True
    games = 0
    stray = 0

    def __init__(self, seat: int, answers: Iterator[str], lines: list[tuple[int, bytes]]) -> None:
        self.name = "first"
        self._seat = seat
        self._answers = answers
        self._lines = lines
        self._requests = 1

    def begin(self) -> None:
        """Be ready, as always."""

    def next_id(self) -> int:
        """Number the next request; a real bot was greeted before."""
        self._requests += 1
        return self._requests

    def ask_move(self, request: Move, limit: int | None) -> tuple[MoveAnswer, int, int]:
        """Write the request down and give the recorded answer."""
        self._lines.append((self._seat, encode(request)))
        return MoveAnswer(request.id, next(self._answers)), 0, 0

    def ask(self, request: GameStart | GameEnd) -> None:
        """Write the request down."""
        self._lines.append((self._seat, encode(request)))

    def dismiss(self) -> tuple[str | None, tuple[str, ...], str]:
        """Stay: a script breaks no rule."""
        return None, (), ""


def exchange() -> Iterator[Row]:
    """Compare the referee with the bare loop, with a Python bot and, where there is a compiler, with a C bot."""
    pinned = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(pinned)})
    try:
        yield from _compare("python", find_bot("first").player("first"))
        if compiler := which("cc"):
            with TemporaryDirectory(prefix="malice-") as folder:
                program = str(Path(folder, "first"))
                subprocess.run([compiler, "-O2", "-o", program, str(SHIPPED / "c/first/first.c")], check=True)
                yield from _compare("C", Player("first", "", (program,)))
    finally:
        os.sched_setaffinity(0, pinned)


def _compare(language: str, player: Player) -> Iterator[Row]:
    batch = _batch(player)
    seats = [BotSeat(player, batch.init_ms, None) for _ in range(2)]
    refereed, bare = [], []
    try:
        with _started(player) as left, _started(player) as right:
            pipes = [_pipes(bot) for bot in (left, right)]
            for order in batch.games:
                begin = time.perf_counter()
                record = Table(batch, order, list(seats)).play()
                refereed.append((time.perf_counter() - begin) / len(record.actions))
                lines = _lines(batch, order, record)
                begin = time.perf_counter()
                _replay(pipes, lines)
                bare.append((time.perf_counter() - begin) / len(record.actions))
            left.kill()
            right.kill()
    finally:
        for seat in seats:
            seat.dismiss()
    with_referee, without = median(refereed[WARM_UP:]), median(bare[WARM_UP:])
    what = f"referee, an action of a whole game, instant {language} bot"
    yield Row(what, with_referee * 1e6, "µs", f"bare write and read ({without * 1e6:.1f} µs)", with_referee / without)


def _batch(player: Player) -> Batch:
    seeds = Seeds(b"\0" * 32)
    return Batch(
        ruleset="standard",
        rules=load("standard").rules,
        players=(player, player),
        clock=ClockRules(),
        init_ms=5000,
        commit=seeds.commit,
        games=tuple(seeds.order(Key(0, deal, 0), 2) for deal in range(GAMES + WARM_UP)),
    )


def _lines(batch: Batch, order: GameOrder, record: Record) -> list[tuple[int, bytes]]:
    """Return what the seats were sent in a game, in its order."""
    lines: list[tuple[int, bytes]] = []
    scribes = [
        Scribe(seat, iter([action for owner, action in record.actions if owner == seat]), lines) for seat in range(2)
    ]
    Table(batch, order, list(scribes)).play()
    return lines


def _started(player: Player) -> subprocess.Popen[bytes]:
    return subprocess.Popen(player.command, cwd=player.cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _pipes(bot: subprocess.Popen[bytes]) -> tuple[int, int]:
    assert bot.stdin
    assert bot.stdout
    return bot.stdin.fileno(), bot.stdout.fileno()


def _replay(pipes: list[tuple[int, int]], lines: list[tuple[int, bytes]]) -> None:
    """Send the lines and read the answers, without any referee."""
    for seat, line in lines:
        write, read = pipes[seat]
        os.write(write, line)
        while not os.read(read, 65_536).endswith(b"\n"):
            pass
