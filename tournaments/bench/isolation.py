"""The price of isolation: starts of a bot, and games of instant bots, in turn under each layer that works here."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from statistics import median

from malice.referee.bot_seat import BotSeat
from malice.referee.game_runner import GameRunner
from malice.referee.isolation import probe
from malice.referee.records import Isolation, Layer, Player
from malice.tournaments.bench import BenchRow
from malice.tournaments.bench.exchange import make_games
from malice.tournaments.entries.bots import find_bot

STARTS = 15
GAMES = 25


def measure_isolation() -> Iterator[BenchRow]:
    """Compare every layer, with and without freezing, with no isolation."""
    pinned = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(pinned)})
    layers: tuple[Layer, ...] = ("rlimit", "bwrap")
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
