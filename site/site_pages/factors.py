"""How fast the workers were that played games on other machines, in words."""

from __future__ import annotations

from msgspec import Struct

from malice.referee.nouns import format_count


class WorkerSpeeds(Struct):
    """The factors of some games; those of the league's own machine have none."""

    games: int = 0
    least: float = 0.0
    most: float = 0.0

    def add(self, speed: float) -> None:
        """Count a game that a worker played; nothing for another."""
        if speed:
            self.least = min(self.least, speed) if self.games else speed
            self.most = max(self.most, speed)
            self.games += 1

    def describe(self) -> str:
        """Return how many games workers played, and how fast these were; nothing if there are none."""
        if not self.games:
            return ""
        factor = f"{self.least:g}" if self.least == self.most else f"{self.least:g} to {self.most:g}"
        return f"{format_count(self.games, 'game')} on workers of factor {factor}"
