"""A person at the table, who reads requests of the protocol in words, and answers by number."""

from __future__ import annotations

import os
import select
import shutil
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, Protocol, TextIO

from malice.protocol.messages import GameEnd, GameStart, Move, MoveAnswer
from malice.referee.errors import Abandoned, BotError
from malice.referee.families import Family, load_family
from malice.referee.records import SeatReport
from malice.referee.seat import InProcessSeat
from malice.referee.verdicts import Verdict
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.transcript import describe_event, format_places
from malice.tournaments.terminal.watching import write_now

HELP = """\
Answer with the number of an action, or name the action as bots do.
{help}malice rules show {ruleset} prints all the rules.
?  this help
{hint}{leaving}"""


class Hinted(Protocol):
    """What a bot would play."""

    @property
    def bot(self) -> str: ...
    @property
    def action(self) -> str: ...
    @property
    def note(self) -> str: ...


class Hinting(Protocol):
    """A bot that looks over somebody's shoulder, as `Hints` of `running` does."""

    def hear(self, request: GameStart | Move | GameEnd) -> None: ...
    def give(self) -> Hinted: ...
    def end(self) -> None: ...


class Person(InProcessSeat):
    """The seat of somebody at a terminal, for all games; it has no clock, but reports the time of each action.

    Args:
        label: the name of its entry.
        source: where its answers come from, line by line.
        out: receives the table and all messages.
        names: by label, what to call people instead; records and other players know labels alone.
        hints: gives hints, if there is a bot that does.
    """

    LEAVE = "resign"
    LEAVING = "q  resign this game and leave the table; Ctrl-D, which ends the input, does the same"
    WORDS: tuple[str, ...] = ("q",)
    """What makes the person leave."""

    def __init__(
        self,
        label: str,
        source: BinaryIO,
        out: TextIO,
        names: Mapping[str, str] | None = None,
        hints: Hinting | None = None,
    ) -> None:
        self.name = label
        self._hints = hints
        self._called = names or {}
        self.games = 0
        self.isolation: tuple[str, ...] = ()
        self._source = source
        self._out = out
        self._requests = 1
        self._left = False
        self._seat = 0
        self._ruleset = ""
        self._family: Family
        self._names: list[str] = []

    def begin(self) -> int:
        """Begin a game; return its number.

        Raises:
            Abandoned: the person has left the table.
        """
        if self._left:
            raise Abandoned(self.name)
        self.games += 1
        return self.games

    def report(self) -> SeatReport:
        return SeatReport(self.name)

    def next_id(self) -> int:
        """The number of the next request, from 2: with bots, request 1 is the greeting."""
        self._requests += 1
        return self._requests

    def ask_move(self, request: Move, limit: int | None, cpu_limit: int | None = None) -> tuple[MoveAnswer, int, int]:
        """Show the table and what may be played; wait for a choice, however long that takes.

        Raises:
            Verdict: the person resigned, or closed the input.
        """
        assert isinstance(request.legal, tuple)
        begin = time.monotonic_ns()
        family, names = self._family, self._names
        news = (describe_event(family, event, names, self._seat) for event in request.events)
        for line in filter(None, news):
            self._say(f"  {line}")
        self._say("")
        for line in family.draw(request.view, names):
            self._say(line)
        words = [family.describe_action(action, request.view, names) for action in request.legal]
        for line in _columns([f"{number:3}  {text}" for number, text in enumerate(words, start=1)]):
            self._say(line)
        if self._hints:
            self._hints.hear(request)
        try:
            action = self._choice(request.legal, words)
        except Verdict as resigned:
            resigned.wall = time.monotonic_ns() - begin
            raise
        return MoveAnswer(request.id, action), time.monotonic_ns() - begin, 0

    def _choice(self, legal: Sequence[str], words: Sequence[str]) -> str:
        """Prompt until the answer is a legal action, and one that ends the person's play is given twice in a row."""
        action = self._prompt(legal, words)
        while action in self._family.final:
            self._say(
                f"{action} is for good: you play no more. Answer the same again to confirm, or choose another action"
            )
            before, action = action, self._prompt(legal, words)
            if action == before:
                break
        return action

    def _prompt(self, legal: Sequence[str], words: Sequence[str]) -> str:
        """Prompt until the answer is a legal action."""
        while True:
            write_now(self._out, f"{self._call(self.name)}, 1 to {len(legal)}, ? or q> ")
            _await_line(self._source)
            line = self._source.readline()
            answer = line.decode("utf-8", "replace").strip()
            if not line:
                self._say("")
                self._resign("resigned by closing the input")
            elif answer in self.WORDS:
                self._resign("resigned the game")
            elif answer == "?":
                hint = "h  a hint\n" if self._hints else ""
                self._say(HELP.format(help=self._family.help, ruleset=self._ruleset, hint=hint, leaving=self.LEAVING))
            elif answer == "h" and self._hints:
                self._say(f"  {self._describe_hint(self._hints, legal, words)}")
            elif answer in legal:
                return answer
            elif answer.isascii() and answer.isdigit() and 1 <= int(answer[:9]) <= len(legal):
                return legal[int(answer[:9]) - 1]
            else:
                got = ascii(answer[:60])
                self._say(f"expected a number from 1 to {len(legal)}, ? for help, or q to {self.LEAVE}; got: {got}")

    def _describe_hint(self, hints: Hinting, legal: Sequence[str], words: Sequence[str]) -> str:
        try:
            hint = hints.give()
        except BotError as error:
            return f"no hint: {sanitize(str(error))}"
        place = legal.index(hint.action)
        note = f"  # {sanitize(hint.note)}" if hint.note else ""
        return f"{sanitize(hint.bot)} would choose {place + 1}, {words[place]}{note}"

    def _resign(self, sentence: str) -> None:
        self._left = True
        self._say(f"{self._call(self.name)}: {sentence}")
        raise Verdict("resigned", sentence)

    def ask(self, request: GameStart | GameEnd) -> None:
        """Print who plays in a new game, or how a game ended."""
        if self._hints:
            self._hints.hear(request)
        if isinstance(request, GameStart):
            self._announce_start(request)
        else:
            self._announce_end(request)

    def _announce_start(self, request: GameStart) -> None:
        self.sit_down(load_family(request.family), request.ruleset, [seat.name for seat in request.seats], request.seat)
        seats = ", ".join(f"{name} in seat {seat}" for seat, name in enumerate(self._names))
        self._say(f"\nA game of {sanitize(request.ruleset)}: {seats}. You have no clock; ? helps, q resigns.")
        if isinstance(request.begun, int):
            self._say(f"It goes on after {request.begun} actions; this happened so far, without what you played:")

    def sit_down(self, family: Family, ruleset: str, names: Sequence[str], seat: int = 0) -> None:
        """Learn which game is played, who else plays, and where the person sits."""
        self._family, self._ruleset, self._seat = family, ruleset, seat
        self._names = [self._call(name) for name in names]

    def _call(self, label: str) -> str:
        return sanitize(self._called.get(label, label))

    def _announce_end(self, request: GameEnd) -> None:
        results = sorted(zip(request.places, self._names, request.scores, strict=True))
        self._say(f"\nThe game is over, {request.reason}: {format_places(results)}")

    def dismiss(self) -> tuple[str | None, tuple[str, ...], str]:
        """End the bot that gives hints; there is no other process."""
        self.leave()
        return None, (), ""

    def leave(self) -> None:
        """End the bot that gives hints; there is no other process."""
        if self._hints:
            self._hints.end()

    def end(self, deadline: int) -> None:
        """Do nothing."""

    def _say(self, line: str) -> None:
        write_now(self._out, line + "\n")


def _columns(cells: Sequence[str]) -> Iterator[str]:
    """Lay out cells in as many columns as fit in the terminal, to be read downwards."""
    width = max(map(len, cells)) + 2
    rows = -(-len(cells) // max(1, (shutil.get_terminal_size().columns + 2) // width))
    for row in range(rows):
        yield "".join(cell.ljust(width) for cell in cells[row::rows]).rstrip()


def _await_line(source: BinaryIO) -> None:
    """Wait until a terminal has a line, or a signal has come.

    Without this, a signal just before a read would have no effect until the read returns.
    """
    if not source.isatty():
        return
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    before = signal.set_wakeup_fd(wake_write)
    try:
        select.select([source.fileno(), wake_read], [], [])
    finally:
        signal.set_wakeup_fd(before)
        os.close(wake_read)
        os.close(wake_write)
