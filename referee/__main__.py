"""The referee process: reads a line per batch, writes a record line per game.

Start it with `python -P -m malice.referee`. While it plays, an `EndBatch` line ends the batch after the running game.
On SIGUSR1 it gives up the running game, says who used how much of the time, and ends.
When its input closes, it ends, and so do its bots.
"""

from __future__ import annotations

import builtins
import gc
import os
import select
import signal
import sys
from types import FrameType

import msgspec

from malice.referee.batch import play_batch
from malice.referee.errors import Abandoned, DataError, TimeIsUp
from malice.referee.records import Batch, EndBatch, Report

TIME_IS_UP = signal.SIGUSR1

_encoder = msgspec.json.Encoder()


def main() -> int:
    """Play batches until the input ends; return the exit status."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    signal.signal(TIME_IS_UP, give_up)
    # Those of `site` close our input first; a game that calls one would look like a referee that died.
    vars(builtins).update(exit=sys.exit, quit=sys.exit)
    orders = Orders(sys.stdin.fileno())
    # Objects that exist now stay: the garbage collector need not visit them during a game.
    gc.freeze()
    try:
        for order in iter(orders.read, None):
            if isinstance(order, Batch):
                play_batch(order, sys.stdin.fileno(), report, is_ended=orders.is_end_next)
    except DataError as error:
        print(f"referee: {error}", file=sys.stderr)
        return 2
    except (Abandoned, BrokenPipeError, TimeIsUp):
        pass
    return 0


class Orders:
    """The lines of a pipe; unlike those of a file, the next one can be looked at without waiting for it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pending = b""
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        self._decoder = msgspec.json.Decoder(Batch | EndBatch)

    def read(self) -> Batch | EndBatch | None:
        """Wait for a line and return what it says; None at the end of the input.

        Raises:
            DataError: it is no line for a referee.
        """
        while b"\n" not in self._pending and self._receive():
            pass
        line, _, self._pending = self._pending.partition(b"\n")
        return self._decode(line) if line else None

    def is_end_next(self) -> bool:
        """Whether the next line has come and is an `EndBatch`.

        Raises:
            DataError: it is no line for a referee.
        """
        if any(event & select.POLLIN for _, event in self._poll.poll(0)):
            self._receive()
        line, end, _ = self._pending.partition(b"\n")
        return bool(end) and isinstance(self._decode(line), EndBatch)

    def _decode(self, line: bytes) -> Batch | EndBatch:
        try:
            order: Batch | EndBatch = self._decoder.decode(line)
        except msgspec.MsgspecError as error:
            raise DataError(f"expected a batch line: {error}") from None
        return order

    def _receive(self) -> bytes:
        data = os.read(self._descriptor, 1 << 16)
        self._pending += data
        return data


def stop(number: int, frame: FrameType | None) -> None:
    """End the process and its bots in order, on a signal."""
    sys.exit(128 + number)


def give_up(number: int, frame: FrameType | None) -> None:
    """Give up the game that is played, on a signal."""
    raise TimeIsUp


def report(message: Report) -> None:
    """Write one line to the process that sent the batch, unless that process has closed our input.

    A signal that gives up a game waits until the line is whole.

    Raises:
        Abandoned: nobody waits for the line.
    """
    poll = select.poll()
    poll.register(sys.stdout, select.POLLOUT)
    poll.register(sys.stdin, 0)
    line = _encoder.encode(message) + b"\n"
    signal.pthread_sigmask(signal.SIG_BLOCK, [TIME_IS_UP])
    try:
        while line:
            if any(descriptor == sys.stdin.fileno() for descriptor, _ in poll.poll()):
                raise Abandoned("the input was closed")
            # A pipe that is ready takes this much without blocking.
            line = line[os.write(sys.stdout.fileno(), line[: select.PIPE_BUF]) :]
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [TIME_IS_UP])


if __name__ == "__main__":
    sys.exit(main())
