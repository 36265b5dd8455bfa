"""One pass over the rows of all games: who won which deals, where games lie, and what the data files are made from."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from markupsafe import Markup
from msgspec import Struct

from malice.referee.nouns import format_count
from malice.referee.records import Key
from malice.site_pages import shards
from malice.site_pages.contents import Numbering
from malice.site_pages.deals import BotGames, Deals
from malice.site_pages.series import score_played_series
from malice.tournaments.league.contents import Contents, GameSummary
from malice.tournaments.league.ranking import Picker


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
        """Say how many games workers played, and how fast these were; nothing if there are none."""
        if not self.games:
            return ""
        factor = f"{self.least:g}" if self.least == self.most else f"{self.least:g} to {self.most:g}"
        return f"{format_count(self.games, 'game')} on workers of factor {factor}"


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

    def make_payload(self) -> dict[str, Any]:
        """The index, column by column; a run's first number is stored as the gap after the previous run."""
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


class KeptMarkup:
    """Keeps what macros made of equal values in this rendering and in the one before."""

    def __init__(self) -> None:
        self._terms: object = None
        self._before: dict[bytes, bytes] = {}
        self._now: dict[bytes, bytes] = {}

    def begin(self, terms: object) -> None:
        """Begin a rendering.

        Args:
            terms: what decides, besides their values, what macros make.
        """
        self._before, self._now = self._now if terms == self._terms else {}, {}
        self._terms = terms

    def make(self, name: str, macro: Callable[..., Markup], *values: object) -> Markup:
        """Call a macro, or reuse what it made of the same values before.

        Args:
            name: that of the macro, which no other has.
            macro: the macro itself; each template that imports it has its own.
            values: what it takes: structs and texts.
        """
        # Digests and bytes, since the values and texts of all rows of a large league take ten megabytes.
        key = hashlib.blake2b(msgspec.msgpack.encode((name, values)), digest_size=16).digest()
        found = self._now.get(key)
        if found is None:
            found = self._now[key] = self._before.get(key) or macro(*values).encode("utf-8", "surrogatepass")
        return Markup(found.decode("utf-8", "surrogatepass"))


LATEST = 25
"""Latest games on a bot's page."""


class GameTotals:
    """What pages show of the games, collected from their rows in playing order."""

    def __init__(self) -> None:
        self.deals = Deals()
        self.bots = BotGames()
        self.index = KeyIndex()
        self.tables: Counter[tuple[int, int]] = Counter()
        """By part and table, how many games there are."""
        self.blocks: defaultdict[int, list[GameSummary]] = defaultdict(list)
        """The games of each block of shards."""
        self.latest: defaultdict[str, deque[GameSummary]] = defaultdict(lambda: deque(maxlen=LATEST))
        """By label, the latest games."""
        self.failed: list[GameSummary] = []
        """The games with a verdict."""
        self.farewells: list[GameSummary] = []
        """The games after which a bot failed."""
        self.speeds: defaultdict[str, WorkerSpeeds] = defaultdict(WorkerSpeeds)
        """By label, and of all games under the empty string: how fast workers elsewhere were."""

    def add(self, game: GameSummary, picked: GameSummary | None) -> None:
        """Add the next game, and what standings rate of it."""
        self.index.add(game.number, game.key)
        self.tables[game.key.part, game.key.table] += 1
        self.blocks[game.number // shards.SIZE].append(game)
        if picked is not None:
            self.deals.add(picked)
            self.bots.add(picked)
        for label in game.labels:
            self.latest[label].append(game)
        if any(game.verdicts):
            self.failed.append(game)
        if game.farewells:
            self.farewells.append(game)
        if game.speed:
            for label in {"", *game.labels}:
                self.speeds[label].add(game.speed)


class Memory:
    """What renderings of one league keep for the next: markup of rows, and digests of blocks."""

    def __init__(self) -> None:
        self.rows = KeptMarkup()
        """Of its pages."""
        self._digests: dict[int, tuple[list[int], str]] = {}

    def find_digest(self, block: int, games: Sequence[GameSummary]) -> str:
        """The digest of the games in a block, which belong to no series."""
        numbers = [game.number for game in games]
        if (known := self._digests.get(block)) is None or known[0] != numbers:
            known = numbers, digest_games([(game, None) for game in games])
            self._digests[block] = known
        return known[1]


class Survey:
    """What the pages show of the games of a league.

    Args:
        source: the league.
        memory: what earlier surveys of the same league found.
    """

    def __init__(self, source: Contents, memory: Memory | None = None) -> None:
        self.memory = Memory() if memory is None else memory
        picker, numbering = Picker(source), Numbering(source.tournament)
        totals = GameTotals()
        for game in map(numbering.number, source.games):
            totals.add(game, picker.pick(game))
        self.series = score_played_series(source)
        self.deals, self.bots, self.index = totals.deals, totals.bots, totals.index
        self.tables, self.blocks = totals.tables, totals.blocks
        self.latest, self.failed, self.farewells = totals.latest, totals.failed, totals.farewells
        self._speeds = totals.speeds

    def describe_machines(self, label: str = "") -> str:
        """A few words on the workers that played the games of a bot, or all; empty if there were none."""
        return self._speeds[label].describe() if label in self._speeds else ""

    @property
    def games(self) -> int:
        """How many games there are."""
        return self.index.count

    def count_by_part(self) -> Counter[int]:
        """How many games of each part there are."""
        counts: Counter[int] = Counter()
        for (part, _), count in self.tables.items():
            counts[part] += count
        return counts

    def digest(self, block: int) -> str:
        games = self.blocks[block]
        if self.series:
            return digest_games([(game, self.series.get(game.key)) for game in games])
        return self.memory.find_digest(block, games)


def digest_games(rows: object) -> str:
    """Digest rows; their times distinguish a game from the same game in another run."""
    return hashlib.sha256(msgspec.json.encode(rows)).hexdigest()
