"""The seat of the bot under examination: logs what it writes, and ends its process when it first fails."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import msgspec
from msgspec import UNSET, Struct

from malice.protocol.codec import encode
from malice.protocol.errors import MaliceError
from malice.protocol.messages import BareAnswer, Bye, GameEnd, GameStart, Move, MoveAnswer
from malice.referee.bot import READ_BYTES, BotProcess
from malice.referee.clock import MS
from malice.referee.connection import BotConnection
from malice.referee.records import Isolation, Player
from malice.referee.seat import BYE_WAIT_NS, BotSeat, SeatObserver
from malice.referee.verdicts import Code, Verdict, judge_illegal_move
from malice.tournaments.check.report import Thought
from malice.tournaments.running.leftovers import list_group_members

BUSY_SHARE = 0.05
"""The least share of a wait that a thinking bot spends on a processor."""

FLUSH_MS = 1000
"""A bot that only had to flush writes within this time after its input was closed; later, it was still at work."""


class Response(NamedTuple):
    """What a bot did while we listened."""

    output: bytes
    """Its stdout, up to 64 KiB or a little more."""
    gone: bool
    """Whether the process has exited."""
    ns: int
    """How long we listened."""


class Silence(Struct, frozen=True):
    """What a bot did after it had missed a deadline."""

    unread: bool
    """It has not read the whole request."""
    busy: bool
    """It is still thinking."""
    late: bytes = b""
    """Its output in the extra time."""
    late_ms: float = 0
    flushed: bytes = b""
    """Its output after its input was closed."""
    gone: bool = False
    """It exited after its input was closed."""


def listen(bot: BotProcess, wait_ms: int, close_ms: int) -> Silence:
    """Find out why no answer came: give the bot more time, then close its input.

    Args:
        bot: the bot, which has a request and is not frozen.
        wait_ms: the extra time.
        close_ms: the time to exit after its input is closed.
    """
    unread = _has_unread(bot)
    before = bot.cpu_ns()
    more = hear(bot, wait_ms, _is_line)
    if more.output:
        return Silence(unread, False, more.output, more.ns / MS)
    if more.gone or unread or _has_unread(bot):
        return Silence(unread, False, gone=more.gone)
    if bot.cpu_ns() - before > BUSY_SHARE * wait_ms * MS:
        return Silence(unread, True)
    bot.close_input()
    rest = hear(bot, close_ms, _is_line)
    if rest.output and rest.ns > FLUSH_MS * MS:
        return Silence(unread, False, rest.output, (more.ns + rest.ns) / MS)
    return Silence(unread, False, flushed=rest.output, gone=rest.gone)


def hear(bot: BotProcess, wait_ms: int, enough: Callable[[bytes], bool] = lambda output: False) -> Response:
    """Listen until the bot exits, has written enough, or the time is up."""
    begin = time.monotonic_ns()
    deadline = begin + wait_ms * MS
    poll = select.poll()
    for descriptor in (bot.stdout, bot.stderr, bot.pidfd):
        poll.register(descriptor, select.POLLIN)
    output = b""
    gone = False
    while not gone and not enough(output) and (left := deadline - time.monotonic_ns()) > 0:
        ready = {descriptor for descriptor, _ in poll.poll(-(-left // MS))}
        gone = bot.pidfd in ready
        if bot.stderr in ready and not bot.drain_stderr():
            poll.unregister(bot.stderr)
        if gone or bot.stdout in ready:
            data = _read(bot)
            if data == b"" and bot.stdout in ready:
                poll.unregister(bot.stdout)
            output = (output + data)[: 2 * READ_BYTES]
    return Response(output, gone, time.monotonic_ns() - begin)


def _is_line(output: bytes) -> bool:
    return b"\n" in output or len(output) >= READ_BYTES


def _read(bot: BotProcess) -> bytes:
    try:
        return os.read(bot.stdout, READ_BYTES)
    except BlockingIOError:
        return b""  # it has exited, but another process holds its output open


def _has_unread(bot: BotProcess) -> bool:
    """Whether bytes of the request are still in the pipe."""
    waiting = fcntl.ioctl(bot.stdin, termios.FIONREAD, struct.pack("i", 0))
    return bool(struct.unpack("i", waiting)[0])


class Times(Struct, frozen=True):
    """How long the bot may take, in milliseconds."""

    move_ms: int = 1000
    init_ms: int = 5000
    listen_ms: int = 2000
    """How much longer to listen to a bot that missed a deadline."""
    exit_ms: int = 5000
    """How long the bot may take to exit; after that it counts as staying."""


class Trouble(MaliceError):
    """The bot under examination broke a rule; its process plays no more."""

    def __init__(
        self, what: str, limit_ms: int, verdict: Verdict, lines: tuple[str, ...], exit: str | None, stderr: str
    ) -> None:
        super().__init__(verdict.sentence)
        self.what = what
        """The type of the request."""
        self.limit_ms = limit_ms
        self.code: Code = verdict.code
        self.sentence = verdict.sentence
        self.silent = verdict.silent
        """Whether no answer came; the sentence then ends with a guess."""
        self.lines = lines
        self.exit = exit
        self.stderr = stderr
        self.stray: bytes | None = None
        """The last line that is not a JSON object, if one came instead of the answer."""
        self.silence: Silence | None = None
        """What the bot did after it had missed a deadline."""
        self.legal: tuple[str, ...] = ()
        """The legal actions."""
        self.isolation: tuple[str, ...] = ()
        """The isolation in force around the process."""


class Stray(NamedTuple):
    """The first line on stdout that is not part of the protocol."""

    text: bytes
    where: str
    lines: tuple[str, ...]


class ExamLog:
    """Notes on the bot, over all its processes."""

    def __init__(self) -> None:
        self.where = ""
        """The game or situation under way, for people."""
        self.ruleset = ""
        self.deal_seed = ""
        self.answers = 0
        self.strays = 0
        self.first_stray: Stray | None = None
        self.thoughts: list[Thought] = []
        self.isolation: tuple[str, ...] = ()

    def add_stray(self, line: bytes, evidence: tuple[str, ...]) -> None:
        """Count a stray line; keep the first, with the messages around it."""
        self.strays += 1
        if self.first_stray is None:
            self.first_stray = Stray(line, self.where, evidence)


_bare_answer = msgspec.json.Decoder(BareAnswer)


class Spoken(NamedTuple):
    """A request for an action, and the answer."""

    request: str
    answer: str
    move: str


class Leaving(NamedTuple):
    """Whether and how a process exited."""

    heard: Response
    exit: str | None
    stderr: str
    lines: tuple[str, ...]
    left: int
    """How many other processes of its group live on."""


class ExaminedSeat(BotSeat):
    """A seat that raises `Trouble` in place of a verdict.

    Args:
        player: the bot.
        times: how long it may take.
        isolation: the isolation to request.
        log: receives the notes.
    """

    def __init__(self, player: Player, times: Times, isolation: Isolation, log: ExamLog) -> None:
        # Not `self.dress` itself: it changes from one part of an examination to the next.
        observer = SeatObserver(on_stray=self._note_stray, dress=lambda line: self.dress(line))
        super().__init__(player, times.init_ms, None, isolation, observer)
        self._times = times
        self._log = log
        self._last_stray: bytes | None = None
        """The last stray line since the last answer."""
        self.greeted_ms = 0.0
        """Time to start and greet the bot; almost 0 if it was running."""
        self._request: Move
        self._limit: int | None = None
        self._place = 0
        """Where the bot sits in this game."""
        self.spoken: list[Spoken] = []
        """The actions of this game."""
        self.dress: Callable[[bytes], bytes] = lambda line: line
        """Changes each request before it is written."""
        self.after_answer: Callable[[ExaminedSeat], None] = lambda seat: None
        """Runs after each answer to `game_start` and `move`."""

    def _note_stray(self, line: bytes) -> None:
        self._last_stray = line
        self._log.add_stray(line, self._evidence())

    def _evidence(self) -> tuple[str, ...]:
        return self.connection.evidence() if self.connection else ()

    def begin(self) -> int:
        """Start and greet the bot unless it runs; return the number of the game in its process."""
        self.spoken = []
        begin = time.monotonic_ns()
        with self._watch("hello", self._times.init_ms):
            game = super().begin()
        self.greeted_ms = (time.monotonic_ns() - begin) / MS
        self._log.isolation = self.isolation
        return game

    def greet(self) -> None:
        """Start and greet the bot before any game."""
        self.begin()
        self.games = 0

    def ask(self, request: GameStart | GameEnd) -> None:
        """Wait for the bare answer."""
        begins = isinstance(request, GameStart)
        with self._watch("game_start" if begins else "game_end", self._times.init_ms):
            super().ask(request)
        if isinstance(request, GameStart):
            self._place = request.seat
            self.after_answer(self)

    def send_move(self, request: Move, limit: int | None, cpu_limit: int | None = None) -> BotConnection | None:
        """Write the request, and keep it for the judgment of its answer."""
        self._request, self._limit = request, limit
        return super().send_move(request, limit, cpu_limit)

    def collect_move(self) -> tuple[MoveAnswer, int, int]:
        """Collect the answer; if the request lists the legal actions, it is one of them."""
        request = self._request
        with self._watch("move", (self._limit or 0) // MS, request.legal or ()):
            answer, wall, cpu = super().collect_move()
            if request.legal is not UNSET and answer.move not in request.legal:
                raise judge_illegal_move(answer.move, request.legal)
        self.spoken.append(Spoken("> " + encode(request).decode().rstrip("\n"), self._evidence()[-1], answer.move))
        log = self._log
        thought = Thought(wall / MS, cpu / MS, log.ruleset, log.deal_seed, self._place, len(self.spoken), answer.move)
        log.thoughts.append(thought)
        self.after_answer(self)
        return answer, wall, cpu

    def ask_unknown(self, type: str, fields: dict[str, object]) -> None:
        """Send a request of a type that no bot knows, and wait for the bare answer."""
        id = self.next_id()
        line = self.dress(msgspec.json.encode({"type": type, "id": id} | fields) + b"\n")
        with self._watch(type, self._times.init_ms):
            assert self.connection
            self.connection.ask(line, type, id, _bare_answer, self._times.init_ms * MS)

    @contextmanager
    def _watch(self, what: str, limit_ms: int, legal: tuple[str, ...] = ()) -> Iterator[None]:
        self._last_stray = None
        try:
            yield
        except Verdict as verdict:
            raise self._investigate(what, limit_ms, verdict, legal) from None
        self._log.answers += 1

    def _investigate(self, what: str, limit_ms: int, verdict: Verdict, legal: tuple[str, ...]) -> Trouble:
        """Find out why the answer is wrong or missing, and end the process."""
        silence, stray = None, None
        if self.process:
            if verdict.code == "timeout":
                silence = listen(self.process, self._times.listen_ms, self._times.exit_ms)
            stray = self._last_stray
        exit, lines, stderr = self.dismiss()
        trouble = Trouble(what, limit_ms, verdict, lines, exit, stderr)
        trouble.silence, trouble.stray, trouble.legal = silence, stray, legal
        trouble.isolation = self.isolation
        return trouble

    def retire(self) -> None:
        """End the bot as a referee does: with `bye`, and time to exit."""
        self.leave()
        self.end(time.monotonic_ns() + BYE_WAIT_NS)

    def go(self, *, bye: bool) -> Leaving:
        """Say bye and leave the input open, or close it in silence; wait for the bot to exit, and end it."""
        process, connection = self.process, self.connection
        assert process
        assert connection
        if bye:
            connection.send(self.dress(encode(Bye())))
        else:
            process.thaw()
            process.close_input()
        heard = hear(process, self._times.exit_ms)
        sandboxed = "bwrap" in self.isolation  # the sandbox ends every process in it
        left = sum(1 for _ in list_group_members(process.pid)) if heard.gone and not sandboxed else 0
        exit, lines, stderr = self.dismiss()
        lines = (*lines, '> {"type":"bye"}' if bye else "* its input is closed")
        return Leaving(heard, exit, stderr, lines, left)


class Opponent(BotSeat):
    """The seat of a bot that ships; it has no deadline, so that a slow machine is nobody's fault."""

    def send_move(self, request: Move, limit: int | None, cpu_limit: int | None = None) -> BotConnection | None:
        """Write the request without a limit."""
        return super().send_move(request, None)
