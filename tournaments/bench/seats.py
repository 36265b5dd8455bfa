"""A seat without a process: what benchmarks let play where no bot is to be measured."""

from __future__ import annotations

from collections.abc import Callable

from protocol.messages import GameEnd, GameStart, Move, MoveAnswer
from referee.records import SeatReport

Choose = Callable[[Move], tuple[str, int]]
"""From a request to an action and the nanoseconds that it is said to have taken."""


class Puppet:
    """Plays what a function chooses, and shows it every request before it answers."""

    def __init__(self, choose: Choose, on_request: Callable[[GameStart | Move | GameEnd], None] | None = None) -> None:
        self._choose = choose
        self._on_request = on_request
        self._requests = 1

    def begin(self) -> int:
        """Be ready, as always."""
        return 0

    def report(self) -> SeatReport:
        """Return its name."""
        return SeatReport("puppet")

    def next_id(self) -> int:
        """Number the next request; a real bot was greeted before."""
        self._requests += 1
        return self._requests

    def ask_move(self, request: Move, limit: int | None, cpu_limit: int | None = None) -> tuple[MoveAnswer, int, int]:
        """Answer at once."""
        self.ask(request)
        move, wall = self._choose(request)
        return MoveAnswer(request.id, move), wall, wall

    def ask(self, request: GameStart | Move | GameEnd) -> None:
        """Take notice."""
        if self._on_request:
            self._on_request(request)

    def dismiss(self) -> tuple[str | None, tuple[str, ...], str]:
        """Stay: a puppet breaks no rule."""
        return None, (), ""
