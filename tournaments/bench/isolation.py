"""What isolation costs, and what it protects: an honest bot among hostile ones."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from statistics import median

from msgspec.structs import replace

from malice.protocol.messages import ClockRules
from malice.referee.game_runner import GameRunner
from malice.referee.isolation import probe
from malice.referee.records import Batch, Isolation, Key, Layer, Player, Record
from malice.referee.seat import BotSeat
from malice.tournaments.bench import BenchRow, hostile_bot
from malice.tournaments.bench.games import make_games
from malice.tournaments.entries.bots import find_bot
from malice.tournaments.league.parts import Seeds
from malice.tournaments.running.coordinator import play_batches
from malice.tournaments.running.hooks import Hooks

STARTS = 15
GAMES = 25


def measure_isolation() -> Iterator[BenchRow]:
    """Compare every layer, with and without freezing, with no isolation."""
    pinned = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(pinned)})
    layers: tuple[Layer, ...] = ("rlimit", "landlock", "bwrap")
    isolations = [
        Isolation(layer, freeze=freeze)
        for layer in layers
        if not probe.explain_missing_layer(layer)
        for freeze in (False, True)
    ]
    try:
        yield from _time_starts([Isolation(), *(each for each in isolations if not each.freeze)])
        yield from _time_actions([Isolation(), *isolations])
    finally:
        os.sched_setaffinity(0, pinned)


def _time_starts(isolations: list[Isolation]) -> Iterator[BenchRow]:
    """Start a Python bot, wait for its answer to the greeting, and end it."""
    player = find_bot("first").make_player("first")
    seconds: list[list[float]] = [[] for _ in isolations]
    for _ in range(STARTS):
        for isolation, times in zip(isolations, seconds, strict=True):
            times.append(_time_start(player, isolation))
    yield from _make_rows("start and end of a Python bot", isolations, seconds, 1e3, "ms")


def _time_start(player: Player, isolation: Isolation) -> float:
    seat = BotSeat(player, 60_000, None, isolation=isolation)
    begin = time.perf_counter()
    seat.begin()
    seat.dismiss()
    return time.perf_counter() - begin


def _time_actions(isolations: list[Isolation]) -> Iterator[BenchRow]:
    batch = make_games(find_bot("first").make_player("first"), GAMES)
    seconds: list[list[float]] = [[] for _ in isolations]
    seats = [[BotSeat(player, 60_000, None, isolation=each) for player in batch.players] for each in isolations]
    try:
        for order in batch.games:
            for pair, times in zip(seats, seconds, strict=True):
                begin = time.perf_counter()
                record = GameRunner(batch, order, list(pair)).play()
                times.append((time.perf_counter() - begin) / len(record.actions))
    finally:
        for pair in seats:
            for seat in pair:
                seat.dismiss()
    yield from _make_rows(
        "an action of a whole game, instant Python bot", isolations, [times[1:] for times in seconds], 1e6, "µs"
    )


def _make_rows(
    what: str, isolations: list[Isolation], seconds: list[list[float]], scale: float, unit: str
) -> Iterator[BenchRow]:
    none, *others = [median(times) for times in seconds]
    for isolation, value in zip(isolations[1:], others, strict=True):
        how = f"{isolation.layer}, frozen off turn" if isolation.freeze else isolation.layer
        yield BenchRow(f"{what}, {how}", value * scale, unit, f"no isolation ({none * scale:.1f} {unit})", value / none)


ROUNDS = 3
JOBS = 2
HOSTILE = 30
BOUND = 1.5
"""The ratio must stay below this."""
MOVE_MS = 250
MEMORY_MB = 256
HONEST = "honest"


def measure_hostile() -> Iterator[BenchRow]:
    """Play both tournaments in turn, several times, under the strongest isolation that works here."""
    isolation = Isolation(probe.find_strongest_layer("auto"), MEMORY_MB)
    honest = find_bot("first").make_player(HONEST)
    beside: list[int] = []
    alone: list[int] = []
    for _ in range(ROUNDS):
        alone += _time_moves(honest, [replace(honest, label="itself")] * HOSTILE, isolation)
        beside += _time_moves(honest, [_make_hostile_bot(number) for number in range(HOSTILE)], isolation)
    yield BenchRow(
        f"honest bot's median move beside {HOSTILE} hostile bots, {isolation.layer} (bound {BOUND})",
        median(beside),
        "µs",
        f"alone ({median(alone):.1f} µs)",
        median(beside) / median(alone),
    )


def _make_hostile_bot(number: int) -> Player:
    way = list(hostile_bot.WAYS)[number % len(hostile_bot.WAYS)]
    return Player(f"{way}{number}", "", (sys.executable, "-I", hostile_bot.__file__, way))


def _time_moves(honest: Player, others: list[Player], isolation: Isolation) -> list[int]:
    """The times of the honest bot's moves in a tournament against these, in microseconds.

    Of each game only the first moves count, as many as a game against a hostile bot has: later moves are faster.
    """
    records: list[Record] = []
    outcome = play_batches(_make_batches(honest, others, isolation), JOBS, 1, Hooks(records.append))
    assert not outcome.given_up
    return [micros for record in records for micros in _list_own_times(record)[: hostile_bot.MOVES]]


def _list_own_times(record: Record) -> list[int]:
    moves = zip(record.actions, record.micros, strict=True)
    return [micros for (seat, _), micros in moves if record.entries[seat][0] == HONEST]


def _make_batches(honest: Player, others: list[Player], isolation: Isolation) -> Iterator[Batch]:
    """Yield one deal, in both rotations, for each of the others."""
    seeds = Seeds(b"\0" * 32)
    clock = ClockRules(MOVE_MS, None, 0, 0)
    template = make_games(honest, 1)
    for table, other in enumerate(others):
        for rotation in (0, 1):
            order = replace(seeds.order(Key(0, table, 0, rotation), 2), seating=(rotation, 1 - rotation))
            yield replace(template, players=(honest, other), clock=clock, games=(order,), isolation=isolation)
