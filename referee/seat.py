"""A seat at the table: what a game asks of whoever sits there, and what came of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from malice.protocol.messages import GameEnd, GameStart, Move, MoveAnswer
from malice.referee.connection import BotConnection
from malice.referee.records import SeatReport


class Played(Struct, frozen=True, gc=False):
    """An action, or `!` and the code of a verdict, with its time and the bot's note."""

    seat: int
    action: str
    micros: int
    cpu_micros: int
    note: str = ""


Watch = Callable[[Sequence[Played]], None]
"""Receives what came of every ask: first the verdicts, then the actions, by seat."""


class Seat(Protocol):
    """The methods that a bot, a person and a script share."""

    def begin(self) -> int:
        """Get ready for a game; return its number, counted in this player's process; raises `Verdict`."""

    def next_id(self) -> int:
        """Return the number of the next request."""

    def send_move(self, request: Move, limit: int | None, cpu_limit: int | None) -> BotConnection | None:
        """Ask for an action, within limits in nanoseconds; return the connection that the answer comes from, if any."""

    def collect_move(self) -> tuple[MoveAnswer, int, int]:
        """Wait for the answer; return it, and the wall and CPU time it took in nanoseconds; raises `Verdict`."""

    def ask(self, request: GameStart | GameEnd) -> None:
        """Wait for the bare answer; raises `Verdict`."""

    def dismiss(self) -> tuple[str | None, tuple[str, ...], str]:
        """End the bot; return its exit status if it had already ended, the last messages, and its stderr."""

    def report(self) -> SeatReport:
        """Return who sits here and what it did in this game; the times of its answers stay 0."""


class InProcessSeat(ABC):
    """A seat whose player thinks in this process: it answers when its answer is collected."""

    _asked: tuple[Move, int | None, int | None]

    def send_move(self, request: Move, limit: int | None, cpu_limit: int | None = None) -> None:
        """Keep the request."""
        self._asked = request, limit, cpu_limit

    def collect_move(self) -> tuple[MoveAnswer, int, int]:
        """Return what `ask_move` returns."""
        return self.ask_move(*self._asked)

    @abstractmethod
    def ask_move(self, request: Move, limit: int | None, cpu_limit: int | None) -> tuple[MoveAnswer, int, int]:
        """Return the answer, and the wall and CPU time it took, in nanoseconds; raises `Verdict`."""
