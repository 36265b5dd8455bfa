"""The connection to a bot: writes requests, reads answers, counts stray lines, and waits for several bots at once."""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from malice.protocol.codec import decode_answer, excerpt, is_object
from malice.protocol.errors import MaliceError, ProtocolError, StrayLine
from malice.protocol.messages import Answer
from malice.referee.bot import READ_BYTES, BotProcess
from malice.referee.clock import MS
from malice.referee.errors import Abandoned, Gone, Late, OutOfCpu
from malice.referee.exchange import FAILURES, Exchange
from malice.referee.nouns import format_count, inflect

STRAY_LINES = 100
STRAY_BYTES = 1 << 20
"""How many stray lines, and bytes in them, a game tolerates."""


class StrayLines:
    """The stray lines of one bot in one game.

    Args:
        on_stray: receives each of them before it is judged.
    """

    def __init__(self, on_stray: Callable[[bytes], None] | None = None) -> None:
        self._on_stray = on_stray
        self._bytes = 0
        self.count = 0
        self.first = ""
        """The start of the first one, for people."""

    def add(self, raw: bytes) -> None:
        """Count a line.

        Raises:
            ProtocolError: there are too many.
        """
        if self._on_stray:
            self._on_stray(raw)
        if not self.count:
            self.first = excerpt(raw)
        self.count += 1
        self._bytes += len(raw)
        if self.count > STRAY_LINES or self._bytes > STRAY_BYTES:
            lines, are = format_count(self.count, "line"), inflect(self.count, "is", "are")
            raise ProtocolError(
                f"{lines} ({self._bytes} bytes) that {are} not JSON:"
                f" print what is not an answer to stderr; the last one: {excerpt(raw)}"
            )


A = TypeVar("A", bound=Answer)

MESSAGES_KEPT = 5
SHOWN_BYTES = 4096
"""How much of each kept message a verdict shows."""


