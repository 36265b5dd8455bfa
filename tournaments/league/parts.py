"""Parts of a tournament: what is created at once and never changes, with the order and the cards of its games."""

from __future__ import annotations

import hmac
import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from hashlib import sha256
from itertools import accumulate
from typing import Annotated

from msgspec import Meta, Struct

from malice.referee.course import Dealer
from malice.referee.errors import DataError
from malice.referee.records import Count, GameOrder, Key

BATCH_DEALS = 25
"""Most deals in a batch: bots restart after each batch."""
ROUNDS = 4
"""The least number of rounds of a part, so that standings are fair long before its end."""

Positive = Annotated[int, Meta(ge=1, le=2**53)]
Commit = Annotated[str, Meta(pattern=r"^sha256:[0-9a-f]{64}\Z")]


class VersionKey(Struct, frozen=True, order=True, array_like=True):
    """A version of an entry."""

    label: str
    number: Positive


class PartTable(Struct, frozen=True, array_like=True):
    """Entries that meet under one ruleset."""

    ruleset: str
    versions: Annotated[tuple[VersionKey, ...], Meta(min_length=1)]
    after: tuple[Count, Count] | None = None
    """The part and the table to which this one adds deals: their series go on here."""


class Draft(Struct, frozen=True):
    """A part before it is created."""

    title: str
    """For people, such as `adds lea`."""
    deals: Positive
    """At each table; each deal is played in every rotation of seats, or once where all seats have the same deal."""
    tables: Annotated[tuple[PartTable, ...], Meta(min_length=1)]
    """In playing order."""
    block: bool = False
    """Whether these deals only decide open series."""
    common_deals: bool = False
    """Whether all tables get the same cards."""
    byes: tuple[VersionKey, ...] = ()
    """Those that have no opponent in this round, and need none."""


class Part(Draft, frozen=True):
    """A part of a tournament."""

    number: Count = 0
    first: Count = 0
    """The number of its first game; games are numbered through the whole league."""
    commit: Commit = "sha256:" + 64 * "0"
    """`sha256:` and the SHA-256 of its seed, hex."""


def list_chain(parts: Sequence[Part], part: int, table: int) -> list[tuple[int, int]]:
    """The tables that one goes on with, each as part and table: the first of all first, and the table last."""
    chain = [(part, table)]
    while parts and (before := parts[chain[0][0]].tables[chain[0][1]].after) is not None:
        chain.insert(0, before)
    return chain


class BatchPlan(Struct, frozen=True):
    """Deals `first` to `last` (exclusive) of a table in one rotation."""

    part: int
    table: int
    rotation: int
    first: int
    last: int

    def games(self) -> Iterator[Key]:
        """List the games in playing order."""
        return (Key(self.part, self.table, deal, self.rotation) for deal in range(self.first, self.last))


