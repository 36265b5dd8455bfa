"""One look at the rows of all games: who won which deals, where games lie, and what the data files are made from."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict, deque
from collections.abc import Sequence

import msgspec

from site_pages import shards
from site_pages.bot_games import BotGames
from site_pages.deals import Deals
from site_pages.keys import KeyIndex
from site_pages.source import Source, list_games
from tournaments.league.choice import Picker
from tournaments.league.contents import Game
from tournaments.league.series import score_league_series

LATEST = 25
"""Latest games on a bot's page."""


class Survey:
    """What the pages show of the games, collected from their rows.

    Args:
        source: the league.
        digests: those of earlier surveys of the same league.
    """

    def __init__(self, source: Source, digests: Digests | None = None) -> None:
        self.series = score_league_series(source)
        self.deals = Deals()
        self.bots = BotGames()
        self.index = KeyIndex()
        self.tables: Counter[tuple[int, int]] = Counter()
        """By part and table, how many games there are."""
        self.blocks: defaultdict[int, list[Game]] = defaultdict(list)
        """The games of each block of shards."""
        self.latest: defaultdict[str, deque[Game]] = defaultdict(lambda: deque(maxlen=LATEST))
        """By label, the latest games."""
        self.failed: list[Game] = []
        """The games with a verdict."""
        self._digests = Digests() if digests is None else digests
        picker = Picker(source)
        for game in list_games(source):
            self._add(game, picker.pick(game))

    def _add(self, game: Game, picked: Game | None) -> None:
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

    @property
    def games(self) -> int:
        """How many games there are."""
        return self.index.count

    def digest(self, block: int) -> str:
        """Return the digest of the games in a block."""
        games = self.blocks[block]
        if self.series:
            return digest_games([(game, self.series.get(game.key)) for game in games])
        return self._digests.find(block, games)


class Digests:
    """The digests of blocks, which are computed again only where games came or went."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[list[int], str]] = {}

    def find(self, block: int, games: Sequence[Game]) -> str:
        """Return the digest of the games in a block, which belong to no series."""
        numbers = [game.number for game in games]
        if (known := self._known.get(block)) is None or known[0] != numbers:
            known = numbers, digest_games([(game, None) for game in games])
            self._known[block] = known
        return known[1]


def digest_games(rows: object) -> str:
    """Return the digest of rows; their times distinguish a game from the same game in another run."""
    return hashlib.sha256(msgspec.json.encode(rows)).hexdigest()
