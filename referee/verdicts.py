"""Verdicts of the referee on a bot, in words that help its author."""

from __future__ import annotations

import signal
from typing import Literal

from malice.protocol.errors import MaliceError

Code = Literal["crash", "timeout", "protocol", "illegal", "resigned"]
"""The four codes for a bot, in the order of their checks, and the code for a person who gives up."""

FIRST_GUESS = "did you flush your output? do you read all of the input first?"
"""The guess about a process that has never answered."""

QUOTED = 500
"""How many characters of stderr a sentence quotes."""


class Verdict(MaliceError):
    """A seat must stop playing; the table withdraws it, and the game continues without it.

    Args:
        code: the kind of verdict.
        sentence: what happened, for the author of the bot.
        wall: nanoseconds from the request until the seat was cut off.
        cpu: CPU time of the bot in that period, as far as it is known.
        silent: whether no answer came for an unknown reason; the sentence then ends with a guess in parentheses.
        stderr: the stderr of the bot, if the caller has no other access to it.
    """

    def __init__(
        self, code: Code, sentence: str, *, wall: int = 0, cpu: int = 0, silent: bool = False, stderr: str = ""
    ) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.wall = wall
        self.cpu = cpu
        self.silent = silent
        self.stderr = stderr
        self.late: tuple[int, int] | None = None
        """Where the time ran out: how long it took, and the limit, in nanoseconds of the clock that ran out."""

    def quote_stderr(self) -> str:
        """The sentence, with the end of the bot's stderr if there is any."""
        end = self.stderr.strip()[-QUOTED:]
        return f"{self.sentence}; its stderr ends: {end}" if end else self.sentence


def describe_exit(returncode: int) -> str:
    """Describe how a process ended: "exited with status 3" or "killed by signal 11 (SIGSEGV)"."""
    if returncode >= 0:
        return f"exited with status {returncode}"
    try:
        name = signal.Signals(-returncode).name
    except ValueError:
        return f"killed by signal {-returncode}"
    return f"killed by signal {-returncode} ({name})"


def judge_late_answer(what: str, limit: str, stray: int, guess: str, *, silent: bool = False) -> Verdict:
    """The verdict on a bot that has not answered `what` in time.

    Args:
        what: the type of the request.
        limit: the time it had, margin included: "500 ms".
        stray: how many stray lines came instead.
        guess: a possible reason.
        silent: whether the reason is only a guess.
    """
    if stray:
        lines = "a line that is" if stray == 1 else f"{stray} lines that are"
        return Verdict("protocol", f"{lines} not JSON, and no answer to {what}: did you print to stdout?")
    return Verdict("timeout", f"no answer to {what} within {limit} ({guess})", silent=silent)


def describe_answers(what: str, answered: int, slowest: int | None) -> str:
    """Describe how a process that has fallen silent answered before.

    Args:
        what: the type of the unanswered request.
        answered: how many requests it answered before.
        slowest: nanoseconds of its slowest answer to such a request; None if this is the first.
    """
    if not answered:
        return FIRST_GUESS
    requests = "a request" if answered == 1 else f"{answered} requests"
    longest = "" if slowest is None else f", the slowest {what} in {slowest / 1_000_000:.1f} ms"
    return f"it had answered {requests} before{longest}"


def judge_illegal_move(move: str, legal: tuple[str, ...]) -> Verdict:
    """The verdict on an action that is not in the list."""
    shown = ascii(move[:40]) + ("..." if len(move) > 40 else "")
    some = ", ".join(legal[:12]) + (", ..." if len(legal) > 12 else "")
    return Verdict("illegal", f"expected one of {some}; got: {shown}")
