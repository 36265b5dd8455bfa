"""All tournaments of a league, as its journal tells them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.journal import AnyEvent, Begun, PartCreated, Version
from malice.tournaments.league.tournament import Tournament

ListGames = Callable[[str], Iterable[GameSummary]]
"""Returns the stored games of a tournament of a league, in playing order."""


class League:
    """All tournaments of a league, in the order in which they began."""

    def __init__(self) -> None:
        self.tournaments: dict[str, Tournament] = {}
        self.versions: dict[str, list[Version]] = {}
        self.games = 0
        """How many games all parts have together; the number of the next part's first game."""

    def fork(self) -> League:
        """Return a copy that goes its own way."""
        other = League()
        other.versions = {label: list(versions) for label, versions in self.versions.items()}
        other.tournaments = {name: each.fork(other.versions) for name, each in self.tournaments.items()}
        other.games = self.games
        return other

    def list_meant(self) -> list[str]:
        """Return the tournaments that a command means which names none: all but comparisons, if there are others."""
        plain = [name for name, each in self.tournaments.items() if each.config.format != "comparison"]
        return plain or list(self.tournaments)

    def choose(self, name: str) -> list[str]:
        """Return the words of a command that choose a tournament; none if no other can be meant."""
        return [] if self.list_meant() == [name] else ["--tournament", name]

    def apply(self, name: str, event: AnyEvent, at: float) -> None:
        """Let an event of a tournament happen.

        Raises:
            ValueError: it contradicts what happened before.
            DataError: a stored ruleset cannot be played.
        """
        if isinstance(event, Begun):
            if name in self.tournaments:
                raise ValueError(f"tournament {name!r} began before")
            self.tournaments[name] = Tournament(name, bytes.fromhex(event.seed), at, self.versions)
            return
        if name not in self.tournaments:
            raise ValueError(f"tournament {name!r} has not begun")
        if isinstance(event, Version):
            self._add_version(event)
            return
        self.tournaments[name].apply(event, self.games)
        if isinstance(event, PartCreated):
            self.games += self.tournaments[name].schedules[-1].total

    def _add_version(self, version: Version) -> None:
        known = self.versions.setdefault(version.label, [])
        if version.number != len(known) + 1:
            raise ValueError(f"number: expected version {len(known) + 1} of {version.label!r}, got {version.number}")
        if any(each.hash == version.hash for each in known):
            raise ValueError(f"hash: {version.label!r} played under it before")
        known.append(version)

    def find_version(self, label: str, hash: str) -> int:
        """Return the number of the version that a label has under a content hash; a new number for a new one."""
        known = self.versions.get(label, [])
        return next((each.number for each in known if each.hash == hash), len(known) + 1)
