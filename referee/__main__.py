"""The referee process: reads a line per batch, writes a record line per game.

Start it with `python -P -m referee`. When its input closes, it ends, and so do its bots.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
from types import FrameType

import msgspec

from referee.failures import Abandoned
from referee.playing import play_batch
from referee.records import Batch, Report

_encoder = msgspec.json.Encoder()


def main() -> int:
    """Play batches until the input ends; return the exit status."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    decoder = msgspec.json.Decoder(Batch)
    # Objects that exist now stay: the garbage collector need not visit them during a game.
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


def stop(number: int, frame: FrameType | None) -> None:
    """End the process and its bots in order, on a signal."""
    sys.exit(128 + number)


def report(message: Report) -> None:
    """Write one line to the process that sent the batch, unless that process has closed our input.

    Raises:
        Abandoned: nobody waits for the line.
    """
    poll = select.poll()
    poll.register(sys.stdout, select.POLLOUT)
    poll.register(sys.stdin, 0)
    line = _encoder.encode(message) + b"\n"
    while line:
        if any(descriptor == sys.stdin.fileno() for descriptor, _ in poll.poll()):
            raise Abandoned("the input was closed")
        # A pipe that is ready takes this much without blocking.
        line = line[os.write(sys.stdout.fileno(), line[: select.PIPE_BUF]) :]


if __name__ == "__main__":
    sys.exit(main())
