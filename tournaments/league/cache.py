"""A reader for repeated reading: it decodes each game once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from heapq import merge
from typing import Any, ClassVar, TypeVar

import msgspec

from malice.referee.records import Count
from malice.tournaments.league.contents import Finished, GameSummary
from malice.tournaments.league.file import StoredRow
from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.league.stored_games import SummaryRow

Numbered = TypeVar("Numbered", GameSummary, Finished)

AT_ONCE = 500
"""Most games of one statement."""
SHARED = ("labels", "versions", "teams", "places", "scores", "actions", "asked", "verdicts", "ruleset", "reason")
"""Fields of which games have few different values: equal ones become one object."""


BLOCK = 1000
"""Numbers of games that are counted together, to find new ones."""


class BlockRow(StoredRow, frozen=True):
    """How many games have the numbers of a block, counted in the index of keys, which is small."""

    TABLE: ClassVar[str] = "games"
    SELECT: ClassVar[str] = f"SELECT games.number / {BLOCK} AS block, count(*) FROM games"

    block: Count
    games: Count


class NumberRow(StoredRow, frozen=True):
    """The number of a game, found in the index of keys, which is small."""

    TABLE: ClassVar[str] = "games"
    SELECT: ClassVar[str] = "SELECT games.number FROM games"

    number: Count


class CachingReader(LeagueReader):
    """A league whose games stay in memory, about a kilobyte each: whoever asks again waits for new games only.

    It tells of the tournament that is chosen when it is made. Stored games never change, so games once read and
    checked are not read again.

    Args:
        reader: the league; it stays as it is.
    """

    def __init__(self, reader: LeagueReader) -> None:
        super().__init__(reader._file)
        self._tables = reader._tables
        self.select(reader.tournament().name)
        self._games: list[GameSummary] = []
        """In playing order; a list that was told never changes, since somebody may be reading it."""
        self._finished: list[Finished] = []
        """The same games."""
        self._seen: Hashable = None
        """The state of the file when its games were read."""
        self._names = self.league().names
        self._shared: dict[Any, Any] = {}

    def stored_games(self) -> Iterator[GameSummary]:
        """Yield every finished game without its actions, in playing order."""
        self._read_new_games()
        return iter(self._games)

    def finished(self) -> list[Finished]:
        """Every finished game as far as it decides what is played next, in playing order."""
        self._read_new_games()
        return list(self._finished)

    def _read_new_games(self) -> None:
        # The first counts what other connections commit, the second what this one does, while it stays open.
        seen = (
            self._file.number("PRAGMA data_version", "the header"),
            self._file.connection.total_changes,
            self._file.openings,
        )
        if seen == self._seen:
            return
        if self.league().names != self._names:
            self._names, self._games, self._finished = self.league().names, [], []
        if not self._games:
            self._keep_games(super().stored_games())
        elif new := list(self._list_new_games()):
            self._keep_games(self._read_games(new))
        self._seen = seen

    def _list_new_games(self) -> Iterator[int]:
        """Yield the numbers of games that nobody has read, in order; they are in blocks with more games than known."""
        known = Counter(game.number // BLOCK for game in self._games)
        index = self._find_index()
        counted = self._file.rows(BlockRow, "WHERE games.tournament = ? GROUP BY block ORDER BY block", (index,))
        for block in [row.block for row in counted if row.games != known[row.block]]:
            bounds = (index, block * BLOCK, (block + 1) * BLOCK)
            some = "WHERE games.tournament = ? AND games.number >= ? AND games.number < ? ORDER BY games.number"
            read = {game.number for game in self._games if game.number // BLOCK == block}
            yield from (row.number for row in self._file.rows(NumberRow, some, bounds) if row.number not in read)

    def _read_games(self, numbers: Sequence[int]) -> Iterator[GameSummary]:
        tournament = self.tournament()  # asked for now, it knows the parts of all these games
        for first in range(0, len(numbers), AT_ONCE):
            some = ", ".join(map(str, numbers[first : first + AT_ONCE]))
            for row in self._file.rows(SummaryRow, f"WHERE games.number IN ({some})"):
                yield self._decode_game(row, tournament)

    def _keep_games(self, new: Iterable[GameSummary]) -> None:
        kept = list(map(self._share, new))
        self._games = _join(self._games, kept)
        self._finished = _join(self._finished, [game.finish() for game in kept])

    def _share(self, game: GameSummary) -> GameSummary:
        """Let a game share equal values with other games, which saves most of the memory."""
        share = self._shared.setdefault
        return msgspec.structs.replace(
            game, **{name: share(value, value) for name in SHARED for value in (getattr(game, name),)}
        )


def _join(known: list[Numbered], new: list[Numbered]) -> list[Numbered]:
    """Merge both in the order of their numbers; each is in that order already."""
    if not known or not new or known[-1].number < new[0].number:
        return known + new
    return list(merge(known, new, key=lambda game: game.number))
