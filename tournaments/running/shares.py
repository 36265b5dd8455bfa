"""Shares of a tournament, which several machines play apart, each on a copy of the league."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from malice.referee.errors import DataError
from malice.referee.records import Key
from malice.tournaments.league.contents import Finished
from malice.tournaments.league.tournament import Tournament


class Share(Struct, frozen=True):
    """Every `of`-th deal of each table, with all its rotations: a pair is never torn apart."""

    number: int
    """From 1."""
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, key: Key) -> bool:
        """Return whether a game belongs to the share; it belongs to exactly one of them."""
        return (key.part + key.table + key.deal) % self.of == self.number - 1

    def count_deals(self, part: int, table: int, deals: int) -> int:
        """Return how many of the first deals of a table belong to the share."""
        first = (self.number - 1 - part - table) % self.of
        return len(range(first, deals, self.of))


def parse_share(text: str) -> Share:
    """Return the share written as `2/3`.

    Raises:
        DataError: `text` is no share.
    """
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise DataError(f"--shard: expected a share such as 2/3, the second of three, got: {text!r}")
    return Share(int(found[1]), int(found[2]))


def list_certain(tournament: Tournament, finished: Iterable[Finished]) -> Iterator[Finished]:
    """Yield the games after which no game is missing that other copies of the league may play.

    Of an open part these are the games before the first gap in playing order; of the others, all. What follows from
    them, such as a suspension, stays true whatever the other copies bring.

    Args:
        tournament: the tournament.
        finished: its finished games, in playing order.
    """
    following = {each.part.number: each.part.first for each in tournament.open_parts}
    for game in finished:
        part = game.key.part
        if part not in following:
            yield game
        elif following[part] == game.number:
            following[part] += 1
            yield game
