"""A batch from its first game to its last: bots are started, sit down, and are ended."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from msgspec.structs import replace

from protocol.errors import MaliceError
from referee.bot import BotProcess, read_start_time
from referee.errors import MemoryFault
from referee.exchange import Abandoned
from referee.game_runner import GameRunner, Seat, Watch
from referee.isolation.layers import name_common_isolation
from referee.records import Batch, BatchDone, GameOrder, Player, RefereeFault, Report, Started, StderrLine
from referee.seat import BYE_WAIT_NS, BotSeat, SeatObserver


class BatchSeat(Seat, Protocol):
    """A seat for all games of a batch."""

    isolation: tuple[str, ...]
    """What is in force around who sits there; empty where there is nothing to isolate."""

    def leave(self) -> None:
        """Say that no game follows."""

    def end(self, deadline: int) -> None:
        """Be gone before the deadline (monotonic nanoseconds)."""


def play_batch(
    batch: Batch,
    guard: int | None,
    tell: Callable[[Report], None],
    guests: Mapping[str, BatchSeat] | None = None,
    watch: Callable[[GameOrder], Watch] | None = None,
) -> None:
    """Play every game of a batch; its bots start with it and are gone when this returns.

    Args:
        batch: the games.
        guard: a descriptor whose hang-up says that nobody waits for the records.
        tell: takes each report.
        guests: by label, who sits there instead of a bot process.
        watch: is told of every game that begins, and returns what is told of its actions.

    Raises:
        Abandoned: nobody waits for the records any more.
    """
    if batch.cpus:
        os.sched_setaffinity(0, batch.cpus)

    def on_start(bot: BotProcess) -> None:
        tell(Started(bot.pid, read_start_time(bot.pid) or 0))

    def seat_bot(player: Player) -> BatchSeat:
        on_stderr = _stderr_reporter(player.label, tell) if batch.stderr else None
        return BotSeat(player, batch.init_ms, guard, batch.isolation, SeatObserver(on_start, on_stderr))

    seats = [(guests or {}).get(player.label) or seat_bot(player) for player in batch.players]
    try:
        for order in batch.games:
            try:
                seated = [seats[player] for player in order.seating]
                record = GameRunner(batch, order, seated, watch=watch(order) if watch else None).play()
                tell(replace(record, isolation=name_common_isolation(seat.isolation for seat in seats)))
            except Abandoned:
                raise
            except MaliceError as error:
                for seat in seats:
                    seat.dismiss()  # it may be in the middle of the game
                tell(RefereeFault(order.key, str(error), isinstance(error, MemoryFault)))
        for seat in seats:
            seat.leave()
        deadline = time.monotonic_ns() + BYE_WAIT_NS
        for seat in seats:
            seat.end(deadline)
    finally:
        for seat in seats:
            seat.dismiss()
    tell(BatchDone())


def _stderr_reporter(label: str, tell: Callable[[Report], None]) -> Callable[[str], None]:
    """Return what reports the lines of one bot, also while it is killed because nobody listens any more."""

    def report(line: str) -> None:
        with contextlib.suppress(Abandoned, BrokenPipeError):
            tell(StderrLine(label, line))

    return report
