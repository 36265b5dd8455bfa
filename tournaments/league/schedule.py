"""The schedule of games: a pure function of the configuration, never held in memory as a whole."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import accumulate, combinations, groupby

from msgspec import Struct

from referee.dealer import Dealer
from referee.errors import DataError
from referee.families import make_rules
from referee.records import GameOrder, Key
from referee.rulesets import Ruleset
from tournaments.league.config import Config
from tournaments.league.draw import Table, draw_tables, list_pairs

BATCH_DEALS = 25
"""Most deals in a batch: bots restart after each batch."""
ROUNDS = 4
"""The least number of rounds of a tournament, so that standings are fair long before its end."""
BLOCK_DEALS = 5
"""Deals in a block beyond the schedule, for a table with open series."""
SERIES_BLOCKS = 40
"""Blocks of deals after which a series without a winner stays open."""

Draw = Callable[[str, int], Iterable[tuple[int, ...]]]


class TablePlan(Struct, frozen=True):
    """Entries that meet under one ruleset, by their numbers."""

    ruleset: Ruleset
    entries: tuple[int, ...]


class BatchPlan(Struct, frozen=True):
    """Deals `first` to `last` (exclusive) of a table in one rotation."""

    table: int
    rotation: int
    first: int
    last: int

    def games(self) -> Iterator[Key]:
        """List the games in playing order."""
        return (Key(self.table, deal, self.rotation) for deal in range(self.first, self.last))


class Schedule:
    """Every table plays `deals` deals, each of them in every rotation of its seats.

    The order of batches keeps every prefix as fair as possible: the first batch of every table in every rotation,
    then the second. Where every pair meets, tables play in an order in which all entries play equally often, to within
    one table: round by round, and never an entry twice before each had its turn.

    Args:
        rulesets: each with its number of seats.
        entries: the number of entries.
        deals: the number of deals per table.
        draw: returns the tables for the name of a ruleset and its number of seats; None for every set of entries once.
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
        self._order = tuple(range(len(self.tables))) if draw else tuple(_order_tables(self.tables, entries))
        before = list(accumulate((len(self.tables[table].entries) for table in self._order), initial=0))
        self._seats_before = dict(zip(self._order, before, strict=False))
        self._rotations = before[-1]
        self.total = deals * self._rotations

    def batches(self) -> Iterator[BatchPlan]:
        """List every batch in playing order."""
        for first in range(0, self.deals, self.batch_deals):
            last = min(first + self.batch_deals, self.deals)
            for number in self._order:
                for rotation in range(len(self.tables[number].entries)):
                    yield BatchPlan(number, rotation, first, last)

    def more(self, table: int, block: int) -> Iterator[BatchPlan]:
        """List the batches of a block of deals beyond the schedule, for a table with open series."""
        first = self.deals + block * BLOCK_DEALS
        for rotation in range(len(self.tables[table].entries)):
            yield BatchPlan(table, rotation, first, first + BLOCK_DEALS)

    def batch_count(self) -> int:
        """Return the number of batches."""
        return -(-self.deals // self.batch_deals) * self._rotations

    def missing(self, done: Iterable[Key]) -> int:
        """Return how many games of the schedule are not done."""
        return self.total - sum(key.deal < self.deals for key in done)

    def number(self, key: Key) -> int:
        """Return the place of a game in playing order, from 0; beyond the schedule there are gaps."""
        if key.deal < self.deals:
            chunk, within = divmod(key.deal, self.batch_deals)
            size = min(self.batch_deals, self.deals - chunk * self.batch_deals)
            before = chunk * self.batch_deals * self._rotations
        else:
            chunk, within = divmod(key.deal - self.deals, BLOCK_DEALS)
            size = BLOCK_DEALS
            before = self.total + chunk * BLOCK_DEALS * self._rotations
        return before + (self._seats_before[key.table] + key.rotation) * size + within


def _order_tables(tables: Sequence[TablePlan], entries: int) -> Iterator[int]:
    """Yield the numbers of all sets of entries in playing order: ruleset by ruleset, pairs in rounds."""
    numbers = {(table.ruleset.name, table.entries): number for number, table in enumerate(tables)}
    for ruleset, played in groupby(tables, lambda table: table.ruleset.name):
        sets = [table.entries for table in played]
        pairs = (min(pair, pair[::-1]) for pair in list_pairs(entries))
        yield from (numbers[ruleset, each] for each in (pairs if len(sets[0]) == 2 else sets))


class Seeds:
    """All randomness of a tournament, from one seed of 32 bytes that stays secret until its end."""

    def __init__(self, seed: bytes) -> None:
        self.seed = seed
        self.commit = f"sha256:{sha256(seed).hexdigest()}"

    def order(self, key: Key, seats: int) -> GameOrder:
        """Return the order of the game `key`: its cards, its seating and its bots' own seeds."""
        rngs = tuple(self._rng(key, seat) for seat in range(seats))
        return GameOrder(key, self.deal_seed(key).hex(), self.seating(key, seats), rngs)

    def deal_seed(self, key: Key) -> bytes:
        """Return the 32 bytes behind every shuffle of a deal, the same in all rotations."""
        return self._commit("deal", key.table, key.deal)

    def seating(self, key: Key, seats: int) -> tuple[int, ...]:
        """Return the player of the table at each seat: rotation k moves everybody by k seats.

        With three or more seats, the order around the table is drawn anew for each deal.
        """
        around = list(range(seats))
        if seats > 2:
            around = Dealer(self._commit("seating", key.table, key.deal)).order(seats)
        return tuple(around[(seat + key.rotation) % seats] for seat in range(seats))

    def draw_order(self, ruleset: str, labels: Sequence[str]) -> list[int]:
        """Return the entries shuffled for the draw of a ruleset's tables, whatever their order in the file."""
        return sorted(range(len(labels)), key=lambda entry: self._commit("draw", ruleset, labels[entry]))

    def _rng(self, key: Key, seat: int) -> int:
        return int.from_bytes(self._commit("rng", key, seat)[:4], "big") >> 1

    def _commit(self, *what: object) -> bytes:
        return hmac.digest(self.seed, "\0".join(map(str, what)).encode(), "sha256")


def make_schedule(config: Config, rulesets: tuple[Ruleset, ...], labels: Sequence[str], seeds: Seeds) -> Schedule:
    """Return the schedule of a tournament; its seed decides who meets at drawn tables.

    Raises:
        DataError: a ruleset does not allow the number of seats, or a table needs more entries.
    """
    seated = list_seated_rulesets(config, rulesets)
    for ruleset, seats in seated:
        least, most = ruleset.match.players
        if not least <= seats <= most:
            raise DataError(describe_misfit(ruleset, seats))
        make_rules(ruleset.family, ruleset.rules, seats)
        if len(labels) < seats:
            raise DataError(f"entries: expected at least {seats} for a table of {ruleset.name}, got {len(labels)}")

    def draw(ruleset: str, seats: int) -> tuple[Table, ...]:
        return draw_tables(seeds.draw_order(ruleset, labels), seats, config.tables)

    return Schedule(seated, len(labels), config.deals, draw if config.tables else None)


def describe_misfit(ruleset: Ruleset, seats: int) -> str:
    """Say that a ruleset does not allow a number of seats."""
    least, most = ruleset.match.players
    allowed = str(least) if least == most else f"{least} to {most}"
    return f"{ruleset.name}: is played by {allowed}, not by {seats}"


def count_most_deals(schedule: Schedule, ruleset: Ruleset) -> int:
    """Return the most deals that a table may play, including those for open series."""
    return schedule.deals + (SERIES_BLOCKS * BLOCK_DEALS if ruleset.match.target else 0)


def list_seated_rulesets(config: Config, rulesets: tuple[Ruleset, ...]) -> list[tuple[Ruleset, int]]:
    """Return the rulesets, each with its number of seats."""
    return [(ruleset, config.seats or ruleset.match.players[0]) for ruleset in rulesets]
