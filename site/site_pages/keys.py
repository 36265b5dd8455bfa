"""An index between keys and numbers of games: a few kilobytes for 100,000 games."""

from __future__ import annotations

from typing import Any

from referee.records import Key


class KeyIndex:
    """Stores runs of games: one table and rotation, with consecutive deals and numbers."""

    def __init__(self) -> None:
        self.count = 0
        self._runs: list[list[int]] = []

    def add(self, number: int, key: Key) -> None:
        """Add the game with the next higher number."""
        self.count += 1
        if self._runs:
            first, table, rotation, deal, count = self._runs[-1]
            if (number, key) == (first + count, Key(table, deal + count, rotation)):
                self._runs[-1][4] += 1
                return
        self._runs.append([number, key.table, key.rotation, key.deal, 1])

    def make_payload(self) -> dict[str, Any]:
        """Return the index, column by column; a run's first number is stored as the gap after the previous run."""
        gaps = []
        end = 0
        for first, *_, count in self._runs:
            gaps.append(first - end)
            end = first + count
        columns = [list(column) for column in zip(*self._runs, strict=True)] or [[]] * 5
        return {
            "count": self.count,
            "gaps": gaps,
            "tables": columns[1],
            "rotations": columns[2],
            "deals": columns[3],
            "counts": columns[4],
        }