class BotConnection:
    """The connection to one bot, which keeps the last messages as evidence.

    Args:
        bot: the process at the other end.
        guard: a descriptor whose hang-up means that the batch was abandoned.
        on_stray: receives each line that is not a JSON object, before it is judged.
    """

    def __init__(self, bot: BotProcess, guard: int | None, on_stray: Callable[[bytes], None] | None = None) -> None:
        self.bot = bot
        self._guard = guard
        self._on_stray = on_stray
        self._stderr_open = True
        self._exchange: Exchange | None = None
        """The last request."""
        self._poll = select.poll()
        self.register(self._poll)
        self._messages: deque[tuple[str, bytes]] = deque(maxlen=MESSAGES_KEPT)
        self._slowest: dict[str, int] = {}
        """By type of request, the longest wait for an answer, in nanoseconds, since the process started."""
        self._read_at = 0
        """When stdout was last read, monotonic nanoseconds."""
        self.start_game()

    def start_game(self) -> None:
        """Reset the counts of stray lines and idle time."""
        self.stray = StrayLines(self._on_stray)
        self.idle = 0
        """CPU time off turn, in nanoseconds."""
        self._cpu_seen: int | None = None
        self._counted_all = False
        """Whether `_cpu_seen` counts the children of the process too."""

    def evidence(self) -> tuple[str, ...]:
        """The last messages, oldest first, each marked with its direction."""
        return tuple(
            mark + line[:SHOWN_BYTES].decode("utf-8", "backslashreplace").rstrip("\n") for mark, line in self._messages
        )

    def ask(
        self, line: bytes, what: str, id: int, decoder: msgspec.json.Decoder[A], limit: int | None
    ) -> tuple[A, int, int]:
        """Write a request; return the answer, and its wall and CPU time in nanoseconds.

        Raises:
            Verdict: the bot is gone or late, or its answer is wrong.
            MachineFault: the bot is gone or late through no fault of its own.
            Abandoned: nobody waits for the game.
        """
        self.send_request(line, Exchange(what, id, decoder, limit, None))
        answer: tuple[A, int, int] = self.collect_answer()
        return answer

    def send_request(self, line: bytes, exchange: Exchange) -> None:
        """Write a request, LF included, or as much of it as the bot takes at once; its clock begins to run."""
        bot = self.bot
        self._exchange = exchange
        try:
            self._read_early_output()
            bot.thaw()
            self._messages.append(("> ", line))
            # The sum over all children takes ten times as long to read: read it only if the clock counts it.
            exchange.cpu = bot.cpu_ns() if exchange.cpu_limit is None else bot.all_cpu_ns()
            self._count_idle(exchange)
            # From here, not from the end of the write: on one processor the bot often thinks before we return.
            exchange.start = time.monotonic_ns()
            exchange.deadline = None if exchange.limit is None else exchange.start + exchange.limit
            exchange.unsent = line
            self._write(exchange)
            if exchange.unsent:
                self._poll.register(bot.stdin, select.POLLOUT)
        except FAILURES as error:
            self._fail(exchange, error)

    def collect_answer(self) -> tuple[Any, int, int]:
        """Wait for the answer to the last request; return it, and its wall and CPU time in nanoseconds.

        Raises:
            Verdict, MachineFault, Abandoned: as in `ask`.
        """
        exchange = self._exchange
        assert exchange
        if not exchange.done:
            # If we share a processor with the bot, the answer is mostly there by now, and we need not wait.
            try:
                self._feed(os.read(self.bot.stdout, READ_BYTES))
            except BlockingIOError:
                pass
            except ProtocolError as error:
                self._fail(exchange, error)
            self.take_answer()
            while not exchange.done:
                timeout = self.timeout_ms()
                if not exchange.done:
                    self.receive(self._poll.poll(timeout), self._poll)
                    self.take_answer()
        if exchange.error:
            raise exchange.judge(self.bot, self._slowest.get(exchange.what)) from None
        if exchange.wall > self._slowest.get(exchange.what, 0):
            self._slowest[exchange.what] = exchange.wall
        return exchange.answer, exchange.wall, exchange.used

    def _feed(self, data: bytes) -> None:
        """Keep what was just read."""
        self._read_at = time.monotonic_ns()
        self.bot.buffer.feed(data)

    @property
    def is_finished(self) -> bool:
        """Whether the last request has its answer, or has failed."""
        return self._exchange is None or self._exchange.done

    def stop_failed_bot(self) -> None:
        """Freeze a bot whose request failed: it ends when all have answered, and must not compute until then."""
        if self._exchange and self._exchange.error:
            self.bot.freeze()

    def register(self, poll: select.poll) -> list[int]:
        """Let `poll` watch the bot; return the descriptors, without the guard."""
        watched = [self.bot.stdout, self.bot.pidfd, *([self.bot.stderr] if self._stderr_open else [])]
        for descriptor in watched:
            poll.register(descriptor, select.POLLIN)
        if self._exchange and self._exchange.unsent:
            poll.register(self.bot.stdin, select.POLLOUT)
            watched.append(self.bot.stdin)
        if self._guard is not None:
            poll.register(self._guard, 0)
        return watched

    def timeout_ms(self) -> int | None:
        """How long to wait for an event; None for ever. The request fails if its time is used up."""
        exchange = self._exchange
        assert exchange
        try:
            return exchange.timeout_ms(self.bot)
        except FAILURES as error:
            self._fail(exchange, error)
            return 0

    def receive(self, ready: Sequence[tuple[int, int]], poll: select.poll) -> None:
        """Handle events of `poll`: read and write what is possible; `take_answer` follows.

        Raises:
            Abandoned: nobody waits for the game.
        """
        exchange = self._exchange
        assert exchange
        try:
            self._read_ready(ready, poll)
            if exchange.unsent and any(descriptor == self.bot.stdin for descriptor, _ in ready):
                self._write(exchange)
                if not exchange.unsent:
                    for each in {poll, self._poll}:
                        each.unregister(self.bot.stdin)
        except FAILURES as error:
            self._fail(exchange, error)

    def take_answer(self) -> None:
        """Take the answer from what was read, if it is there; the request fails if the answer is wrong or late."""
        exchange, bot = self._exchange, self.bot
        assert exchange
        if exchange.done or exchange.unsent:
            return
        try:
            while (raw := bot.buffer.pop()) is not None:
                self._messages.append(("< ", raw))
                if exchange.deadline is not None and self._read_at > exchange.deadline:
                    raise Late("it came later")
                try:
                    exchange.answer = decode_answer(raw, exchange.decoder, exchange.id)
                except StrayLine:
                    exchange.stray += 1
                    self.stray.add(raw)
                    continue
                end = bot.cpu_ns() if exchange.cpu_limit is None else bot.all_cpu_ns()
                self._cpu_seen = bot.all_cpu_ns() if bot.runs_off_turn else end
                exchange.used = max(0, end - exchange.cpu)
                if exchange.cpu_limit is not None and exchange.used > exchange.cpu_limit:
                    raise OutOfCpu("it came later")
                bot.freeze()
                exchange.wall = self._read_at - exchange.start
                exchange.done = True
                return
        except FAILURES as error:
            self._fail(exchange, error)

    def _fail(self, exchange: Exchange, error: MaliceError) -> None:
        if not exchange.done:
            exchange.fail(error, self.bot.cpu_ns() if exchange.cpu_limit is None else self.bot.all_cpu_ns())

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

    def _count_idle(self, exchange: Exchange) -> None:
        """Add the CPU time used since the last answer."""
        bot, counts_all = self.bot, exchange.cpu_limit is not None
        if self._cpu_seen is not None:
            if bot.runs_off_turn:
                self.idle += max(0, bot.all_cpu_ns() - self._cpu_seen)
            elif counts_all == self._counted_all:
                self.idle += max(0, exchange.cpu - self._cpu_seen)
        self._counted_all = counts_all

    def _read_early_output(self) -> None:
        """Read waiting output: an unrequested answer breaks the protocol, a stray line is counted."""
        while (ready := self._poll.poll(0)) or self.bot.buffer:
            more = self._read_ready(ready, self._poll)
            while (raw := self.bot.buffer.pop()) is not None:
                self._messages.append(("< ", raw))
                if is_object(raw):
                    raise ProtocolError(f"expected one answer to each request, got another line: {excerpt(raw)}")
                assert self._exchange
                self._exchange.stray += 1
                self.stray.add(raw)
            if not more:
                return

    def _write(self, exchange: Exchange) -> None:
        """Write as much as the pipe takes; if it is full, the bot does not read, perhaps until we read its output."""
        try:
            while exchange.unsent:
                exchange.unsent = exchange.unsent[os.write(self.bot.stdin, exchange.unsent) :]
        except BlockingIOError:
            pass
        except OSError:
            raise Gone("closed its input") from None

    def _read_ready(self, ready: Sequence[tuple[int, int]], poll: select.poll) -> bool:
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
                self._stderr_open = False
                for each in {poll, self._poll}:
                    each.unregister(descriptor)
        if not (wrote or gone):
            return False
        try:
            data = os.read(bot.stdout, READ_BYTES)
        except BlockingIOError:
            data = b""  # the bot is gone, but another process holds its output open
        if not data:
            raise Gone("closed its output")
        self._feed(data)
        return True


def await_answers(connections: Sequence[BotConnection]) -> None:
    """Wait until each connection has its answer or has failed; each keeps its own deadline and clock.

    Raises:
        Abandoned: nobody waits for the game.
    """
    poll = select.poll()
    waiting = [connection for connection in connections if not connection.is_finished]
    owners = {descriptor: connection for connection in waiting for descriptor in connection.register(poll)}
    while waiting:
        timeouts = [connection.timeout_ms() for connection in waiting]
        ready: dict[BotConnection, list[tuple[int, int]]] = {}
        for event in poll.poll(min((timeout for timeout in timeouts if timeout is not None), default=None)):
            ready.setdefault(owners.get(event[0], waiting[0]), []).append(event)
        # All output is read, and its time taken, before any answer is judged: nobody pays for the judgment of another.
        for connection, events in ready.items():
            connection.receive(events, poll)
        for connection in ready:
            connection.take_answer()
        for connection in [each for each in waiting if each.is_finished]:
            waiting.remove(connection)
            connection.stop_failed_bot()
            for descriptor in [each for each, owner in owners.items() if owner is connection]:
                del owners[descriptor]
                with contextlib.suppress(KeyError):
                    poll.unregister(descriptor)
