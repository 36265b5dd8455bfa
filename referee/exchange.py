"""One request to a bot and its answer: its limits, its times, and the verdict if it fails."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from malice.protocol.errors import MaliceError, ProtocolError
from malice.referee.bot import BotProcess
from malice.referee.clock import MS
from malice.referee.errors import Gone, Late, OutOfCpu, Silent, excuse_standstill
from malice.referee.verdicts import Verdict, describe_answers, judge_late_answer

FAILURES = (ProtocolError, Late, OutOfCpu, Gone)
"""What can end a request without an answer."""
CPU_LOOK_NS = 10 * MS
"""The shortest time between two looks at the CPU time of a thinking bot."""
EXIT_WAIT_S = 0.5
"""How long to wait for the exit status of a bot after it closes its output."""


class Exchange:
    """A request from the moment it is written until its answer is read, or it has failed.

    Args:
        what: the type of the request, for the sentence of a verdict.
        id: its number.
        decoder: for the struct of the answer.
        limit: wall time for write and answer together, in nanoseconds; None for no limit.
        cpu_limit: CPU time for the same, in nanoseconds; None for no limit.
    """

    unsent = b""
    """What the bot has not taken in yet."""
    start = 0
    """When the clock began to run, monotonic nanoseconds; 0 before."""
    cpu = 0
    """The CPU time of the bot at that moment."""
    deadline: int | None = None
    done = False
    """Whether the answer was read, or the request has failed."""
    stray = 0
    """How many stray lines came instead of an answer."""
    answer: Any = None
    error: MaliceError | None = None
    wall = used = 0
    """Wall and CPU time until the answer or the failure, in nanoseconds."""

    def __init__(
        self, what: str, id: int, decoder: msgspec.json.Decoder[Any], limit: int | None, cpu_limit: int | None
    ) -> None:
        self.what = what
        self.id = id
        self.decoder = decoder
        self.limit = limit
        self.cpu_limit = cpu_limit

    def fail(self, error: MaliceError, cpu: int) -> None:
        """Note the failure and its time; `cpu` is the CPU time of the bot now."""
        self.error, self.done = error, True
        if self.start:
            self.wall = time.monotonic_ns() - self.start
            self.used = max(0, cpu - self.cpu)

    def timeout_ms(self, bot: BotProcess) -> int | None:
        """How long to wait for an event; None for ever.

        Raises:
            Late, OutOfCpu: the time is used up.
        """
        timeout = None
        if self.deadline is not None:
            left = self.deadline - time.monotonic_ns()
            if left <= 0:
                raise self._describe_silence(bot)
            timeout = -(-left // MS)
        if self.cpu_limit is not None:
            # Unless several threads think, at least as much wall time must pass first.
            left = self.cpu + self.cpu_limit - bot.all_cpu_ns()
            if left < 0:
                raise OutOfCpu("it still thinks")
            look = -(-max(left, CPU_LOOK_NS) // MS)
            timeout = look if timeout is None else min(look, timeout)
        return timeout

    def _describe_silence(self, bot: BotProcess) -> Late:
        if self.unsent:
            return Late("it does not read its input")
        return Late("the last line has no newline") if bot.buffer else Silent()

    def judge(self, bot: BotProcess, slowest: int | None) -> Verdict:
        """Judge a failed request; `slowest` is the longest wait for such an answer before.

        Raises:
            MachineFault: the bot is not to blame.
        """
        error = self.error
        if isinstance(error, Late) and self.limit is not None:
            excuse_standstill(self.wall - self.limit)
        verdict = self._judge_error(bot, slowest)
        verdict.wall, verdict.cpu = self.wall, self.used
        verdict.late = self._measure_lateness(error)
        return verdict

    def _measure_lateness(self, error: MaliceError | None) -> tuple[int, int] | None:
        """How long a late answer took, and its limit, on the clock that ran out."""
        if isinstance(error, OutOfCpu):
            return self.used, self.cpu_limit or 0
        return (self.wall, self.limit or 0) if isinstance(error, Late) else None

    def _judge_error(self, bot: BotProcess, slowest: int | None) -> Verdict:
        what, stray = self.what, self.stray
        wall, cpu = f"{(self.limit or 0) / MS:g} ms", f"{(self.cpu_limit or 0) / MS:g} ms of CPU time"
        match self.error:
            case Gone() as error:
                return judge_end(bot, str(error))
            case OutOfCpu() as error:
                return judge_late_answer(what, cpu, stray, str(error))
            case Late() if bot.out_of_memory():
                return judge_late_answer(what, wall, stray, "it has run out of memory")
            case Silent():
                # The process answered every earlier request, or it would have ended there.
                return judge_late_answer(what, wall, stray, describe_answers(what, self.id - 1, slowest), silent=True)
            case Late() as error:
                return judge_late_answer(what, wall, stray, str(error))
            case error:
                return Verdict("protocol", str(error))


def judge_end(bot: BotProcess, how: str) -> Verdict:
    """The verdict on a bot that is gone; `how` says how it ended.

    Raises:
        MachineFault: the bot is not to blame.
    """
    bot.thaw()  # it may be frozen while it exits
    status = bot.exit_status(EXIT_WAIT_S)
    if excuse := bot.machine_fault():
        raise excuse
    if status is None:
        return Verdict("crash", f"the bot {how}, and its process lives on")
    why = ": it used more memory than it may" if bot.out_of_memory() else ""
    return Verdict("crash", f"the bot {'was ' if status.startswith('killed') else ''}{status}{why}")
