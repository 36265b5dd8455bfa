"""The seat of the bot under examination: it listens in, keeps what was said, and ends the game at the first fault."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from protocol.codec import encode
from protocol.messages import BareAnswer, Bye, GameEnd, GameStart, Hello, Move, MoveAnswer
from referee.bot import BotProcess
from referee.clock import MS
from referee.exchange import BotConnection
from referee.records import Isolation, Player
from referee.seat import BYE_WAIT_NS, BotSeat
from referee.verdicts import Verdict, judge_illegal_move
from tournaments.check.exam_log import Journal, Times, Trouble, Wire
from tournaments.check.report import Thought
from tournaments.check.silence import Response, hear, listen
from tournaments.running.leftovers import list_group_members

_bare_answer = msgspec.json.Decoder(BareAnswer)


class Spoken(NamedTuple):
    """A request for an action, and the answer."""

    request: str
    answer: str
    move: str


class Leaving(NamedTuple):
    """How a process went, or did not."""

    heard: Response
    exit: str | None
    stderr: str
    lines: tuple[str, ...]
    left: int
    """How many other processes of its group lived on."""


class ExaminedSeat(BotSeat):
    """A seat that raises `Trouble` where another would take a verdict.

    Args:
        player: the bot.
        times: how long it may take.
        isolation: what is to be around it.
        journal: gets all that is worth to be noted.
    """

    def __init__(self, player: Player, times: Times, isolation: Isolation, journal: Journal) -> None:
        super().__init__(player, times.init_ms, None, isolation=isolation)
        self._times = times
        self._journal = journal
        self._wire: Wire | None = None
        self.greeted_ms = 0.0
        """How long it took to start and greet it, or a moment for one that runs."""
        self.spoken: list[Spoken] = []
        """The actions of this game."""
        self.dress: Callable[[bytes], bytes] = lambda line: line
        """Changes each request before it is written."""
        self.after_answer: Callable[[ExaminedSeat], None] = lambda seat: None
        """Is called after each answer to `game_start` and `move`."""

    def _line_to(self, bot: BotProcess) -> BotConnection:
        self._wire = Wire(bot, self._journal)
        return self._wire

    def _written(self, request: Hello | GameStart | Move | GameEnd) -> bytes:
        return self.dress(super()._written(request))

    def begin(self) -> None:
        """Start and greet the bot unless it runs."""
        self.spoken = []
        begin = time.monotonic_ns()
        with self._watch("hello", self._times.init_ms):
            super().begin()
        self.greeted_ms = (time.monotonic_ns() - begin) / MS
        self._journal.isolation = self.isolation

    def greet(self) -> None:
        """Start and greet the bot before any game."""
        self.begin()
        self.games = 0

    def ask(self, request: GameStart | GameEnd) -> None:
        """Wait for the bare answer."""
        begins = isinstance(request, GameStart)
        with self._watch("game_start" if begins else "game_end", self._times.init_ms):
            super().ask(request)
        if begins:
            self.after_answer(self)

    def ask_move(self, request: Move, limit: int | None, cpu_limit: int | None = None) -> tuple[MoveAnswer, int, int]:
        """Return the answer, if it is legal where the bot was told what is."""
        with self._watch("move", (limit or 0) // MS, request.legal or ()):
            answer, wall, cpu = super().ask_move(request, limit, cpu_limit)
            if request.legal is not UNSET and answer.move not in request.legal:
                raise judge_illegal_move(answer.move, request.legal)
        assert self._wire
        self.spoken.append(Spoken("> " + encode(request).decode().rstrip("\n"), self._wire.last(), answer.move))
        journal, view = self._journal, request.view
        thought = Thought(wall / MS, cpu / MS, journal.ruleset, journal.deal_seed, view.seat, view.turn, answer.move)
        journal.thoughts.append(thought)
        self.after_answer(self)
        return answer, wall, cpu

    def ask_unknown(self, type: str, fields: dict[str, object]) -> None:
        """Ask a request of a type that no bot knows; its bare id is the answer."""
        id = self.next_id()
        line = self.dress(msgspec.json.encode({"type": type, "id": id} | fields) + b"\n")
        with self._watch(type, self._times.init_ms):
            assert self._line
            self._line.ask(line, type, id, _bare_answer, self._times.init_ms * MS)

    @contextmanager
    def _watch(self, what: str, limit_ms: int, legal: tuple[str, ...] = ()) -> Iterator[None]:
        if self._wire:
            self._wire.last_stray = None
        try:
            yield
        except Verdict as verdict:
            raise self._investigate(what, limit_ms, verdict, legal) from None
        self._journal.answers += 1

    def _investigate(self, what: str, limit_ms: int, verdict: Verdict, legal: tuple[str, ...]) -> Trouble:
        """Find out what can be found out, and end the process."""
        silence, stray = None, None
        if self._bot and self._wire:
            if verdict.code == "timeout":
                silence = listen(self._bot, self._times.listen_ms, self._times.exit_ms)
            stray = self._wire.last_stray
        exit, lines, stderr = self.dismiss()
        trouble = Trouble(what, limit_ms, verdict, lines, exit, stderr)
        trouble.silence, trouble.stray, trouble.legal = silence, stray, legal
        trouble.isolation = self.isolation
        return trouble

    def dismiss(self) -> tuple[str | None, tuple[str, ...], str]:
        """End the bot at once."""
        self._wire = None
        return super().dismiss()

    def retire(self) -> None:
        """Send the bot off as a referee does."""
        self.leave()
        self.end(time.monotonic_ns() + BYE_WAIT_NS)

    def go(self, *, bye: bool) -> Leaving:
        """Say bye and leave the input open, or close it without a word; see whether the bot exits, and end it."""
        bot, line = self._bot, self._line
        assert bot
        assert line
        if bye:
            line.send(self.dress(encode(Bye())))
        else:
            bot.thaw()
            bot.close_input()
        heard = hear(bot, self._times.exit_ms)
        sandboxed = "bwrap" in self.isolation  # it ends whatever is in it
        left = sum(1 for _ in list_group_members(bot.pid)) if heard.gone and not sandboxed else 0
        exit, lines, stderr = self.dismiss()
        lines = (*lines, '> {"type":"bye"}' if bye else "* its input is closed")
        return Leaving(heard, exit, stderr, lines, left)


class Opponent(BotSeat):
    """A seat of a bot that ships: it may take its time, so that a slow machine is no fault of anybody."""

    def ask_move(self, request: Move, limit: int | None, cpu_limit: int | None = None) -> tuple[MoveAnswer, int, int]:
        """Wait for ever."""
        return super().ask_move(request, None)
