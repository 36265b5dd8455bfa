"""Totals of an entry over its games: how many, how long it thought, how often it failed."""

from __future__ import annotations

from collections.abc import Iterable

from tournaments.league.contents import Game


class Tally:
    """What an entry did in all its games."""

    __slots__ = ("asked", "cpu", "forfeits", "games", "idle", "used")

    def __init__(self) -> None:
        self.games = self.asked = self.forfeits = 0
        self.used = self.cpu = self.idle = 0.0

    def each(self, total: float) -> float | None:
        """Return a total per action."""
        return total / self.asked if self.asked else None


def tally_games(played: Iterable[Game], entries: Iterable[str]) -> dict[str, Tally]:
    """Return the totals by label."""
    tallies = {label: Tally() for label in entries}
    for game in played:
        for seat, label in enumerate(game.labels):
            tally = tallies[label]
            tally.games += 1
            tally.asked += game.asked[seat]
            tally.forfeits += bool(game.verdicts[seat])
            tally.used += game.used_ms[seat]
            if game.cpu_ms:
                tally.cpu += game.cpu_ms[seat]
            if game.idle_ms:
                tally.idle += game.idle_ms[seat]
    return tallies
