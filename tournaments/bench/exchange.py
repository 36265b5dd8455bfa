"""The price of the referee: whole games of an instant bot, compared with a bare loop over the same bytes.

Everything runs on one processor. The referee plays a game; right after it a loop writes the lines of that game, in
the same order, to two processes of the same bot, and reads the answers. The medians of both are compared.
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

from malice.protocol.codec import encode
from malice.protocol.messages import ClockRules
from malice.referee.bot_seat import BotSeat
from malice.referee.game_runner import GameRunner
from malice.referee.games import DEFAULT_RULESET
from malice.referee.records import Batch, GameOrder, Key, Player, Record
from malice.referee.rulesets import load_ruleset
from malice.tournaments.bench import BenchRow
from malice.tournaments.bench.seats import Puppet
from malice.tournaments.entries.bots import SHIPPED, find_bot
from malice.tournaments.league.parts import Seeds

EXCHANGED_GAMES = 50
WARM_UP = 5


def measure_exchange() -> Iterator[BenchRow]:
    """Compare the referee with the bare loop, for a Python bot and, if there is a compiler, for a C bot."""
    pinned = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(pinned)})
    try:
        yield from _compare("python", find_bot("first").make_player("first"))
        if compiler := which("cc"):
            with TemporaryDirectory(prefix="malice-") as folder:
                program = str(Path(folder, "first"))
                subprocess.run([compiler, "-O2", "-o", program, str(SHIPPED / "c/first/first.c")], check=True)
                yield from _compare("C", Player("first", "", (program,)))
    finally:
        os.sched_setaffinity(0, pinned)


def _compare(language: str, player: Player) -> Iterator[BenchRow]:
    batch = make_games(player, EXCHANGED_GAMES + WARM_UP)
    seats = [BotSeat(player, batch.init_ms, None) for _ in range(2)]
    refereed, bare = [], []
    try:
        with _start_bot(player) as left, _start_bot(player) as right:
            pipes = [_get_pipes(bot) for bot in (left, right)]
            for order in batch.games:
                begin = time.perf_counter()
                record = GameRunner(batch, order, list(seats)).play()
                refereed.append((time.perf_counter() - begin) / len(record.actions))
                lines = _list_lines(batch, order, record)
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
    yield BenchRow(
        what, with_referee * 1e6, "µs", f"bare write and read ({without * 1e6:.1f} µs)", with_referee / without
    )


def make_games(player: Player, games: int) -> Batch:
    """Return a batch of games of a bot against itself."""
    seeds = Seeds(b"\0" * 32)
    ruleset = load_ruleset(DEFAULT_RULESET)
    return Batch(
        family=ruleset.family,
        ruleset=ruleset.name,
        rules=ruleset.rules,
        players=(player, player),
        clock=ClockRules(),
        init_ms=5000,
        commit=seeds.commit,
        games=tuple(seeds.order(Key(0, 0, deal, 0), 2) for deal in range(games)),
    )


def _list_lines(batch: Batch, order: GameOrder, record: Record) -> list[tuple[int, bytes]]:
    """Return the lines that the seats of a game received, each with its seat, in order."""
    lines: list[tuple[int, bytes]] = []
    actions = iter(record.actions)

    def puppet(seat: int) -> Puppet:
        return Puppet(lambda _: (next(actions)[1], 0), lambda request: lines.append((seat, encode(request))))

    GameRunner(batch, order, [puppet(0), puppet(1)]).play()
    return lines


def _start_bot(player: Player) -> subprocess.Popen[bytes]:
    return subprocess.Popen(player.command, cwd=player.cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _get_pipes(bot: subprocess.Popen[bytes]) -> tuple[int, int]:
    assert bot.stdin
    assert bot.stdout
    return bot.stdin.fileno(), bot.stdout.fileno()


def _replay(pipes: list[tuple[int, int]], lines: list[tuple[int, bytes]]) -> None:
    """Write the lines and read the answers, without a referee."""
    for seat, line in lines:
        write, read = pipes[seat]
        os.write(write, line)
        while not os.read(read, 65_536).endswith(b"\n"):
            pass
