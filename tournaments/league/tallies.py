"""Totals of an entry over its games: how many, how long it thought, how often it failed."""

from __future__ import annotations

from malice.tournaments.league.contents import GameSummary


class Totals:
    """What an entry did in all its games."""

    __slots__ = ("asked", "cpu", "forfeits", "games", "idle", "used")

    def __init__(self) -> None:
        self.games = self.asked = self.forfeits = 0
        self.used = self.cpu = self.idle = 0.0

    def add(self, game: GameSummary, seat: int) -> None:
        """Add a game that it played at a seat."""
        self.games += 1
        self.asked += game.asked[seat]
        self.forfeits += bool(game.verdicts[seat])
        self.used += game.used_ms[seat]
        if game.cpu_ms:
            self.cpu += game.cpu_ms[seat]
        if game.idle_ms:
            self.idle += game.idle_ms[seat]

    def each(self, total: float) -> float | None:
        """Return a total per action."""
        return total / self.asked if self.asked else None
