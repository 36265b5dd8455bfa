"""A seat without a process, for benchmarks that do not measure a bot."""

from __future__ import annotations

from collections.abc import Callable

from malice.protocol.messages import GameEnd, GameStart, Move, MoveAnswer
from malice.referee.records import SeatReport
from malice.referee.seat import InProcessSeat

Choose = Callable[[Move], tuple[str, int]]
"""Returns an action for a request, and the nanoseconds to record for it."""


class Puppet(InProcessSeat):
    """Plays what a function chooses; an observer sees every request first."""

    def __init__(self, choose: Choose, on_request: Callable[[GameStart | Move | GameEnd], None] | None = None) -> None:
        self._choose = choose
        self._on_request = on_request
        self._requests = 1

    def begin(self) -> int:
        """Return 0: a puppet needs no start."""
        return 0

    def report(self) -> SeatReport:
        """Return its name."""
        return SeatReport("puppet")

    def next_id(self) -> int:
        """Return the next request's number, from 2: the first is a real bot's greeting."""
        self._requests += 1
        return self._requests

    def ask_move(self, request: Move, limit: int | None, cpu_limit: int | None = None) -> tuple[MoveAnswer, int, int]:
        """Answer at once."""
        self.ask(request)
        move, wall = self._choose(request)
        return MoveAnswer(request.id, move), wall, wall

    def ask(self, request: GameStart | Move | GameEnd) -> None:
        """Show the request to the observer."""
        if self._on_request:
            self._on_request(request)

    def dismiss(self) -> tuple[str | None, tuple[str, ...], str]:
        """Return an empty report: a puppet breaks no rule."""
        return None, (), ""
