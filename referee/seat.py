"""A seat at the table: what a game asks of whoever sits there, and a bot that sits there."""

from __future__ import annotations

import contextlib
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import msgspec
from msgspec import Struct

from malice.protocol import LINE_BYTES, PROTOCOL
from malice.protocol.codec import encode
from malice.protocol.messages import (
    BareAnswer,
    Bye,
    GameEnd,
    GameStart,
    Hello,
    HelloAnswer,
    Limits,
    Move,
    MoveAnswer,
    Request,
)
from malice.referee.bot import BotProcess
from malice.referee.clock import MS
from malice.referee.connection import BotConnection
from malice.referee.errors import MachineFault
from malice.referee.exchange import Exchange, judge_end
from malice.referee.isolation.boxes import NONE
from malice.referee.records import Isolation, Player, SeatReport
from malice.referee.verdicts import Verdict, describe_exit


class Played(Struct, frozen=True, gc=False):
    """An action, or `!` and the code of a verdict, with its time and the bot's note."""

    seat: int
    action: str
    micros: int
    cpu_micros: int
    note: str = ""


Watch = Callable[[Sequence[Played]], None]
"""Receives what came of every ask: first the verdicts, then the actions, by seat."""


class CrashAtBye(NamedTuple):
    """How a bot crashed when its games were over."""

    sentence: str
    stderr: str


class Seat(Protocol):
    """The methods that a bot, a person and a script share."""

    def begin(self) -> int:
        """Get ready for a game; return its number, counted in this player's process; raises `Verdict`."""

    def next_id(self) -> int:
        """The number of the next request."""

    def send_move(self, request: Move, limit: int | None, cpu_limit: int | None) -> BotConnection | None:
        """Ask for an action, within limits in nanoseconds; return the connection that the answer comes from, if any."""

    def collect_move(self) -> tuple[MoveAnswer, int, int]:
        """Wait for the answer; return it, and the wall and CPU time it took in nanoseconds; raises `Verdict`."""

    def ask(self, request: GameStart | GameEnd) -> None:
        """Wait for the bare answer; raises `Verdict`."""

    def dismiss(self) -> tuple[str | None, tuple[str, ...], str]:
        """End the bot; return its exit status if it had already ended, the last messages, and its stderr."""

    def report(self) -> SeatReport:
        """Who sits here and what it did in this game; the times of its answers stay 0."""


class InProcessSeat(ABC):
    """A seat whose player thinks in this process: it answers when its answer is collected."""

    _asked: tuple[Move, int | None, int | None]

    def send_move(self, request: Move, limit: int | None, cpu_limit: int | None = None) -> None:
        """Keep the request."""
        self._asked = request, limit, cpu_limit

    def collect_move(self) -> tuple[MoveAnswer, int, int]:
        """Collect what `ask_move` answered."""
        return self.ask_move(*self._asked)

    @abstractmethod
    def ask_move(self, request: Move, limit: int | None, cpu_limit: int | None) -> tuple[MoveAnswer, int, int]:
        """Ask for a move; the answer comes with the wall and CPU time it took, in nanoseconds; raise `Verdict`."""


REFEREE = "malice/0.1"

_hello_answer = msgspec.json.Decoder(HelloAnswer)
_bare_answer = msgspec.json.Decoder(BareAnswer)
_move_answer = msgspec.json.Decoder(MoveAnswer)

BYE_WAIT_NS = 500 * MS
"""How long a bot may take to exit after `bye`."""
_PEACEFUL_ENDS = (None, describe_exit(0), describe_exit(-signal.SIGKILL))
"""It lives on, exits, or was killed by somebody: no bot ends itself like that by mistake."""


class SeatObserver(Struct, frozen=True):
    """Functions that let others observe the seat of a bot; all of them are optional."""

    on_start: Callable[[BotProcess], None] | None = None
    """Receives every process that the seat starts."""
    on_stderr: Callable[[str], None] | None = None
    """Receives each line that the bot writes to stderr; it must not raise."""
    on_stray: Callable[[bytes], None] | None = None
    """Receives each line on stdout that is not a JSON object."""
    dress: Callable[[bytes], bytes] | None = None
    """Returns the line to write for a request: the same message in another form."""


NOBODY = SeatObserver()


