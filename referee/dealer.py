"""Chance: one stream of numbers per game, derived from the deal seed as PROTOCOL.md specifies."""

from __future__ import annotations

from hashlib import sha256
from struct import unpack


class Dealer:
    """Chooses the order of every shuffle of one game.

    Block n of the stream is SHA-256(seed || n as 8 bytes, big-endian); its bytes are 32-bit big-endian words.
    """

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._block = 0
        self._words: list[int] = []

    def order(self, size: int) -> list[int]:
        """Return a permutation of range(size): Fisher-Yates, from the last index down to 1."""
        order = list(range(size))
        for last in range(size - 1, 0, -1):
            other = self._uniform(last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def _uniform(self, size: int) -> int:
        """Return a number below `size`; skip words that would favour small numbers."""
        limit = (1 << 32) // size * size
        while True:
            if not self._words:
                block = sha256(self._seed + self._block.to_bytes(8, "big")).digest()
                self._words = list(reversed(unpack(">8I", block)))
                self._block += 1
            word = self._words.pop()
            if word < limit:
                return word % size
