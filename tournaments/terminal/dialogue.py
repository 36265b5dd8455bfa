"""The dialogue of referee and bot in a stored game: rebuilt from the record, with the raw evidence."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from malice.protocol.codec import encode
from malice.protocol.messages import BareAnswer, GameEnd, GameStart, Move
from malice.referee.bot import EXCERPT_BYTES
from malice.referee.connection import SHOWN_BYTES
from malice.referee.nouns import format_count
from malice.referee.records import Record, RecordedVerdict
from malice.referee.replay import VERDICT
from malice.referee.requests import ReplayedRequest, replay_requests
from malice.tournaments.sanitizer import sanitize

REBUILT = """\
# rebuilt: every request as it was sent, but numbered as in a fresh process; of each answer the action and the
# note. A record holds neither hello nor bye, nor the answer to game_end, nor an answer that was not played."""
CUT = 16
"""How many characters at the end of a cut message not to compare: the cut may split a character."""


class Message(Struct, frozen=True):
    """One line of a dialogue."""

    seat: int
    direction: str
    """`>` to the bot, `<` from it, `stderr`; or what ended it: `verdict`, `time`, `exit`."""
    line: str
    raw: bool
    """Whether the record holds the line as it was sent; otherwise it is rebuilt."""


def rebuild_dialogue(record: Record, rngs: Sequence[int], seat: int) -> Iterator[Message]:
    """Yield the dialogue of one seat in a game.

    Args:
        record: the game.
        rngs: the rng that each seat received, by seat.
        seat: the seat.

    Raises:
        RecordError: the record does not replay.
    """
    fault = next((fault for fault in record.faults if fault.seat == seat), None)
    requests = list(
        replay_requests(record, rngs, seat, itertools.count(2).__next__, listed=record.seats[seat].wants_legal)
    )
    if fault:
        requests = requests[: _count_sent(requests, fault)]
    for place, each in enumerate(requests):
        yield Message(seat, ">", _text(encode(each.request)), False)
        if answer := _answer(each, record):
            yield Message(seat, "<", answer, False)
        elif isinstance(each.request, GameStart) and (not fault or place + 1 < len(requests)):
            yield Message(seat, "<", _text(encode(BareAnswer(each.request.id))), False)
    if fault:
        yield Message(seat, "verdict", f"{fault.code}: {fault.sentence}", True)
        if duration := _describe_time(record, seat):
            yield Message(seat, "time", duration, True)
        if fault.exit is not None:
            yield Message(seat, "exit", fault.exit, True)
        for message in fault.lines:
            yield Message(seat, message[0], message[2:], True)
        for line in fault.stderr.splitlines():
            yield Message(seat, "stderr", line, True)


def _describe_time(record: Record, seat: int) -> str | None:
    """The time that passed between a request and its verdict; None if no request was written."""
    for (number, action), wall, cpu in zip(record.actions, record.micros, record.cpu_micros, strict=True):
        if number == seat and action.startswith(VERDICT) and wall:
            return f"{wall / 1000:.1f} ms, CPU {cpu / 1000:.1f} ms"
    return None


def _answer(each: ReplayedRequest, record: Record) -> str | None:
    """The answer to a `move`; None for other requests and after a verdict."""
    if each.index is None or each.played.startswith(VERDICT):
        return None
    note = {"note": record.notes[each.index]} if each.index in record.notes else {}
    return _text(msgspec.json.encode({"id": each.request.id, "move": each.played, **note}))


def _count_sent(requests: Sequence[ReplayedRequest], fault: RecordedVerdict) -> int:
    """Count the requests up to the last one that was certainly sent: it was answered, or stored with the verdict."""
    shown = [_strip_id(message[2:]) for message in fault.lines if message.startswith("> ")]
    return max((count for count, each in enumerate(requests, start=1) if _was_sent(each, shown)), default=0)


def _was_sent(each: ReplayedRequest, shown: Sequence[str]) -> bool:
    answered = isinstance(each.request, Move) and not each.played.startswith(VERDICT)
    return answered or isinstance(each.request, GameEnd) or _is_in(shown, _strip_id(_text(encode(each.request))))


def _is_in(shown: Sequence[str], line: str) -> bool:
    return any(line == each or (len(each) > SHOWN_BYTES // 2 and line.startswith(each[:-CUT])) for each in shown)


def _strip_id(line: str) -> str:
    return re.sub(r'^(\{"type":"\w+","id":)\d+(?:(,"game":)\d+)?', r"\1\2", line)


def _text(line: bytes) -> str:
    return line.decode().rstrip("\n")


def format_dialogue(record: Record, seat: int, messages: Sequence[Message]) -> Iterator[str]:
    """Yield a dialogue as text; the raw evidence comes last, under a heading."""
    label = sanitize(record.entries[seat][0])
    yield f"# game {record.key} · {sanitize(record.ruleset)} · seat {seat}, {label}"
    yield REBUILT
    yield from (f"{each.direction} {sanitize(each.line)}" for each in messages if not each.raw)
    if not any(each.raw for each in messages):
        yield "# this seat got no verdict, so neither raw messages nor stderr were kept"
        return
    words = {each.direction: sanitize(each.line) for each in messages if each.direction in ("verdict", "time", "exit")}
    yield f"# verdict: {words['verdict']}"
    if "time" in words:
        yield f"# the verdict came after {words['time']}"
    if "exit" in words:
        yield f"# the process {words['exit']}"
    lines = [each for each in messages if each.raw and each.direction in ("<", ">")]
    yield f"# raw: the last {format_count(len(lines), 'message')} of the process, each up to {SHOWN_BYTES} bytes"
    yield from (f"{each.direction} {sanitize(each.line)}" for each in lines)
    stderr = [each for each in messages if each.direction == "stderr"]
    yield f"# raw: stderr, at most its first and last {EXCERPT_BYTES} bytes" if stderr else "# stderr: nothing"
    yield from (f"| {sanitize(each.line)}" for each in stderr)