class BotSeat:
    """The seat of one player for a whole batch; after a verdict, the next game starts a fresh process.

    Args:
        player: which bot to start, and how.
        init_ms: the time for every answer that is not a move.
        guard: a descriptor whose hang-up means that the batch was abandoned.
        isolation: the isolation to request.
        observer: receives what happens at the seat.
    """

    def __init__(
        self,
        player: Player,
        init_ms: int,
        guard: int | None,
        isolation: Isolation = NONE,
        observer: SeatObserver = NOBODY,
    ) -> None:
        self._player = player
        self._init_ms = init_ms
        self._guard = guard
        self._wanted_isolation = isolation
        self._observer = observer
        self._dress = observer.dress
        self.isolation: tuple[str, ...] = ()
        """The isolation in force around the current or the last process."""
        self.process: BotProcess | None = None
        """The current process; None before the first and after the end of each."""
        self.connection: BotConnection | None = None
        """The connection to the current or the last process."""
        self._requests = 0
        self.name = player.name or player.label
        self.version = player.version
        self.wants_legal = True
        self.games = 0
        """How many games the current process has begun."""

    def report(self) -> SeatReport:
        """The bot's name and version, and what it did in this game; the times of its answers are left out."""
        connection = self.connection
        if connection is None:
            return SeatReport(self.name, self.version, wants_legal=self.wants_legal)
        return SeatReport(
            name=self.name,
            version=self.version,
            stray_lines=connection.stray.count,
            idle_ms=round(connection.idle / MS, 3),
            wants_legal=self.wants_legal,
            first_stray=connection.stray.first,
        )

    def begin(self) -> int:
        """Start and greet the bot unless it runs; return the number of the game in its process.

        Raises:
            Verdict: the bot cannot be started, or its answer is wrong.
        """
        if self.process is None or self.connection is None:
            self.connection = None
            self._start()
        else:
            self.process.drain_stderr()
            self.process.stderr_excerpt.clear()
            self.connection.start_game()
        self.games += 1
        return self.games

    def _start(self) -> None:
        observer = self._observer
        try:
            process = BotProcess(self._player, self._wanted_isolation, observer.on_stderr)
        except OSError as error:
            if error.filename is None:
                raise  # the system is out of processes or descriptors: not the fault of the bot
            raise Verdict("crash", f"the bot cannot be started: {error.strerror}: {error.filename!r}") from None
        self.process, self.connection = process, BotConnection(process, self._guard, observer.on_stray)
        self.isolation = process.isolation
        self._requests = self.games = 0
        if observer.on_start:
            observer.on_start(process)
        self._greet(self.connection)

    def _greet(self, connection: BotConnection) -> None:
        limits = Limits(self._init_ms, LINE_BYTES)
        request = Hello(self.next_id(), (PROTOCOL, PROTOCOL), REFEREE, limits)
        answer, _, _ = connection.ask(self._encode(request), "hello", request.id, _hello_answer, self._init_ms * MS)
        if answer.protocol != PROTOCOL:
            raise Verdict("protocol", f"expected protocol {PROTOCOL}, the bot chose {answer.protocol}")
        if not self._player.anonymous:
            self.name = answer.name or self.name
            self.version = answer.version or self.version
        self.wants_legal = answer.legal

    def _encode(self, request: Request) -> bytes:
        line = encode(request)
        return self._dress(line) if self._dress else line

    def next_id(self) -> int:
        """The number of the next request of this process, from 1."""
        self._requests += 1
        return self._requests

    def send_move(self, request: Move, limit: int | None, cpu_limit: int | None = None) -> BotConnection | None:
        """Write a `move` with limits in nanoseconds; return the connection that its answer comes from."""
        assert self.connection
        exchange = Exchange("move", request.id, _move_answer, limit, cpu_limit)
        self.connection.send_request(self._encode(request), exchange)
        return self.connection

    def collect_move(self) -> tuple[MoveAnswer, int, int]:
        """Wait for the answer to `move`; return it, and the wall and CPU time it took in nanoseconds."""
        assert self.connection
        return self.connection.collect_answer()

    def ask_move(self, request: Move, limit: int | None, cpu_limit: int | None = None) -> tuple[MoveAnswer, int, int]:
        """Ask for a move; the answer comes with the wall and CPU time it took, in nanoseconds."""
        self.send_move(request, limit, cpu_limit)
        return self.collect_move()

    def ask(self, request: GameStart | GameEnd) -> None:
        """Wait for the bare answer to a request that is not a move."""
        assert self.connection
        what = "game_start" if isinstance(request, GameStart) else "game_end"
        self.connection.ask(self._encode(request), what, request.id, _bare_answer, self._init_ms * MS)

    def dismiss(self) -> tuple[str | None, tuple[str, ...], str]:
        """End the bot; return its exit status if it had already ended, the last messages, and its stderr."""
        process, connection = self.process, self.connection
        self.process = None
        if process is None or connection is None:
            return None, (), ""
        exit = process.exit_status()
        process.kill()
        return exit, connection.evidence(), process.stderr_excerpt.text()

    def leave(self) -> None:
        """Say bye and close the bot's input; `end` follows."""
        if self.process and self.connection:
            self.connection.send(encode(Bye()))
            self.process.close_input()

    def end(self, deadline: int) -> CrashAtBye | None:
        """Read until the bot exits or the deadline (monotonic nanoseconds) passes, then kill its process group.

        Returns:
            How it crashed; None if it did not, or if others may have killed it.
        """
        process, connection = self.process, self.connection
        if process is None or connection is None:
            return None
        connection.drain(deadline)
        crash = None
        if (status := process.exit_status()) not in _PEACEFUL_ENDS:
            with contextlib.suppress(MachineFault):
                crash = judge_end(process, str(status))
        process.kill()
        self.process = None
        return CrashAtBye(f"crash at bye: {crash.sentence}", process.stderr_excerpt.text()) if crash else None


def greet_bot(player: Player, init_ms: int, isolation: Isolation = NONE, guard: int | None = None) -> None:
    """Start a bot, exchange a hello, and end it.

    Args:
        player: which bot to start, and how.
        init_ms: the time for its answer.
        isolation: the isolation to request.
        guard: a descriptor whose hang-up means that nobody waits for the bot.

    Raises:
        Verdict: the bot cannot be started, or its answer is wrong; it has the bot's stderr.
        Abandoned: nobody waits for the bot.
    """
    seat = BotSeat(player, init_ms, guard, isolation=isolation)
    try:
        seat.begin()
        seat.leave()
        seat.end(time.monotonic_ns() + BYE_WAIT_NS)
    except Verdict as verdict:
        _, _, stderr = seat.dismiss()
        raise Verdict(verdict.code, verdict.sentence, stderr=stderr) from None
    finally:
        seat.dismiss()
