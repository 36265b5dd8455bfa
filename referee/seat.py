"""A bot at the table: a process that is started, greeted, asked, and ended."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from protocol import LINE_BYTES, PROTOCOL
from protocol.codec import encode
from protocol.messages import (
    BareAnswer,
    Bye,
    GameEnd,
    GameStart,
    Hello,
    HelloAnswer,
    Limits,
    Move,
    MoveAnswer,
)
from referee.bot import BotProcess
from referee.clock import MS
from referee.exchange import BotConnection
from referee.isolation.layers import NONE
from referee.records import Isolation, Player
from referee.verdicts import Verdict

REFEREE = "malice/0.1"

_hello_answer = msgspec.json.Decoder(HelloAnswer)
_bare_answer = msgspec.json.Decoder(BareAnswer)
_move_answer = msgspec.json.Decoder(MoveAnswer)

BYE_WAIT_NS = 500 * MS
"""How long a bot may take to exit after `bye`."""


class BotSeat:
    """The seat of one player for a whole batch; after a verdict the next game gets a fresh process.

    Args:
        player: which bot to start, and how.
        init_ms: the time for every answer that is not a move.
        guard: a descriptor whose hang-up means that the batch was abandoned.
        on_start: is told of every process that was started.
        isolation: what is to be around it.
        on_stderr: takes each line that it writes to stderr; it must not raise.
    """

    def __init__(
        self,
        player: Player,
        init_ms: int,
        guard: int | None,
        on_start: Callable[[BotProcess], None] | None = None,
        isolation: Isolation = NONE,
        on_stderr: Callable[[str], None] | None = None,
    ) -> None:
        self._player = player
        self._init_ms = init_ms
        self._guard = guard
        self._on_start = on_start
        self._asked = isolation
        self._on_stderr = on_stderr
        self.isolation: tuple[str, ...] = ()
        """What is, or was, in force around its last process."""
        self._bot: BotProcess | None = None
        self._line: BotConnection | None = None
        self._requests = 0
        self.name = player.name or player.label
        self.version = player.version
        self.wants_legal = True
        self.games = 0

    @property
    def stray(self) -> int:
        """Lines without JSON that came in this game."""
        return self._line.stray if self._line else 0

    @property
    def first_stray(self) -> str:
        """The start of the first of them, for people."""
        return self._line.first_stray if self._line else ""

    @property
    def idle(self) -> int:
        """CPU time in nanoseconds that was used in this game while nothing was asked."""
        return self._line.idle if self._line else 0

    def begin(self) -> None:
        """Start and greet the bot unless it runs, and forget what it said in the last game.

        Raises:
            Verdict: it cannot be started, or does not answer as it should.
        """
        if self._bot is None or self._line is None:
            self._line = None
            self._start()
        else:
            self._bot.drain_stderr()
            self._bot.stderr_excerpt.clear()
            self._line.start_game()
        self.games += 1

    def _start(self) -> None:
        try:
            bot = BotProcess(self._player, self._asked, self._on_stderr)
        except OSError as error:
            if error.filename is None:
                raise  # there are no processes or descriptors left: no fault of the bot
            raise Verdict("crash", f"the bot cannot be started: {error.strerror}: {error.filename!r}") from None
        self._bot, self._line = bot, self._line_to(bot)
        self.isolation = bot.isolation
        self._requests = self.games = 0
        if self._on_start:
            self._on_start(bot)
        limits = Limits(self._init_ms, LINE_BYTES)
        request = Hello(self.next_id(), (PROTOCOL, PROTOCOL), REFEREE, limits)
        answer, _, _ = self._line.ask(self._written(request), "hello", request.id, _hello_answer, self._init_ms * MS)
        if answer.protocol != PROTOCOL:
            raise Verdict("protocol", f"expected protocol {PROTOCOL}, the bot chose {answer.protocol}")
        self.name = answer.name or self.name
        self.version = answer.version or self.version
        self.wants_legal = answer.legal

    def _line_to(self, bot: BotProcess) -> BotConnection:
        """Return the line to a new process; who listens in returns one of another kind."""
        return BotConnection(bot, self._guard)

    def _written(self, request: Hello | GameStart | Move | GameEnd) -> bytes:
        """Return a request as one line, LF included; the same can be written in other ways."""
        return encode(request)

    def next_id(self) -> int:
        """Number the next request of this process, from 1."""
        self._requests += 1
        return self._requests

    def ask_move(self, request: Move, limit: int | None, cpu_limit: int | None = None) -> tuple[MoveAnswer, int, int]:
        """Return the answer to `move`, and the wall and CPU time it took in nanoseconds."""
        assert self._line
        return self._line.ask(self._written(request), "move", request.id, _move_answer, limit, cpu_limit)

    def ask(self, request: GameStart | GameEnd) -> None:
        """Wait for the bare answer to a request that is no move."""
        assert self._line
        what = "game_start" if isinstance(request, GameStart) else "game_end"
        self._line.ask(self._written(request), what, request.id, _bare_answer, self._init_ms * MS)

    def dismiss(self) -> tuple[str | None, tuple[str, ...], str]:
        """End the bot; return how it had ended before, the last messages, and its stderr."""
        bot, line = self._bot, self._line
        self._bot = None
        if bot is None or line is None:
            return None, (), ""
        exit = bot.exit_status()
        bot.kill()
        return exit, line.evidence(), bot.stderr_excerpt.text()

    def leave(self) -> None:
        """Say bye and close the bot's input; `end` follows."""
        if self._bot and self._line:
            self._line.send(encode(Bye()))
            self._bot.close_input()

    def end(self, deadline: int) -> None:
        """Read on until the bot exits or the deadline (monotonic nanoseconds) passes, then kill its group."""
        if self._bot and self._line:
            self._line.drain(deadline)
            self._bot.kill()
            self._bot = None


def greet_bot(player: Player, init_ms: int, isolation: Isolation = NONE) -> None:
    """Start a bot, exchange a hello, and end it.

    Raises:
        Verdict: it cannot be started, or does not answer as it should; the end of its stderr is in the sentence.
    """
    seat = BotSeat(player, init_ms, None, isolation=isolation)
    try:
        seat.begin()
        seat.leave()
        seat.end(time.monotonic_ns() + BYE_WAIT_NS)
    except Verdict as verdict:
        _, _, stderr = seat.dismiss()
        said = f"; its stderr ends: {stderr.strip()[-500:]}" if stderr.strip() else ""
        raise Verdict(verdict.code, verdict.sentence + said, stderr=stderr) from None
    finally:
        seat.dismiss()
