"""What games cost: the rules alone, an action of each game, and the referee against a bare loop.

Everything runs on one processor. The referee plays a game; right after it a loop writes the lines of that game, in the
same order, to two processes of the same bot, and reads the answers. The medians of both are compared.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from shutil import which
from statistics import median
from tempfile import TemporaryDirectory

from malice.protocol.codec import encode
from malice.protocol.messages import ClockRules, GameEnd, GameStart, Move, MoveAnswer
from malice.referee.course import Course, choose_dealer, make_game_dealer
from malice.referee.families import list_shipped, make_rules
from malice.referee.game import Game
from malice.referee.game_runner import GameRunner
from malice.referee.games import DEFAULT_FAMILY, DEFAULT_RULESET
from malice.referee.records import Batch, GameOrder, Key, Player, Record, SeatReport
from malice.referee.rules import Ask, Result, Shuffle
from malice.referee.rulesets import Ruleset, list_family_rulesets, load_ruleset
from malice.referee.seat import BotSeat, InProcessSeat
from malice.tournaments.bench import BenchRow
from malice.tournaments.entries.bots import SHIPPED, find_bot
from malice.tournaments.league.parts import Seeds

Choose = Callable[[Move], tuple[str, int]]
"""Returns an action for a request, and the nanoseconds to record for it."""


class Puppet(InProcessSeat):
    """Plays what a function chooses; an observer sees every request first."""

    def __init__(self, choose: Choose, on_request: Callable[[GameStart | Move | GameEnd], None] | None = None) -> None:
        self._choose = choose
        self._on_request = on_request
        self._requests = 1

    def begin(self) -> int:
        """Always game 0: a puppet needs no start."""
        return 0

    def report(self) -> SeatReport:
        return SeatReport("puppet")

    def next_id(self) -> int:
        """The next request's number, from 2: the first is a real bot's greeting."""
        self._requests += 1
        return self._requests

    def ask_move(self, request: Move, limit: int | None, cpu_limit: int | None = None) -> tuple[MoveAnswer, int, int]:
        """Answer at once."""
        self.ask(request)
        move, wall = self._choose(request)
        return MoveAnswer(request.id, move), wall, wall

    def ask(self, request: GameStart | Move | GameEnd) -> None:
        """Show the request to the observer."""
        if self._on_request:
            self._on_request(request)

    def dismiss(self) -> tuple[str | None, tuple[str, ...], str]:
        """An empty report: a puppet breaks no rule."""
        return None, (), ""


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
    """Make a batch of games of a bot against itself."""
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
    """The lines that the seats of a game received, each with its seat, in order."""
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


PLAYOUTS = 400


def measure_engine() -> Iterator[BenchRow]:
    """Count actions per CPU second, and measure the share of the dealer's shuffles."""
    ruleset = load_ruleset(DEFAULT_RULESET)
    rules = make_rules(ruleset.family, ruleset.rules, 2)
    count = 0
    shuffling = 0.0
    begin = time.process_time()
    for number in range(PLAYOUTS):
        dealer, rng = choose_dealer(number.to_bytes(32, "big")), Random(number)
        state = rules.start()
        while not isinstance(step := rules.next(state), Result):
            if isinstance(step, Shuffle):
                before = time.process_time()
                order = dealer.order(step.size)
                shuffling += time.process_time() - before
                state, _ = rules.shuffled(state, order)
            else:
                actions = {seat: rng.choice(rules.legal(state, seat)) for seat in step.seats}
                state, _ = rules.play(state, actions)
                count += len(actions)
    seconds = time.process_time() - begin
    yield BenchRow(
        "engine, uniform random playouts with legal lists",
        count / seconds,
        "actions/CPU s",
        "time without the shuffles",
        seconds / (seconds - shuffling),
    )


STEPPED = 40
"""Games of each way to step in a round."""


def measure_stepping() -> Iterator[BenchRow]:
    """Play the same random games through `malice.Game` and by the bare rules, in turns."""
    ruleset = load_ruleset(DEFAULT_RULESET)

    def step(number: int, rng: Random) -> int:
        game = Game(ruleset, 2, number)
        while not game.over:
            game.play(rng.choice(game.legal()))
        return game.actions

    costs: dict[Callable[[int, Random], int], list[float]] = {step: [], step_barely: []}
    for _ in range(ROUNDS):
        for way, measured in costs.items():
            begin = time.process_time()
            count = sum(way(number, Random(number)) for number in range(STEPPED))
            measured.append((time.process_time() - begin) / count)
    cost, bare = median(costs[step]), median(costs[step_barely])
    yield BenchRow("malice.Game, uniform random games", 1 / cost, "actions/CPU s", "the bare rules", bare / cost)


def step_barely(number: int, rng: Random) -> int:
    """Play a game at random by the bare rules; return how many actions it took."""
    ruleset = load_ruleset(DEFAULT_RULESET)
    rules = make_rules(ruleset.family, ruleset.rules, 2)
    course, count = Course(rules, make_game_dealer(number)), 0
    while isinstance(course.step, Ask):
        (seat,) = course.step.seats
        course.play({seat: rng.choice(rules.legal(course.state, seat))})
        count += 1
    return count


ROUNDS = 9
GAMES = 6
"""Games of each ruleset in a round."""


def measure_each_game() -> Iterator[BenchRow]:
    """Let puppets that choose at random play a ruleset of every game that ships, in turns: all meet the same noise."""
    standard = load_ruleset(DEFAULT_RULESET)
    others = [load_ruleset(list_family_rulesets(name)[0]) for name in list_shipped() if name != DEFAULT_FAMILY]
    batches = {ruleset.name: _make_batch(ruleset) for ruleset in (standard, *others)}
    costs: dict[str, list[float]] = {name: [] for name in batches}
    for _ in range(ROUNDS):
        for name, batch in batches.items():
            costs[name].append(_measure(batch))
    reference = median(costs.pop(standard.name))
    for name, measured in costs.items():
        cost = median(measured)
        yield BenchRow(
            f"referee, an action of {name}, random puppets",
            cost * 1e6,
            "µs",
            f"{DEFAULT_RULESET} ({reference * 1e6:.1f} µs)",
            cost / reference,
        )


def _make_batch(ruleset: Ruleset) -> Batch:
    seeds, seats = Seeds(b"\0" * 32), ruleset.match.players[0]
    return Batch(
        family=ruleset.family,
        ruleset=ruleset.name,
        rules=ruleset.rules,
        players=(Player("puppet", "", ()),) * seats,
        clock=ClockRules(),
        init_ms=5000,
        commit=seeds.commit,
        games=tuple(seeds.order(Key(0, 0, deal, 0), seats) for deal in range(GAMES)),
    )


def _write(request: GameStart | Move | GameEnd) -> None:
    """Encode a request as for a bot: what a seat sees is part of what its game costs."""
    encode(request)


def _measure(batch: Batch) -> float:
    """Play the games of a batch; return CPU seconds per action."""
    random, actions = Random(0), 0

    def choose(request: Move) -> tuple[str, int]:
        assert isinstance(request.legal, tuple)
        # The last action may be the one that gives a game up: games of a few actions would measure their beginning.
        return request.legal[int(random.random() * max(1, len(request.legal) - 1))], 0

    begin = time.process_time()
    for order in batch.games:
        seats = [Puppet(choose, _write) for _ in batch.players]
        actions += len(GameRunner(batch, order, list(seats)).play().actions)
    return (time.process_time() - begin) / actions
