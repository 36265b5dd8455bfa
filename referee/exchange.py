"""One request, one answer, one deadline: the conversation with the bots of a table."""

from __future__ import annotations

import os
import select
import time
from collections import deque
from typing import TypeVar

import msgspec
from msgspec import Struct

from protocol.codec import decode_answer, excerpt
from protocol.errors import MaliceError, ProtocolError, StrayLine
from protocol.messages import Answer
from referee.bot import Bot
from referee.clock import MS
from referee.verdicts import Verdict, too_late

A = TypeVar("A", bound=Answer)

STRAY_LINES = 100
STRAY_BYTES = 1 << 20
"""How many stray lines, and bytes in them, a game bears."""
MESSAGES_KEPT = 5
SHOWN_BYTES = 4096
"""How much of each kept message is shown with a verdict."""
EXIT_WAIT_S = 0.1
"""How long a bot that has closed its output may take to exit, so that its status can be told."""


class Abandoned(MaliceError):
    """The process that gave the batch is gone; nobody waits for the record any more."""


class Reply(Struct, frozen=True, gc=False):
    """An answer and what it cost, in nanoseconds."""

    answer: Answer
    wall: int
    cpu: int


class Line:
    """The line to one bot: writes requests, reads answers, keeps the last messages as evidence.

    Args:
        bot: the process at the other end.
        guard: a descriptor whose hang-up means that the batch was abandoned.
    """

    def __init__(self, bot: Bot, guard: int | None) -> None:
        self.bot = bot
        self._guard = guard
        self._poll = select.poll()
        self._poll.register(bot.stdout, select.POLLIN)
        self._poll.register(bot.pidfd, select.POLLIN)
        self._poll.register(bot.stderr, select.POLLIN)
        if guard is not None:
            self._poll.register(guard, 0)
        self._messages: deque[tuple[str, bytes]] = deque(maxlen=MESSAGES_KEPT)
        self.new_game()

    def new_game(self) -> None:
        """Start to count stray lines from zero."""
        self.stray = 0
        self._stray_bytes = 0

    def evidence(self) -> tuple[str, ...]:
        """Return the last messages, oldest first, each marked with its direction."""
        return tuple(
            mark + line[:SHOWN_BYTES].decode("utf-8", "backslashreplace").rstrip("\n")
            for mark, line in self._messages
        )

    def ask(
        self, line: bytes, what: str, id: int, decoder: msgspec.json.Decoder[A], limit: int | None
    ) -> Reply:
        """Write a request and return its answer.

        Args:
            line: the request, LF included.
            what: its type, for the sentence of a verdict.
            id: its number.
            decoder: made for the struct of the answer.
            limit: nanoseconds for write and answer together; None for ever.

        Raises:
            Verdict: the bot is gone, late, or answered with what is no answer.
            Abandoned: nobody waits for the game any more.
        """
        bot = self.bot
        stray_before = self.stray
        self._refuse_early()
        cpu = bot.cpu_ns()
        begin = time.monotonic_ns()
        deadline = None if limit is None else begin + limit
        self._messages.append(("> ", line))
        self._write(line, deadline, what, limit)
        written = time.monotonic_ns()
        while True:
            raw = self._next_line()
            while raw is None:
                if not self._wait(deadline):
                    raise too_late(what, (limit or 0) / MS, self.stray - stray_before)
                raw = self._next_line()
            read = time.monotonic_ns()
            self._messages.append(("< ", raw))
            try:
                answer = decode_answer(raw, decoder, id)
            except StrayLine:
                self._count_stray(raw)
                continue
            except ProtocolError as error:
                raise Verdict("protocol", str(error)) from None
            if deadline is not None and read > deadline:
                raise too_late(what, (limit or 0) / MS, 0)
            return Reply(answer, read - written, bot.cpu_ns() - cpu)

    def tell(self, line: bytes) -> None:
        """Write a line that has no answer; a bot that does not take it is left alone."""
        try:
            os.write(self.bot.stdin, line)
        except OSError:
            return

    def drain(self, deadline: int) -> None:
        """Read and forget what the bot still says, until it is gone or the deadline has passed."""
        try:
            while self._wait(deadline):
                while self.bot.buffer.pop() is not None:
                    pass
        except (Verdict, ProtocolError):
            return

    def _refuse_early(self) -> None:
        """Read what waits: an answer to no request breaks the protocol, a stray line is counted."""
        ready = self._poll.poll(0)
        if not ready and not self.bot.buffer:
            return
        self._take(ready)
        while (raw := self._next_line()) is not None:
            self._messages.append(("< ", raw))
            if raw.lstrip().startswith(b"{"):
                raise Verdict("protocol", f"a line that came before it was asked for: {excerpt(raw)}")
            self._count_stray(raw)

    def _write(self, line: bytes, deadline: int | None, what: str, limit: int | None) -> None:
        rest = memoryview(line)
        while True:
            try:
                rest = rest[os.write(self.bot.stdin, rest) :]
            except BlockingIOError:
                pass
            except (OSError, ValueError):
                raise self._gone("closed its input") from None
            if not rest:
                return
            # A full pipe: the bot does not read, perhaps because it waits for its own output to be read.
            if deadline is not None and time.monotonic_ns() > deadline:
                raise too_late(what, (limit or 0) / MS, 0)
            self._poll.register(self.bot.stdin, select.POLLOUT)
            try:
                self._wait(deadline)
            finally:
                self._poll.unregister(self.bot.stdin)

    def _next_line(self) -> bytes | None:
        try:
            return self.bot.buffer.pop()
        except ProtocolError as error:
            raise Verdict("protocol", str(error)) from None

    def _wait(self, deadline: int | None) -> bool:
        """Wait for something to happen and take it in; return False once the deadline has passed."""
        timeout = None
        if deadline is not None:
            left = deadline - time.monotonic_ns()
            if left <= 0:
                return False
            timeout = -(-left // MS)
        self._take(self._poll.poll(timeout))
        return True

    def _take(self, ready: list[tuple[int, int]]) -> None:
        """Take in what `poll` found; what the bot wrote is read before its end is judged."""
        bot = self.bot
        gone = False
        for descriptor, _ in ready:
            if descriptor == bot.stdout:
                if not self._read():
                    raise self._gone("closed its output")
                return
            if descriptor == bot.pidfd:
                gone = True
            elif descriptor == self._guard:
                raise Abandoned("the input was closed")
            elif descriptor == bot.stderr and not bot.drain_stderr():
                self._poll.unregister(descriptor)
        if gone:
            raise self._gone("is gone")

    def _read(self) -> bool:
        try:
            data = os.read(self.bot.stdout, 65_536)
        except BlockingIOError:
            return True
        except OSError:
            return False
        try:
            self.bot.buffer.feed(data)
        except ProtocolError as error:
            raise Verdict("protocol", str(error)) from None
        return bool(data)

    def _gone(self, how: str) -> Verdict:
        status = self.bot.exit(EXIT_WAIT_S)
        while self.bot.drain_stderr() and select.select([self.bot.stderr], [], [], 0)[0]:
            pass
        return Verdict("crash", f"the bot {status}" if status else f"the bot {how}, and its process lives on")

    def _count_stray(self, raw: bytes) -> None:
        self.stray += 1
        self._stray_bytes += len(raw)
        if self.stray > STRAY_LINES or self._stray_bytes > STRAY_BYTES:
            raise Verdict(
                "protocol",
                f"{self.stray} lines ({self._stray_bytes} bytes) that are no JSON:"
                f" print what is not an answer to stderr; the last one: {excerpt(raw)}",
            )
