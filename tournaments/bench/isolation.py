"""The price of isolation: starting a bot, and whole games of instant bots, in turn under each layer that works here."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from statistics import median

from referee.game_runner import GameRunner
from referee.isolation import probe
from referee.records import Isolation, Layer
from referee.seat import BotSeat
from tournaments.bench import Row
from tournaments.bench.exchange import make_games
from tournaments.entries.bots import find_bot

STARTS = 15
GAMES = 25


def isolation() -> Iterator[Row]:
    """Compare every layer, with and without freezing, with none."""
    pinned = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(pinned)})
    layers: tuple[Layer, ...] = ("rlimit", "bwrap")
    asked = [
        Isolation(layer, freeze=freeze)
        for layer in layers
        if not probe.explain_missing_layer(layer)
        for freeze in (False, True)
    ]
    try:
        yield from _time_starts([Isolation(), *(each for each in asked if not each.freeze)])
        yield from _time_actions([Isolation(), *asked])
    finally:
        os.sched_setaffinity(0, pinned)


def _time_starts(asked: list[Isolation]) -> Iterator[Row]:
    """Start a Python bot until it has answered the greeting, and end it."""
    player = find_bot("first").make_player("first")
    took: list[list[float]] = [[] for _ in asked]
    for _ in range(STARTS):
        for isolation, times in zip(asked, took, strict=True):
            seat = BotSeat(player, 60_000, None, isolation=isolation)
            begin = time.perf_counter()
            seat.begin()
            seat.dismiss()
            times.append(time.perf_counter() - begin)
    yield from _make_rows("start and end of a Python bot", asked, took, 1e3, "ms")


def _time_actions(asked: list[Isolation]) -> Iterator[Row]:
    batch = make_games(find_bot("first").make_player("first"), GAMES)
    took: list[list[float]] = [[] for _ in asked]
    seats = [[BotSeat(player, 60_000, None, isolation=each) for player in batch.players] for each in asked]
    try:
        for order in batch.games:
            for pair, times in zip(seats, took, strict=True):
                begin = time.perf_counter()
                record = GameRunner(batch, order, list(pair)).play()
                times.append((time.perf_counter() - begin) / len(record.actions))
    finally:
        for pair in seats:
            for seat in pair:
                seat.dismiss()
    yield from _make_rows(
        "an action of a whole game, instant Python bot", asked, [times[1:] for times in took], 1e6, "µs"
    )


def _make_rows(what: str, asked: list[Isolation], took: list[list[float]], scale: float, unit: str) -> Iterator[Row]:
    none, *others = [median(times) for times in took]
    for isolation, found in zip(asked[1:], others, strict=True):
        how = f"{isolation.layer}, frozen off turn" if isolation.freeze else isolation.layer
        yield Row(f"{what}, {how}", found * scale, unit, f"no isolation ({none * scale:.1f} {unit})", found / none)
