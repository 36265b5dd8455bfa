"""The conversation with a bot: one request, one answer, one deadline."""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

import msgspec

from protocol.codec import decode_answer, excerpt, is_object
from protocol.errors import MaliceError, ProtocolError, StrayLine
from protocol.messages import Answer
from referee.bot import READ_BYTES, BotProcess
from referee.clock import MS
from referee.failures import Abandoned, Gone, Late, OutOfCpu, Silent, excuse_standstill
from referee.verdicts import Verdict, describe_answers, judge_late_answer

A = TypeVar("A", bound=Answer)

STRAY_LINES = 100
STRAY_BYTES = 1 << 20
"""How many stray lines, and bytes in them, a game tolerates."""
MESSAGES_KEPT = 5
SHOWN_BYTES = 4096
"""How much of each kept message a verdict shows."""
CPU_LOOK_NS = 10 * MS
"""The shortest time between two looks at the CPU time of a thinking bot."""
EXIT_WAIT_S = 0.5
"""How long to wait for the exit status of a bot after it closes its output."""


class BotConnection:
    """The connection to one bot: writes requests, reads answers, keeps the last messages as evidence.

    Args:
        bot: the process at the other end.
        guard: a descriptor whose hang-up means that the batch was abandoned.
        on_stray: receives each line that is not a JSON object, before it is judged.
    """

    def __init__(self, bot: BotProcess, guard: int | None, on_stray: Callable[[bytes], None] | None = None) -> None:
        self.bot = bot
        self._guard = guard
        self._on_stray = on_stray
        self._poll = select.poll()
        self._poll.register(bot.stdout, select.POLLIN)
        self._poll.register(bot.pidfd, select.POLLIN)
        self._poll.register(bot.stderr, select.POLLIN)
        if guard is not None:
            self._poll.register(guard, 0)
        self._messages: deque[tuple[str, bytes]] = deque(maxlen=MESSAGES_KEPT)
        self._slowest: dict[str, int] = {}
        """By type of request, the longest wait for an answer, in nanoseconds, since the process started."""
        self.start_game()

    def start_game(self) -> None:
        """Reset the counts of stray lines and idle time."""
        self.stray = 0
        self.first_stray = ""
        """The start of the first stray line, for people."""
        self.idle = 0
        """CPU time off turn, in nanoseconds."""
        self._stray_bytes = 0
        self._cpu_seen: int | None = None
        self._cpu_deadline: int | None = None

    def evidence(self) -> tuple[str, ...]:
        """Return the last messages, oldest first, each marked with its direction."""
        return tuple(
            mark + line[:SHOWN_BYTES].decode("utf-8", "backslashreplace").rstrip("\n") for mark, line in self._messages
        )

    def ask(
        self,
        line: bytes,
        what: str,
        id: int,
        decoder: msgspec.json.Decoder[A],
        limit: int | None,
        cpu_limit: int | None = None,
    ) -> tuple[A, int, int]:
        """Write a request; return the answer, and its wall and CPU time in nanoseconds.

        Args:
            line: the request, LF included.
            what: its type, for the sentence of a verdict.
            id: its number.
            decoder: for the struct of the answer.
            limit: wall time for write and answer together, in nanoseconds; None for no limit.
            cpu_limit: CPU time for the same, in nanoseconds; None for no limit.

        Raises:
            Verdict: the bot is gone or late, or its answer is wrong.
            MachineFault: the bot is gone or late through no fault of its own.
            Abandoned: nobody waits for the game.
        """
        stray_before = self.stray
        start = cpu = 0
        deadline: int | None = None
        # The sum over all children takes ten times as long to read: read it only if the clock counts it.
        cpu_ns = self.bot.cpu_ns if cpu_limit is None else self.bot.all_cpu_ns
        try:
            self._read_early_output()
            self.bot.thaw()
            self._messages.append(("> ", line))
            cpu = cpu_ns()
            self._count_idle(cpu, (cpu_limit is None) == (self._cpu_deadline is None))
            self._cpu_deadline = None if cpu_limit is None else cpu + cpu_limit
            # From here, not from the end of the write: on one processor the bot often thinks before we return.
            start = time.monotonic_ns()
            deadline = None if limit is None else start + limit
            self._write(line, deadline)
            answer, read = self._await_answer(id, decoder, deadline)
            end = cpu_ns()
            self._cpu_seen = self.bot.all_cpu_ns() if self.bot.runs_off_turn else end
            used = max(0, end - cpu)
            if cpu_limit is not None and used > cpu_limit:
                raise OutOfCpu("it came later")
            self.bot.freeze()
            wall = read - start
            if wall > self._slowest.get(what, 0):
                self._slowest[what] = wall
            return answer, wall, used
        except (ProtocolError, Late, OutOfCpu, Gone) as error:
            now, cpu_now = time.monotonic_ns(), cpu_ns()
            if isinstance(error, Late) and deadline is not None:
                excuse_standstill(now - deadline)
            limits = (f"{(limit or 0) / MS:g} ms", f"{(cpu_limit or 0) / MS:g} ms of CPU time")
            verdict = self._judge(error, what, id, limits, self.stray - stray_before)
            if start:
                verdict.wall, verdict.cpu = now - start, max(0, cpu_now - cpu)
            raise verdict from None

    def _judge(self, error: MaliceError, what: str, id: int, limits: tuple[str, str], stray: int) -> Verdict:
        """Return the verdict on a failed request.

        Args:
            error: what went wrong.
            what: the type of the request.
            id: its number.
            limits: the allowed wall time and CPU time, in words.
            stray: how many stray lines came instead of an answer.

        Raises:
            MachineFault: the bot is not to blame.
        """
        wall, cpu = limits
        match error:
            case Gone():
                return self._judge_end(str(error))
            case OutOfCpu():
                return judge_late_answer(what, cpu, stray, str(error))
            case Late() if self.bot.out_of_memory():
                return judge_late_answer(what, wall, stray, "it has run out of memory")
            case Silent():
                # The process answered every earlier request, or it would have ended there.
                before = describe_answers(what, id - 1, self._slowest.get(what))
                return judge_late_answer(what, wall, stray, before, silent=True)
            case Late():
                return judge_late_answer(what, wall, stray, str(error))
            case _:
                return Verdict("protocol", str(error))

    def send(self, line: bytes) -> None:
        """Write a line that has no answer; ignore a bot that does not read it."""
        with contextlib.suppress(OSError):
            self.bot.thaw()
            os.write(self.bot.stdin, line)

    def drain(self, deadline: int) -> None:
        """Read the last output and discard stdout, until the bot exits or the deadline passes."""
        while (left := deadline - time.monotonic_ns()) > 0:
            for descriptor, _ in self._poll.poll(-(-left // MS)):
                if descriptor == self.bot.pidfd:
                    return
                if descriptor == self._guard:
                    raise Abandoned("the input was closed")
                stderr = descriptor == self.bot.stderr
                if not (self.bot.drain_stderr() if stderr else os.read(descriptor, READ_BYTES)):
                    self._poll.unregister(descriptor)

    def _count_idle(self, cpu: int, same: bool) -> None:
        """Add the CPU time used since the last answer.

        Args:
            cpu: the CPU time now: of the process, or of all its children too if the clock counts that.
            same: whether the last answer used the same of the two.
        """
        if self._cpu_seen is None:
            return
        if self.bot.runs_off_turn:
            self.idle += max(0, self.bot.all_cpu_ns() - self._cpu_seen)
        elif same:
            self.idle += max(0, cpu - self._cpu_seen)

    def _read_early_output(self) -> None:
        """Read waiting output: an unrequested answer breaks the protocol, a stray line is counted."""
        while (ready := self._poll.poll(0)) or self.bot.buffer:
            more = self._read_ready(ready)
            while (raw := self.bot.buffer.pop()) is not None:
                self._messages.append(("< ", raw))
                if is_object(raw):
                    raise ProtocolError(f"expected one answer to each request, got another line: {excerpt(raw)}")
                self._count_stray(raw)
            if not more:
                return

    def _write(self, line: bytes, deadline: int | None) -> None:
        while True:
            try:
                line = line[os.write(self.bot.stdin, line) :]
            except BlockingIOError:
                pass
            except OSError:
                raise Gone("closed its input") from None
            if not line:
                return
            # The pipe is full: the bot does not read, perhaps because it waits until we read its output.
            if deadline is not None and time.monotonic_ns() > deadline:
                raise Late("it does not read its input")
            self._poll.register(self.bot.stdin, select.POLLOUT)
            try:
                self._wait(deadline)
            finally:
                self._poll.unregister(self.bot.stdin)

    def _await_answer(self, id: int, decoder: msgspec.json.Decoder[A], deadline: int | None) -> tuple[A, int]:
        """Wait for the answer; return it, and the time at which we read its end."""
        # If we share a processor with the bot, the answer is mostly there by now, and we need not wait.
        try:  # noqa: SIM105 - a context manager here costs a hundredth of the whole action
            self.bot.buffer.feed(os.read(self.bot.stdout, READ_BYTES))
        except BlockingIOError:
            pass
        while True:
            while (raw := self.bot.buffer.pop()) is None:
                if not self._wait(deadline):
                    raise Late("the last line has no newline") if self.bot.buffer else Silent
            read = time.monotonic_ns()
            self._messages.append(("< ", raw))
            if deadline is not None and read > deadline:
                raise Late("it came later")
            try:
                return decode_answer(raw, decoder, id), read
            except StrayLine:
                self._count_stray(raw)

    def _wait(self, deadline: int | None) -> bool:
        """Wait for an event and handle it; return False once the deadline has passed."""
        timeout = None
        if deadline is not None:
            left = deadline - time.monotonic_ns()
            if left <= 0:
                return False
            timeout = -(-left // MS)
        if self._cpu_deadline is not None:
            # Unless several threads think, at least as much wall time must pass first.
            left = self._cpu_deadline - self.bot.all_cpu_ns()
            if left < 0:
                raise OutOfCpu("it still thinks")
            look = -(-max(left, CPU_LOOK_NS) // MS)
            timeout = look if timeout is None else min(look, timeout)
        self._read_ready(self._poll.poll(timeout))
        return True

    def _read_ready(self, ready: list[tuple[int, int]]) -> bool:
        """Handle the events of `poll`; return whether the bot wrote something, which counts before its end."""
        bot = self.bot
        wrote = gone = False
        for descriptor, _ in ready:
            if descriptor == bot.stdout:
                wrote = True
            elif descriptor == bot.pidfd:
                gone = True
            elif descriptor == self._guard:
                raise Abandoned("the input was closed")
            elif descriptor == bot.stderr and not bot.drain_stderr():
                self._poll.unregister(descriptor)
        if not (wrote or gone):
            return False
        try:
            data = os.read(bot.stdout, READ_BYTES)
        except BlockingIOError:
            data = b""  # the bot is gone, but another process holds its output open
        if not data:
            raise Gone("closed its output")
        bot.buffer.feed(data)
        return True

    def _judge_end(self, how: str) -> Verdict:
        """Return the verdict on a bot that is gone; it says how the bot ended."""
        self.bot.thaw()  # it may be frozen while it exits
        status = self.bot.exit_status(EXIT_WAIT_S)
        if excuse := self.bot.machine_fault():
            raise excuse
        if status is None:
            return Verdict("crash", f"the bot {how}, and its process lives on")
        why = ": it used more memory than it may" if self.bot.out_of_memory() else ""
        return Verdict("crash", f"the bot {'was ' if status.startswith('killed') else ''}{status}{why}")

    def _count_stray(self, raw: bytes) -> None:
        if self._on_stray:
            self._on_stray(raw)
        if not self.stray:
            self.first_stray = excerpt(raw)
        self.stray += 1
        self._stray_bytes += len(raw)
        if self.stray > STRAY_LINES or self._stray_bytes > STRAY_BYTES:
            raise ProtocolError(
                f"{self.stray} lines ({self._stray_bytes} bytes) that are not JSON:"
                f" print what is not an answer to stderr; the last one: {excerpt(raw)}"
            )
