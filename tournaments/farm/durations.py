"""How long games take, as the workers measure it, and so how many of them make a block."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

BLOCK_S = 10.0
"""How long a block should take: that much a slot loses if its worker vanishes."""
FIRST_GAMES = 4
"""Games of a block, if nobody knows how long they take."""


@dataclass
class _Sum:
    games: int = 0
    seconds: float = 0.0


class Durations:
    """The time that a game of each entry took so far, on average, with its share of the start of a referee process."""

    def __init__(self) -> None:
        self._sums: dict[str, _Sum] = {}

    def count(self, labels: Collection[str], games: int, seconds: float) -> None:
        """Take a block that was played.

        Args:
            labels: the entries at its table.
            games: how many were played.
            seconds: how long they took, one after the other.
        """
        for label in labels:
            known = self._sums.setdefault(label, _Sum())
            known.games += games
            known.seconds += seconds

    def choose_games(self, labels: Collection[str]) -> int:
        """How many games of these entries one block should have; the slowest of them decides."""
        known = [self._sums[label] for label in labels if label in self._sums]
        if len(known) < len(labels):
            return FIRST_GAMES
        slowest_s = max(each.seconds / each.games for each in known)
        return max(1, int(BLOCK_S / max(slowest_s, 1e-6)))
