"""An index between keys and numbers of games: a few kilobytes for 100,000 games."""

from __future__ import annotations

from typing import Any

from malice.referee.records import Key


class KeyIndex:
    """Stores runs of games: one part, table and rotation, with consecutive deals and numbers."""

    def __init__(self) -> None:
        self.count = 0
        self._runs: list[list[int]] = []

    def add(self, number: int, key: Key) -> None:
        """Add the game with the next higher number."""
        self.count += 1
        if self._runs:
            first, part, table, rotation, deal, count = self._runs[-1]
            if (number, key) == (first + count, Key(part, table, deal + count, rotation)):
                self._runs[-1][5] += 1
                return
        self._runs.append([number, key.part, key.table, key.rotation, key.deal, 1])

    def copy(self) -> KeyIndex:
        """Return an index with the same games, to add others."""
        copy = KeyIndex()
        copy.count = self.count
        copy._runs = [list(run) for run in self._runs]
        return copy

    def make_payload(self) -> dict[str, Any]:
        """Return the index, column by column; a run's first number is stored as the gap after the previous run."""
        gaps = []
        end = 0
        for first, *_, count in self._runs:
            gaps.append(first - end)
            end = first + count
        columns = [list(column) for column in zip(*self._runs, strict=True)] or [[]] * 6
        return {
            "count": self.count,
            "gaps": gaps,
            "parts": columns[1],
            "tables": columns[2],
            "rotations": columns[3],
            "deals": columns[4],
            "counts": columns[5],
        }
