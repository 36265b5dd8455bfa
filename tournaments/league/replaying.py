"""What is done with games, each alone, so that many processes can do it: examine, export, measure, pack, check.

As a program, `python -P -m malice.tournaments.league.replaying WORK FILE TOURNAMENT` reads rows of games on
stdin and writes what came of them on stdout; with the word `pack` or `check` alone, it reads records. `replayers`
starts it.
"""

from __future__ import annotations

import signal
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from malice.protocol.errors import MaliceError
from malice.referee.bot import request_parent_death_signal
from malice.referee.luck import find_luck, measure_luck
from malice.referee.packed_events import encode_events, pack_asks
from malice.referee.records import Record
from malice.referee.replay import check_record, replay_contents
from malice.tournaments.league.examiner import GameCheck
from malice.tournaments.league.export import encode_decisions, encode_game
from malice.tournaments.league.publication import choose_publication
from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.league.rows import RecordedRow
from malice.tournaments.league.series import Score
from malice.tournaments.league.store import Store

Piece = tuple[RecordedRow, Score | None]
"""A game as it is stored, and the score of its series after it."""
T = TypeVar("T")
Replay = Callable[[T], bytes]
"""Returns what comes of a game; raises what is wrong with it."""
PACK = "pack"
CHECK = "check"

_lines = msgspec.json.Decoder(Record)
_LENGTH = struct.Struct(">I")


def make_replay(work: str, league: LeagueReader) -> Replay[Piece]:
    """Return what does a work with each game of the chosen tournament.

    Args:
        work: `examine` compares a game with its part, and yields nothing, or why its play cannot be checked; `games`
            and `decisions` yield the lines of `malice export`; `luck` the luck of each seat, whose numbers are msgpack.
        league: the league.
    """
    if work == "examine":
        examiner = GameCheck(league)

        def examine(piece: Piece) -> bytes:
            return examiner.examine(*league.unpack(piece[0])).encode()

        return examine
    if work == "luck":
        lucks = {name: find_luck(ruleset) for name, ruleset in league.tournament().rulesets.items()}

        def measure(piece: Piece) -> bytes:
            game, record = league.unpack(piece[0])
            luck = lucks[game.ruleset]
            assert luck, "nobody asks where nothing was fitted"
            return msgspec.msgpack.encode(measure_luck(luck, record))

        return measure
    if work == "decisions":
        return lambda piece: b"".join(encode_decisions(league.unpack(piece[0])[1]))
    publication = choose_publication(league)
    return lambda piece: encode_game(league.unpack(piece[0])[1], piece[1], publication)


def pack_events(record: Record) -> bytes:
    """Return what happened in a game, packed as its referee would have done.

    Raises:
        RecordError: the game does not replay.
    """
    return encode_events(pack_asks(list(replay_contents(record))))


def find_replay_error(line: bytes) -> bytes:
    """Return what is wrong with a record, a line of JSON, as a sentence; nothing if it replays."""
    try:
        check_record(_lines.decode(line))
    except MaliceError as error:
        return str(error).encode(errors="replace")
    except Exception as error:  # a forged record may break the rules of a game in any way
        return f"does not replay: {type(error).__name__}: {error}".encode(errors="replace")
    return b""


def write_frame(out: IO[bytes], body: bytes) -> None:
    """Write a message, its length before it."""
    out.write(_LENGTH.pack(len(body)) + body)
    out.flush()


def read_frame(source: IO[bytes]) -> bytes | None:
    """Return the next message; None if none is left, or not all of it."""
    head = source.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    body = source.read(length)
    return body if len(body) == length else None


def _replay_all(replay: Replay[T], pieces: list[T]) -> Iterator[bytes]:
    """Yield what comes of the games before the first with which something is wrong."""
    for piece in pieces:
        try:
            done = replay(piece)
        except Exception:  # who sent the game does it again, and says what is wrong
            return
        yield done


def _serve(decode: Callable[[bytes], list[T]], replay: Replay[T]) -> None:
    """Replay games until stdin ends."""
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        write_frame(sys.stdout.buffer, msgspec.msgpack.encode(list(_replay_all(replay, decode(frame)))))


def main(words: list[str]) -> None:
    """Do the work that the words name; end with the one who asked, at the latest when nothing more comes."""
    request_parent_death_signal(signal.SIGKILL)
    if words == [PACK]:
        _serve(msgspec.msgpack.Decoder(list[Record]).decode, pack_events)
        return
    if words == [CHECK]:
        _serve(msgspec.msgpack.Decoder(list[bytes]).decode, find_replay_error)
        return
    work, path, tournament = words
    with Store(Path(path)) as store:
        store.select(tournament)
        _serve(msgspec.msgpack.Decoder(list[Piece]).decode, make_replay(work, store))


if __name__ == "__main__":
    main(sys.argv[1:])