class Schedule:
    """The games of a part in playing order, never held in memory as a whole.

    The order keeps every prefix as fair as possible: the first batch of every table in every rotation, then the second.

    Args:
        part: its tables are in an order in which all entries play equally often, to within one table.
        once: the rulesets under which a deal is one game, without rotations.
    """

    def __init__(self, part: Part, once: Collection[str] = ()) -> None:
        self.part = part
        self.deals = part.deals
        self.batch_deals = min(BATCH_DEALS, max(1, part.deals // ROUNDS))
        self.rotations = tuple(1 if table.ruleset in once else len(table.versions) for table in part.tables)
        """By table: how many games a deal has there."""
        self._games_before = list(accumulate(self.rotations, initial=0))
        self._games = self._games_before[-1]
        self.total = part.deals * self._games
        self.labels = tuple(tuple(version.label for version in table.versions) for table in part.tables)
        """By table: the labels of the entries that meet there, in its order."""

    def batches(self) -> Iterator[BatchPlan]:
        """List every batch in playing order."""
        for first in range(0, self.deals, self.batch_deals):
            last = min(first + self.batch_deals, self.deals)
            for number, rotations in enumerate(self.rotations):
                for rotation in range(rotations):
                    yield BatchPlan(self.part.number, number, rotation, first, last)

    def plays_once(self, table: int) -> bool:
        """Whether a deal of a table is one game, the same for all seats."""
        return self.rotations[table] == 1

    def has(self, key: Key) -> bool:
        return (
            key.part == self.part.number
            and 0 <= key.table < len(self.rotations)
            and 0 <= key.deal < self.deals
            and 0 <= key.rotation < self.rotations[key.table]
        )

    def number(self, key: Key) -> int:
        """The place of a game in playing order, counted through the whole league."""
        chunk, within = divmod(key.deal, self.batch_deals)
        size = min(self.batch_deals, self.deals - chunk * self.batch_deals)
        before = chunk * self.batch_deals * self._games
        return self.part.first + before + (self._games_before[key.table] + key.rotation) * size + within

    def key(self, number: int) -> Key:
        """The game that has this place in playing order: the inverse of `number`."""
        chunk, rest = divmod(number - self.part.first, self.batch_deals * self._games)
        first = chunk * self.batch_deals
        column, within = divmod(rest, min(self.batch_deals, self.deals - first))
        table = bisect_right(self._games_before, column) - 1
        return Key(self.part.number, table, first + within, column - self._games_before[table])


class Seeds:
    """All randomness of a part, from one seed of 32 bytes that stays secret until the part is closed.

    Args:
        seed: 32 bytes.
        common: whether a deal has the same cards at all tables.
        seated: whether everybody sits in the order of the table in rotation 0, also with three or more seats, as
            those do who go on from a position: its seats have a past.
    """

    def __init__(self, seed: bytes, *, common: bool = False, seated: bool = False) -> None:
        self.seed = seed
        self._seated = seated
        self.commit = f"sha256:{sha256(seed).hexdigest()}"
        self._common = common

    def order(self, key: Key, seats: int) -> GameOrder:
        """The order of the game `key`: its cards, its seating and its bots' own seeds."""
        rngs = tuple(self._rng(key, seat) for seat in range(seats))
        return GameOrder(key, self.deal_seed(key).hex(), self.seating(key, seats), rngs)

    def deal_seed(self, key: Key) -> bytes:
        """The 32 bytes behind every shuffle of a deal, the same in all rotations."""
        return self._commit("deal", *self._place(key))

    def seating(self, key: Key, seats: int) -> tuple[int, ...]:
        """The player of the table at each seat: rotation k moves everybody by k seats.

        With three or more seats, the order around the table is drawn anew for each deal, unless they are seated.
        """
        around = list(range(seats))
        if seats > 2 and not self._seated:
            around = Dealer(self._commit("seating", *self._place(key))).order(seats)
        return tuple(around[(seat + key.rotation) % seats] for seat in range(seats))

    def _place(self, key: Key) -> tuple[int, ...]:
        return (key.deal,) if self._common else (key.table, key.deal)

    def _rng(self, key: Key, seat: int) -> int:
        return int.from_bytes(self._commit("rng", key, seat)[:4], "big") >> 1

    def _commit(self, *what: object) -> bytes:
        return _commit(self.seed, *what)


def derive_part_seed(seed: bytes, tournament: str, number: int) -> bytes:
    """Derive the seed of a part from that of its tournament, which is never told."""
    return _commit(seed, "part", tournament, number)


def draw_order(seed: bytes, ruleset: str, labels: Sequence[str]) -> list[int]:
    """Shuffle entries for the draw of a ruleset's tables, whatever their order in the file.

    Args:
        seed: that of the tournament.
        ruleset: its name.
        labels: those of the entries.
    """
    return sorted(range(len(labels)), key=lambda entry: _commit(seed, "draw", ruleset, labels[entry]))


def _commit(seed: bytes, *what: object) -> bytes:
    return hmac.digest(seed, "\0".join(map(str, what)).encode(), "sha256")


class Share(Struct, frozen=True):
    """Every `of`-th deal of each table, with all its rotations: a pair is never torn apart."""

    number: int
    """From 1."""
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, key: Key) -> bool:
        """Whether a game belongs to the share; it belongs to exactly one of them."""
        return (key.part + key.table + key.deal) % self.of == self.number - 1

    def count_deals(self, part: int, table: int, deals: int) -> int:
        """How many of the first deals of a table belong to the share."""
        first = (self.number - 1 - part - table) % self.of
        return len(range(first, deals, self.of))


def parse_share(text: str) -> Share:
    """Parse a share such as `2/3`.

    Raises:
        DataError: `text` is no share.
    """
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise DataError(where="--shard", expected="a share such as 2/3, the second of three", got=repr(text))
    return Share(int(found[1]), int(found[2]))
