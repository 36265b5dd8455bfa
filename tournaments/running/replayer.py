"""A process that replays records: a record line in, a line out that says what is wrong with it, empty if nothing.

Start it with `python -P -m tournaments.running.replayer`. It ends when its input does.
"""

from __future__ import annotations

import os
import signal
import sys

import msgspec

from protocol.errors import MaliceError
from referee.records import Record
from referee.replay import check_record


def main() -> None:
    """Replay records until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started us ends us, by closing our input
    decoder = msgspec.json.Decoder(Record)
    for line in sys.stdin.buffer:
        try:
            os.write(sys.stdout.fileno(), msgspec.json.encode(_find_fault(decoder, line)) + b"\n")
        except BrokenPipeError:
            return


def _find_fault(decoder: msgspec.json.Decoder[Record], line: bytes) -> str:
    try:
        check_record(decoder.decode(line))
    except MaliceError as error:
        return str(error)
    except Exception as error:  # a forged record may break the rules of a game in any way
        return f"does not replay: {type(error).__name__}: {error}"
    return ""


if __name__ == "__main__":
    main()
