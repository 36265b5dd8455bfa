"""From a fault of the bot to the step that it belongs to, and to words that help its author."""

from __future__ import annotations

import msgspec

from protocol.codec import UNREADABLE, excerpt
from protocol.errors import MaliceError
from tournaments.check.exam_log import Trouble
from tournaments.check.hints import explain_flush, give_hint
from tournaments.check.report import Finding
from tournaments.entries import hidden_modules
from tournaments.entries.bots import BotSpec

SHOWN_ACTIONS = 12
READS_ALL = (
    "or, if that is done, read line by line and answer each: who reads to the end of the input first"
    " (`sys.stdin.read()`) waits for ever, as it ends only after `bye`"
)
TO_STDERR = "print to standard error what is no answer; the referee bears a few such lines, not a hundred"


class Failed(MaliceError):
    """A part of the examination found out by itself that its step failed."""

    def __init__(self, fault: Finding) -> None:
        super().__init__(fault.cause)
        self.fault = fault


def find_step(trouble: Trouble, part: str) -> str:
    """Return the step that failed while `part` was examined, which is a step itself."""
    silence = trouble.silence
    if trouble.stray is not None and "not JSON" in trouble.sentence:
        if not is_broken_answer(trouble):
            return "stdout"
        return "hello" if part == "starts" else "answers"
    if silence is not None and _unflushed(trouble):
        return "flushes"
    if part == "starts":
        return "hello" if trouble.code == "protocol" else "starts"
    if trouble.code == "protocol" or "no newline" in trouble.sentence:
        return "answers"
    if trouble.code == "timeout":
        slow = silence is not None and (silence.late or silence.busy)
        return "clock" if trouble.what == "move" or slow else "answers"
    return part


def make_finding(trouble: Trouble, bot: BotSpec, where: str) -> Finding:
    """Tell a fault to the author of the bot."""
    return Finding(
        cause=f"{trouble.code}: {_sentence(trouble)}",
        expected=_expected(trouble),
        hint=_hint(trouble, bot),
        where=where,
        lines=(*trouble.lines, *_afterwards(trouble)),
        exit=trouble.exit,
        stderr=trouble.stderr,
    )


def explain_invalid_json(line: bytes) -> str:
    """Return what is wrong with a line that is no JSON object."""
    try:
        msgspec.json.decode(line)
    except RecursionError:
        return "it is nested too deep"
    except UNREADABLE as error:
        return str(error)
    return "it is no object"


def _meant_as_answer(line: bytes) -> bool:
    return line.lstrip().startswith(b"{")


def is_broken_answer(trouble: Trouble) -> bool:
    """Tell whether all that came instead of the answer was one, but for its spelling."""
    return trouble.stray is not None and "not JSON" in trouble.sentence and _meant_as_answer(trouble.stray)


def _unflushed(trouble: Trouble) -> bool:
    """Tell whether an answer waited in a buffer: it came at the exit, or nothing at all ever came."""
    silence = trouble.silence
    assert silence
    if silence.flushed:
        return True
    never = trouble.what == "hello" and trouble.silent
    return never and not (silence.unread or silence.busy or silence.late)


def _sentence(trouble: Trouble) -> str:
    """Return the referee's sentence, with what was found out instead of what it guessed."""
    told, silence = trouble.sentence, trouble.silence
    if is_broken_answer(trouble):
        assert trouble.stray is not None
        return f"no answer to {trouble.what}, but a line that is no JSON: {explain_invalid_json(trouble.stray)}"
    if silence is None or not trouble.silent:
        return told
    told = told.partition(" (")[0]
    if silence.late:
        return f"{told}; something came {silence.late_ms:.0f} ms later"
    if silence.unread:
        return f"{told}; it has not even read the request"
    if silence.busy:
        return f"{told}; it goes on thinking"
    if silence.flushed:
        waited = "it had waited in a buffer"
        if trouble.what == "hello":
            waited += ", or the bot for the end of the input"
        return f"{told}; something came only when its input was closed: {waited}"
    return f"{told}; it has read the request, is idle, and says nothing"


def _expected(trouble: Trouble) -> str:
    if trouble.what == "hello":
        answer = '{"id":1,"protocol":1}'
    elif trouble.what == "move":
        some = ", ".join(trouble.legal[:SHOWN_ACTIONS]) + (", ..." if len(trouble.legal) > SHOWN_ACTIONS else "")
        answer = '{"id":ID,"move":ACTION}' + (f" with one of the actions {some}" if some else "")
    else:
        answer = '{"id":ID}'
    return f"one line within {trouble.limit_ms} ms of `{trouble.what}`: {answer}"


def _hint(trouble: Trouble, bot: BotSpec) -> str:
    silence = trouble.silence
    if trouble.code == "crash" and (hidden := hidden_modules.explain_hidden_module(trouble.stderr, trouble.isolation)):
        return hidden
    if is_broken_answer(trouble):
        return "write each answer with a JSON library, in UTF-8, on one line"
    if trouble.stray is not None and "not JSON" in trouble.sentence:
        return TO_STDERR
    if silence is None or not trouble.silent:
        return give_hint(trouble.code, trouble.sentence)
    if _unflushed(trouble):
        return f"{explain_flush(bot)}; {READS_ALL}" if trouble.what == "hello" else explain_flush(bot)
    if silence.late or silence.busy:
        if trouble.what == "move":
            return "think less: what is left of the time is in `clock` of every `move`"
        return "do less before this answer, or ask for a larger init_ms"
    if silence.unread:
        return "read your input line by line, one answer for each line, and start faster than init_ms"
    if trouble.what == "move":
        return f"find out what it waits for: a lock, another program, more input? {explain_flush(bot)}"
    return f"answer every line but `bye`: those that are no `move` by the bare id; {explain_flush(bot)}"


def _afterwards(trouble: Trouble) -> tuple[str, ...]:
    silence = trouble.silence
    if silence is None:
        return ()
    if silence.late:
        return (f"* {silence.late_ms:.0f} ms later", f"< {excerpt(silence.late)}")
    if silence.flushed:
        return ("* its input is closed", f"< {excerpt(silence.flushed)}")
    return ("* nothing more comes",)
