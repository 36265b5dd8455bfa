"""Which games and which versions of a tournament standings show."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from malice.tournaments.errors import LeagueError
from malice.tournaments.league.contents import Entry, GameSummary, LeagueContents


class Choice(Struct, frozen=True):
    """A choice of games and versions."""

    versions: Literal["newest", "all"] = "newest"
    """Whether older versions have rows of their own; their games count for their opponents in any case."""
    since: float = 0.0
    """Only games that began at this time or later, in seconds since 1970."""
    before: float = math.inf
    """Only games that began before this time."""
    without: tuple[str, ...] = ()
    """Labels of entries whose games are left out."""


EVERYTHING = Choice()


class Picker:
    """Picks the games that standings rate, and names the versions that play in them.

    Raises:
        LeagueError: the choice names a label that is no entry.
    """

    def __init__(self, league: LeagueContents, choice: Choice = EVERYTHING) -> None:
        entries = league.entries()
        _refuse_strangers(choice.without, entries)
        self._league = league
        self._choice = choice
        self._newest = {entry.label: entry.number for entry in entries}
        self._away = {entry.label for entry in entries if entry.state == "disqualified"} | set(choice.without)
        entrants = {each for part in league.parts() for table in part.tables for each in table.entrants}
        older = sorted(each for each in entrants if each.version != self._newest[each.label])
        self._has_older = bool(older)
        self.names: Sequence[str] = [*self._newest, *(f"{each.label}@{each.version}" for each in older)]
        """Of all that may have played; the newest versions in the order of the file come first."""
        labels = [*self._newest, *(each.label for each in older)]
        rows = len(labels) if choice.versions == "all" else len(self._newest)
        self.shown = frozenset(
            name for name, label in list(zip(self.names, labels, strict=True))[:rows] if label not in choice.without
        )
        """The names that get a row."""
        self.common: Collection[int] = {part.number for part in league.parts() if part.common_deals}
        """The parts in which all tables have the same cards."""

    @property
    def terms(self) -> object:
        """What decides which games it picks, and how it names them: equal terms, equal answers."""
        return self._choice, self._newest, self._away, self._has_older

    def pick(self, game: GameSummary) -> GameSummary | None:
        """Return a game with the names of its versions, `label@number` for an older one; None if it is not rated."""
        if not self._choice.since <= game.started < self._choice.before or not self._away.isdisjoint(game.labels):
            return None
        return self._name_versions(game) if self._has_older else game

    def list_games(self) -> Iterator[GameSummary]:
        """Return the games to rate, in playing order."""
        return (picked for game in self._league.games() if (picked := self.pick(game)) is not None)

    def _name_versions(self, game: GameSummary) -> GameSummary:
        pairs = zip(game.labels, game.versions, strict=True)
        labels = tuple(label if self._newest[label] == version else f"{label}@{version}" for label, version in pairs)
        return replace(game, labels=labels) if labels != game.labels else game


def _refuse_strangers(labels: Iterable[str], entries: Sequence[Entry]) -> None:
    known = [entry.label for entry in entries]
    for label in labels:
        if label not in known:
            raise LeagueError(f"no entry {label!r}; entries: {', '.join(known)}")
