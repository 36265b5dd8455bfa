"""One look at the rows of all games: who won which deals, where games lie, and what the data files are made from."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict, deque
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from malice.site_pages import shards
from malice.site_pages.bot_games import BotGames
from malice.site_pages.deals import Deals
from malice.site_pages.factors import WorkerSpeeds
from malice.site_pages.kept_markup import KeptMarkup
from malice.site_pages.keys import KeyIndex
from malice.site_pages.series import score_played_series
from malice.site_pages.source import Numbering, SiteContents
from malice.tournaments.league.choice import Picker
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.kind_games import GameMemory
from malice.tournaments.league.settled import Checkpoint

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
        self.factors: defaultdict[str, WorkerSpeeds] = defaultdict(WorkerSpeeds)
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
        if game.speed:
            for label in {"", *game.labels}:
                self.factors[label].add(game.speed)

    def copy(self) -> GameTotals:
        """Return the same tallies, to add other games."""
        copy = GameTotals()
        copy.deals, copy.bots, copy.index = self.deals.copy(), self.bots.copy(), self.index.copy()
        copy.tables.update(self.tables)
        copy.blocks.update({block: list(games) for block, games in self.blocks.items()})
        copy.latest.update({label: games.copy() for label, games in self.latest.items()})
        copy.failed += self.failed
        copy.factors.update({label: replace(factors) for label, factors in self.factors.items()})
        return copy


class Memory:
    """What surveys of one league found: whoever surveys it again looks at its latest games only."""

    def __init__(self) -> None:
        self.standings = GameMemory()
        """What its standings found."""
        self.rows = KeptMarkup()
        """Of its pages."""
        self._settled = Checkpoint()
        self._tallies = GameTotals()
        """Of the games that rest."""
        self._digests: dict[int, tuple[list[int], str]] = {}

    def tally_games(self, source: SiteContents) -> GameTotals:
        """Return the tallies of all games that count."""
        picker, numbering = Picker(source), Numbering(source.tournament())
        advance = self._settled.advance((picker.terms, numbering.shifts), list(source.games()))
        if advance.anew:
            self._tallies = GameTotals()

        def add(tallies: GameTotals, some: Sequence[GameSummary]) -> None:
            for game in some:
                numbered = numbering.number(game)
                tallies.add(numbered, picker.pick(numbered))

        add(self._tallies, advance.settled)
        tallies = self._tallies.copy()
        add(tallies, advance.recent)
        return tallies

    def find_digest(self, block: int, games: Sequence[GameSummary]) -> str:
        """Return the digest of the games in a block, which belong to no series."""
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

    def __init__(self, source: SiteContents, memory: Memory | None = None) -> None:
        self.memory = Memory() if memory is None else memory
        tallies = self.memory.tally_games(source)
        self.series = score_played_series(source)
        self.deals, self.bots, self.index = tallies.deals, tallies.bots, tallies.index
        self.tables, self.blocks = tallies.tables, tallies.blocks
        self.latest, self.failed = tallies.latest, tallies.failed
        self._factors = tallies.factors

    def describe_factors(self, label: str = "") -> str:
        """Return a few words on the workers that played the games of a bot, or all; nothing if there were none."""
        return self._factors[label].describe() if label in self._factors else ""

    @property
    def games(self) -> int:
        """How many games there are."""
        return self.index.count

    def digest(self, block: int) -> str:
        """Return the digest of the games in a block."""
        games = self.blocks[block]
        if self.series:
            return digest_games([(game, self.series.get(game.key)) for game in games])
        return self.memory.find_digest(block, games)


def digest_games(rows: object) -> str:
    """Return the digest of rows; their times distinguish a game from the same game in another run."""
    return hashlib.sha256(msgspec.json.encode(rows)).hexdigest()
