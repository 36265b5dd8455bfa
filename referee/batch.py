"""Plays a batch: starts its bots, seats them for each game, and ends them."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from malice.protocol.errors import MaliceError
from malice.referee.bot import BotProcess, read_start_time
from malice.referee.clock import MS
from malice.referee.errors import Abandoned, GameFault, MemoryFault, TimeIsUp
from malice.referee.game_runner import GameRunner
from malice.referee.isolation.boxes import name_common_isolation
from malice.referee.records import (
    Batch,
    BatchDone,
    GameBegun,
    GameOrder,
    Player,
    Record,
    RefereeFault,
    Report,
    Started,
    StderrLine,
    TimeUp,
)
from malice.referee.seat import BYE_WAIT_NS, BotSeat, CrashAtBye, Seat, SeatObserver, Watch


class BatchSeat(Seat, Protocol):
    """A seat for all games of a batch."""

    isolation: tuple[str, ...]
    """The isolation in force around the player; empty if there is nothing to isolate."""

    def leave(self) -> None:
        """Announce that no game follows."""

    def end(self, deadline: int) -> CrashAtBye | None:
        """End before the deadline (monotonic nanoseconds); return how the player crashed, if it did."""


def play_batch(
    batch: Batch,
    guard: int | None,
    report: Callable[[Report], None],
    guests: Mapping[str, BatchSeat] | None = None,
    watch: Callable[[GameOrder], Watch] | None = None,
    is_ended: Callable[[], bool] = lambda: False,
    reseat: Callable[[GameOrder, Sequence[BatchSeat]], Sequence[Seat]] = lambda order, seats: seats,
) -> None:
    """Play every game of a batch; its bots start with it and have ended when this returns.

    The last record waits until they have: it tells how a bot crashed when no game was left.

    Args:
        batch: the games.
        guard: a descriptor whose hang-up means that nobody waits for the records.
        report: receives each report.
        guests: by label, the seats of players that are not bot processes.
        watch: receives every game that begins; returns the function that receives its actions.
        is_ended: asked before each game; if true, neither it nor any later game is played.
        reseat: returns, by seat, who plays a game in the place of those who sit there.

    Raises:
        Abandoned: nobody waits for the records.
        TimeIsUp: a signal said so; the game that was played is reported as given up.
    """
    if batch.cpus:
        os.sched_setaffinity(0, batch.cpus)

    def on_start(bot: BotProcess) -> None:
        report(Started(bot.pid, read_start_time(bot.pid) or 0))

    def seat_bot(player: Player) -> BatchSeat:
        on_stderr = _make_stderr_reporter(player.label, report) if batch.stderr else None
        return BotSeat(player, batch.init_ms, guard, batch.isolation, SeatObserver(on_start, on_stderr))

    seats = [(guests or {}).get(player.label) or seat_bot(player) for player in batch.players]
    last: Record | None = None
    try:
        for order in batch.games:
            if is_ended():
                break
            report(GameBegun(order.key))
            seated = reseat(order, [seats[player] for player in order.seating])
            runner, begin = None, time.monotonic_ns()
            try:
                told = watch(order) if watch else None
                # One game checked fully costs little, and a game that answers wrongly seldom waits for the second.
                runner = GameRunner(batch, order, seated, watch=told, checked=order is batch.games[0])
                record = runner.play()
                record = replace(record, isolation=name_common_isolation(seat.isolation for seat in seats))
                if order is batch.games[-1]:
                    last = record
                else:
                    report(record)
            except Abandoned:
                raise
            except TimeIsUp:
                used = runner.measure_used_ms() if runner else (0.0,) * len(seats)
                report(TimeUp(order.key, (time.monotonic_ns() - begin) / MS, used))
                raise
            except Exception as error:
                for seat in seats:
                    seat.dismiss()  # it may be in the middle of the game
                report(_make_fault(order, error))
        farewells: list[CrashAtBye | None] = [None] * len(seats)
        try:
            _take_leave(seats, farewells)
        finally:  # the game is over, whatever stops us
            if last:
                report(_add_farewells(last, [farewells[player] for player in batch.games[-1].seating]))
    finally:
        for seat in seats:
            seat.dismiss()
    report(BatchDone())


def _take_leave(seats: Sequence[BatchSeat], farewells: list[CrashAtBye | None]) -> None:
    """Say bye to all, and note how each of them ended."""
    for seat in seats:
        seat.leave()
    deadline = time.monotonic_ns() + BYE_WAIT_NS
    for player, seat in enumerate(seats):
        farewells[player] = seat.end(deadline)


def _add_farewells(record: Record, farewells: Sequence[CrashAtBye | None]) -> Record:
    """Add to a record how the bots at its seats crashed after it."""
    reports = tuple(
        replace(report, farewell=found.sentence, farewell_stderr=found.stderr) if found else report
        for report, found in zip(record.seats, farewells, strict=True)
    )
    return replace(record, seats=reports)


def _make_fault(order: GameOrder, error: Exception) -> RefereeFault:
    """Make the report on a game that cannot go on; re-raise an error that is a bug of ours."""
    if isinstance(error, GameFault):
        return RefereeFault(order.key, str(error), rules=True, report=error.report)
    if isinstance(error, MaliceError):
        return RefereeFault(order.key, str(error), isinstance(error, MemoryFault))
    raise error


def _make_stderr_reporter(label: str, report: Callable[[Report], None]) -> Callable[[str], None]:
    """Make a function that reports the lines of one bot; it does not fail once nobody listens."""

    def report_line(line: str) -> None:
        with contextlib.suppress(Abandoned, BrokenPipeError):
            report(StderrLine(label, line))

    return report_line
