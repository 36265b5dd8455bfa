"""From trouble with the bot to the failed step, and to words that help its author."""

from __future__ import annotations

import re

import msgspec

from malice.protocol.codec import UNREADABLE, excerpt
from malice.protocol.errors import MaliceError
from malice.referee.stray_lines import STRAY_LINES
from malice.tournaments.check.exam_log import Trouble
from malice.tournaments.check.hints import explain_flush, give_hint
from malice.tournaments.check.report import Finding
from malice.tournaments.entries import hidden_modules
from malice.tournaments.entries.bots import Bot

SHOWN_ACTIONS = 12
NOT_JSON = re.compile(r"\bnot? JSON\b")
"""Part of the referee's sentence when a line that is not JSON came instead of an answer."""
READS_ALL = (
    "if it does, read line by line and answer each line: a bot that first reads its whole input"
    " (`sys.stdin.read()`) waits for ever, because the input ends only after `bye`"
)
BARE = "answer every line but `bye`: a line that is not a `move` gets the bare id"
TO_STDERR = f"print everything but answers to standard error; line {STRAY_LINES + 1} of a game forfeits it"


class Failed(MaliceError):
    """A part of the examination failed its own step."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.cause)
        self.finding = finding


def find_step(trouble: Trouble, part: str) -> str:
    """Return the step that failed during `part`, which is the name of a step too."""
    silence = trouble.silence
    if is_stray(trouble):
        return "stdout"
    if is_broken_answer(trouble):
        return "hello" if part == "starts" else "answers"
    if silence is not None and _is_unflushed(trouble):
        return "flushes"
    if part == "starts":
        return "hello" if trouble.code == "protocol" else "starts"
    if trouble.code == "protocol" or "no newline" in trouble.sentence:
        return "answers"
    if trouble.code == "timeout":
        slow = silence is not None and (silence.late or silence.busy)
        return "clock" if trouble.what == "move" or slow else "answers"
    return part


def make_finding(trouble: Trouble, bot: Bot, where: str) -> Finding:
    """Return the finding for the author of the bot."""
    return Finding(
        cause=f"{trouble.code}: {_sentence(trouble)}",
        expected=_expected(trouble),
        hint=_hint(trouble, bot),
        where=where,
        lines=(*trouble.lines, *_list_later_events(trouble)),
        exit=trouble.exit,
        stderr=trouble.stderr,
    )


def explain_invalid_json(line: bytes) -> str:
    """Return why a line is not a JSON object."""
    try:
        msgspec.json.decode(line)
    except RecursionError:
        return "it is nested too deeply"
    except UNREADABLE as error:
        return str(error)
    return "it is not an object"


def is_stray(trouble: Trouble) -> bool:
    """Return whether lines that were not meant as answers are the trouble."""
    return _is_not_json(trouble) and not is_broken_answer(trouble)


def is_broken_answer(trouble: Trouble) -> bool:
    """Return whether a line came that was meant as the answer, but is not JSON."""
    return _is_not_json(trouble) and (trouble.stray or b"").lstrip().startswith(b"{")


def _is_not_json(trouble: Trouble) -> bool:
    """Return whether a line that is not JSON came instead of the answer."""
    return trouble.stray is not None and NOT_JSON.search(trouble.sentence) is not None


def _is_unflushed(trouble: Trouble) -> bool:
    """Return whether an answer waited in a buffer: it came when the input was closed, or never came."""
    silence = trouble.silence
    assert silence
    if silence.flushed:
        return True
    never = trouble.what == "hello" and trouble.silent
    return never and not (silence.unread or silence.busy or silence.late)


def _sentence(trouble: Trouble) -> str:
    """Return the referee's sentence, with the finding of the examination in place of the referee's guess."""
    sentence, silence = trouble.sentence, trouble.silence
    if is_broken_answer(trouble):
        assert trouble.stray is not None
        return f"no answer to {trouble.what}, but a line that is not JSON: {explain_invalid_json(trouble.stray)}"
    if silence is None or not trouble.silent:
        return sentence
    sentence = sentence.partition(" (")[0]
    if silence.late:
        return f"{sentence}; something came {silence.late_ms:.0f} ms later"
    if silence.unread:
        return f"{sentence}; it has not even read the request"
    if silence.busy:
        return f"{sentence}; it is still thinking"
    if silence.flushed:
        waited = "it had waited in a buffer"
        if trouble.what == "hello":
            waited += ", or the bot waited for the end of the input"
        return f"{sentence}; something came only when its input was closed: {waited}"
    return f"{sentence}; it has read the request, is idle, and sends nothing"


def _expected(trouble: Trouble) -> str:
    return f"one line within {trouble.limit_ms} ms of `{trouble.what}`: {_describe_answer(trouble)}"


def _describe_answer(trouble: Trouble) -> str:
    if trouble.what == "hello":
        return '{"id":1,"protocol":1}'
    if trouble.what == "move":
        return _describe_move(trouble.legal)
    return '{"id":ID}'


def _describe_move(legal: tuple[str, ...]) -> str:
    some = ", ".join(legal[:SHOWN_ACTIONS]) + (", ..." if len(legal) > SHOWN_ACTIONS else "")
    return '{"id":ID,"move":ACTION}' + (f" with one of the actions {some}" if some else "")


def _hint(trouble: Trouble, bot: Bot) -> str:
    silence = trouble.silence
    if trouble.code == "crash" and (hidden := hidden_modules.explain_hidden_module(trouble.stderr, trouble.isolation)):
        return hidden
    if is_broken_answer(trouble):
        return "write each answer with a JSON library, in UTF-8, on one line"
    if is_stray(trouble):
        return TO_STDERR if trouble.what == "move" else f"{TO_STDERR}; {BARE}"
    if silence is None or not trouble.silent:
        return give_hint(trouble.code, trouble.sentence)
    if _is_unflushed(trouble):
        return f"{explain_flush(bot)}; {READS_ALL}" if trouble.what == "hello" else explain_flush(bot)
    if silence.late or silence.busy:
        if trouble.what == "move":
            return "think less: the `clock` of every `move` says how much time is left"
        return "do less before this answer, or ask for a larger init_ms"
    if silence.unread:
        return "read your input line by line, one answer for each line, and start faster than init_ms"
    if trouble.what == "move":
        return f"find out what it waits for: a lock, another program, more input? {explain_flush(bot)}"
    return f"{BARE}; {explain_flush(bot)}"


def _list_later_events(trouble: Trouble) -> tuple[str, ...]:
    """Return what happened after the deadline, as lines of a dialogue."""
    silence = trouble.silence
    if silence is None:
        return ()
    if silence.late:
        return (f"* {silence.late_ms:.0f} ms later", f"< {excerpt(silence.late)}")
    if silence.flushed:
        return ("* its input is closed", f"< {excerpt(silence.flushed)}")
    return ("* nothing more comes",)
