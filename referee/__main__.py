"""The referee process: a batch line in, a record line out for each of its games.

Started as `python -P -m referee`. It ends, and its bots with it, when its input is closed.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from typing import Any

import msgspec

from protocol.errors import MaliceError
from referee.bot import Bot
from referee.exchange import Abandoned
from referee.records import Batch, BatchDone, RefereeFault, Report, Started
from referee.seat import BYE_WAIT_NS, BotSeat
from referee.table import Table

_encoder = msgspec.json.Encoder()


def main() -> int:
    """Play batches until the input ends; return the exit status."""
    decoder = msgspec.json.Decoder(Batch)
    # What is alive now stays alive: the collector need not look at it again during a game.
    gc.freeze()
    for line in iter(sys.stdin.buffer.readline, b""):
        try:
            batch = decoder.decode(line)
        except msgspec.MsgspecError as error:
            print(f"referee: expected a batch line: {error}", file=sys.stderr)
            return 2
        try:
            play_batch(batch, sys.stdin.fileno(), report)
        except (Abandoned, BrokenPipeError):
            return 0
    return 0


def report(message: Report) -> None:
    """Write one line to the process that gave the batch."""
    line = _encoder.encode(message) + b"\n"
    while line:
        line = line[os.write(1, line) :]


def play_batch(batch: Batch, guard: int | None, tell: Any) -> None:
    """Play every game of a batch; its bots start with it and are gone when this returns.

    Raises:
        Abandoned: the hang-up of `guard` said that nobody waits for the records.
    """
    if batch.cpus:
        os.sched_setaffinity(0, batch.cpus)

    def on_start(bot: Bot) -> None:
        tell(Started(bot.pid, bot.start_time()))

    seats = [BotSeat(player, batch.init_ms, guard, on_start) for player in batch.players]
    try:
        for order in batch.games:
            try:
                record = Table(batch, order, [seats[player] for player in order.seating]).play()
            except MaliceError as error:
                if isinstance(error, Abandoned):
                    raise
                tell(RefereeFault(order.key, str(error)))
            else:
                tell(record)
        for seat in seats:
            seat.leave()
        deadline = time.monotonic_ns() + BYE_WAIT_NS
        for seat in seats:
            seat.end(deadline)
    finally:
        for seat in seats:
            seat.dismiss()
    tell(BatchDone())


if __name__ == "__main__":
    sys.exit(main())
