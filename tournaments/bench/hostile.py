"""The effect of hostile bots on an honest one: its move times against thirty of them, and against itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from statistics import median

from msgspec.structs import replace

from malice.protocol.messages import ClockRules
from malice.referee.isolation import probe
from malice.referee.records import Batch, Isolation, Key, Player, Record
from malice.tournaments.bench import BenchRow, hostile_bot
from malice.tournaments.bench.exchange import make_games
from malice.tournaments.entries.bots import find_bot
from malice.tournaments.league.parts import Seeds
from malice.tournaments.running.coordinator import play_batches
from malice.tournaments.running.hooks import Hooks

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
    """Return the times of the honest bot's moves in a tournament against these, in microseconds.

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
