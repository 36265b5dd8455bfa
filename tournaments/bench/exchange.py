"""The price of the referee: whole games against an instant bot, over a bare loop with the same bytes.

Everything runs on one processor. Each game is played by the referee and then at once by a loop that only
writes the lines of that game and reads the answers; the medians of both are compared.
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
    """A seat that answers what a record says, and writes down the lines it was sent."""

    version = ""
    wants_legal = True
    games = 0
    stray = 0

    def __init__(self, name: str, answers: Iterator[str]) -> None:
        self.name = name
        self.lines: list[bytes] = []
        self._answers = answers
        self._requests = 1

    def begin(self) -> None:
        """Be ready, as always."""

    def next_id(self) -> int:
        """Number the next request; a real bot was greeted before."""
        self._requests += 1
        return self._requests

    def ask_move(self, request: Move, limit: int | None) -> tuple[MoveAnswer, int, int]:
        """Write the request down and give the recorded answer."""
        self.lines.append(encode(request))
        return MoveAnswer(request.id, next(self._answers)), 0, 0

    def ask(self, request: GameStart | GameEnd) -> None:
        """Write the request down."""
        self.lines.append(encode(request))

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
        for order in batch.games:
            begin = time.perf_counter()
            record = Table(batch, order, list(seats)).play()
            refereed.append((time.perf_counter() - begin) / len(record.actions))
            bare.append(_bare(player, _lines(batch, order, record)) / len(record.actions))
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


def _lines(batch: Batch, order: GameOrder, record: Record) -> list[list[bytes]]:
    """Return what each seat was sent in a game."""
    scribes = [
        Scribe("first", iter([action for owner, action in record.actions if owner == seat])) for seat in range(2)
    ]
    Table(batch, order, list(scribes)).play()
    return [scribe.lines for scribe in scribes]


def _bare(player: Player, lines: list[list[bytes]]) -> float:
    """Return the seconds that a loop without any referee takes to send the lines and read the answers."""
    seconds = 0.0
    for told in lines:
        with subprocess.Popen(player.command, cwd=player.cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as bot:
            assert bot.stdin
            assert bot.stdout
            write, read = bot.stdin.fileno(), bot.stdout.fileno()
            os.write(write, told[0])
            os.read(read, 65_536)
            begin = time.perf_counter()
            for line in told:
                os.write(write, line)
                while not os.read(read, 65_536).endswith(b"\n"):
                    pass
            seconds += time.perf_counter() - begin
            bot.kill()
    return seconds
