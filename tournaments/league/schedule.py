"""Who meets whom, when: a pure function of the configuration, never held in memory as a whole."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import accumulate, combinations

from msgspec import Struct

from referee.dealer import Dealer
from referee.errors import DataError
from referee.games import make_rules
from referee.records import GameOrder, Key
from referee.ruleset import Parameters, Ruleset
from tournaments.league.config import Config
from tournaments.league.draw import Table, draw_tables

BATCH_DEALS = 25
"""Deals in a batch at most: bots start anew after so many games."""
ROUNDS = 4
"""A tournament is cut into so many rounds at least, so that standings are fair long before its end."""
BLOCK_DEALS = 5
"""Deals that a table with open series plays at a time beyond the schedule."""

SERIES_BLOCKS = 40
"""Blocks of deals after which a series that nobody wins is left open."""

Draw = Callable[[str, int], Iterable[tuple[int, ...]]]


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
    """Every table plays `deals` deals, each of them in every rotation of its seats.

    Batches come in an order in which every prefix is as fair as it can be: the first batch of every
    table in every rotation, then the second.

    Args:
        rulesets: each with the number of seats it is played with.
        entries: how many take part.
        deals: for each table.
        draw: from the name of a ruleset and its number of seats to who meets; None for every set of entries once.
    """

    def __init__(
        self, rulesets: Sequence[tuple[Ruleset, int]], entries: int, deals: int, draw: Draw | None = None
    ) -> None:
        self.deals = deals
        self.batch_deals = min(BATCH_DEALS, max(1, deals // ROUNDS))
        self.tables = tuple(
            TablePlan(ruleset, meeting)
            for ruleset, seats in rulesets
            for meeting in (draw(ruleset.name, seats) if draw else combinations(range(entries), seats))
        )
        self._seats_before = list(accumulate((len(table.entries) for table in self.tables), initial=0))
        self._rotations = self._seats_before[-1]
        self.total = deals * self._rotations

    def batches(self) -> Iterator[BatchPlan]:
        """List every batch in playing order."""
        for first in range(0, self.deals, self.batch_deals):
            last = min(first + self.batch_deals, self.deals)
            for number, table in enumerate(self.tables):
                for rotation in range(len(table.entries)):
                    yield BatchPlan(number, rotation, first, last)

    def more(self, table: int, block: int) -> Iterator[BatchPlan]:
        """List the batches of a block of deals beyond the schedule, for a table whose series are open."""
        first = self.deals + block * BLOCK_DEALS
        for rotation in range(len(self.tables[table].entries)):
            yield BatchPlan(table, rotation, first, first + BLOCK_DEALS)

    def batch_count(self) -> int:
        """Return how many batches there are."""
        return -(-self.deals // self.batch_deals) * self._rotations

    def missing(self, done: Iterable[Key]) -> int:
        """Return how many games of the schedule are not among those that are done."""
        return self.total - sum(key.deal < self.deals for key in done)

    def number(self, key: Key) -> int:
        """Return the place of a game in playing order, from 0; beyond the schedule with gaps."""
        if key.deal < self.deals:
            chunk, within = divmod(key.deal, self.batch_deals)
            size = min(self.batch_deals, self.deals - chunk * self.batch_deals)
            before = chunk * self.batch_deals * self._rotations
        else:
            chunk, within = divmod(key.deal - self.deals, BLOCK_DEALS)
            size = BLOCK_DEALS
            before = self.total + chunk * BLOCK_DEALS * self._rotations
        return before + (self._seats_before[key.table] + key.rotation) * size + within


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
        return self._commit("deal", key.table, key.deal)

    def seating(self, key: Key, seats: int) -> tuple[int, ...]:
        """Say which player of the table sits at each seat: rotation k moves everybody by k.

        With three seats and more the order around the table is drawn anew for each deal.
        """
        around = list(range(seats))
        if seats > 2:
            around = Dealer(self._commit("seating", key.table, key.deal)).order(seats)
        return tuple(around[(seat + key.rotation) % seats] for seat in range(seats))

    def draw_order(self, ruleset: str, labels: Sequence[str]) -> list[int]:
        """Return the entries shuffled for the draw of a ruleset's tables, wherever in the file they stand."""
        return sorted(range(len(labels)), key=lambda entry: self._commit("draw", ruleset, labels[entry]))

    def _rng(self, key: Key, seat: int) -> int:
        return int.from_bytes(self._commit("rng", key, seat)[:4], "big") >> 1

    def _commit(self, *what: object) -> bytes:
        return hmac.digest(self.seed, "\0".join(map(str, what)).encode(), "sha256")


def make_schedule(config: Config, rulesets: tuple[Ruleset, ...], labels: Sequence[str], seeds: Seeds) -> Schedule:
    """Return the schedule of a tournament; who meets at drawn tables comes from its seed.

    Raises:
        DataError: a ruleset is not for so many seats, or there are too few entries for a table.
    """
    seated = list_seated_rulesets(config, rulesets)
    for ruleset, seats in seated:
        least, most = ruleset.rules.players
        if not least <= seats <= most:
            allowed = str(least) if least == most else f"{least} to {most}"
            raise DataError(f"{ruleset.name}: is played by {allowed}, not by {seats}")
        make_rules(ruleset.rules, seats)
        if len(labels) < seats:
            raise DataError(f"entries: expected at least {seats} for a table of {ruleset.name}, got {len(labels)}")

    def draw(ruleset: str, seats: int) -> tuple[Table, ...]:
        return draw_tables(seeds.draw_order(ruleset, labels), seats, config.tables)

    return Schedule(seated, len(labels), config.deals, draw if config.tables else None)


def count_most_deals(schedule: Schedule, rules: Parameters) -> int:
    """Return how many deals a table may have, those included that its open series ask for."""
    return schedule.deals + (SERIES_BLOCKS * BLOCK_DEALS if rules.match_target else 0)


def list_seated_rulesets(config: Config, rulesets: tuple[Ruleset, ...]) -> list[tuple[Ruleset, int]]:
    return [(ruleset, config.seats or ruleset.rules.players[0]) for ruleset in rulesets]
