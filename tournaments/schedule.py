"""Who meets whom, when: a pure function of the configuration, never held in memory as a whole."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from hashlib import sha256
from itertools import combinations

from msgspec import Struct

from referee.records import GameOrder, Key
from referee.ruleset import Ruleset

BATCH_DEALS = 25
"""Deals in a batch at most: bots start anew after so many games."""


class TablePlan(Struct, frozen=True):
    """Entries that meet under one ruleset."""

    ruleset: Ruleset
    entries: tuple[int, ...]


class BatchPlan(Struct, frozen=True):
    """Deals `first` to `last` (exclusive) of a table in one rotation."""

    table: int
    rotation: int
    first: int
    last: int

    def games(self) -> Iterator[Key]:
        """List the games, in the order in which they are played."""
        return (Key(self.table, deal, self.rotation) for deal in range(self.first, self.last))


class Schedule:
    """A round-robin: every set of entries meets in `deals` deals, each played in every rotation.

    Batches come in an order in which every prefix is as fair as it can be: the first batch of every
    table in every rotation, then the second.
    """

    def __init__(self, rulesets: tuple[Ruleset, ...], entries: int, deals: int, seats: int = 2) -> None:
        self.deals = deals
        self.seats = seats
        self.tables = tuple(
            TablePlan(ruleset, meeting) for ruleset in rulesets for meeting in combinations(range(entries), seats)
        )
        self.total = len(self.tables) * deals * seats

    def batches(self) -> Iterator[BatchPlan]:
        """List every batch in playing order."""
        for first in range(0, self.deals, BATCH_DEALS):
            last = min(first + BATCH_DEALS, self.deals)
            for table in range(len(self.tables)):
                for rotation in range(self.seats):
                    yield BatchPlan(table, rotation, first, last)

    def batch_count(self) -> int:
        """Return how many batches there are."""
        return -(-self.deals // BATCH_DEALS) * len(self.tables) * self.seats

    def number(self, key: Key) -> int:
        """Return the place of a game in playing order, from 0."""
        chunk, within = divmod(key.deal, BATCH_DEALS)
        size = min(BATCH_DEALS, self.deals - chunk * BATCH_DEALS)
        before = chunk * BATCH_DEALS * len(self.tables) * self.seats
        return before + (key.table * self.seats + key.rotation) * size + within


class Seeds:
    """All chance of a tournament, from one seed of 32 bytes that no bot sees while it goes on."""

    def __init__(self, seed: bytes) -> None:
        self.seed = seed
        self.commit = f"sha256:{sha256(seed).hexdigest()}"

    def order(self, key: Key, seats: int) -> GameOrder:
        """Return the game `key` with its cards, its seating and its bots' own randomness."""
        rngs = tuple(self._rng(key, seat) for seat in range(seats))
        return GameOrder(key, self.deal_seed(key).hex(), self.seating(key, seats), rngs)

    def deal_seed(self, key: Key) -> bytes:
        """Return the 32 bytes that every shuffle of a deal comes from; the same in all rotations."""
        return self._told("deal", key.table, key.deal)

    def seating(self, key: Key, seats: int) -> tuple[int, ...]:
        """Say which player of the table sits at each seat: rotation k moves everybody by k."""
        return tuple((seat + key.rotation) % seats for seat in range(seats))

    def _rng(self, key: Key, seat: int) -> int:
        return int.from_bytes(self._told("rng", key, seat)[:4], "big") >> 1

    def _told(self, *what: object) -> bytes:
        return hmac.digest(self.seed, "\0".join(map(str, what)).encode(), "sha256")
