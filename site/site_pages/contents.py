"""What a rendering gets: the contents of a league, what of them may be published, and the options of the front page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import accumulate
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from malice.referee.records import Key, Record
from malice.tournaments.league.comparison import Comparison
from malice.tournaments.league.contents import Contents, Entry, GameSummary
from malice.tournaments.league.progression import Changes
from malice.tournaments.league.publication import Publication
from malice.tournaments.league.tournament import Tournament
from malice.tournaments.running.rerun import Opinions


class SiteContents(Protocol):
    """A league to render; a run may add games meanwhile, but changes and deletes none."""

    def tournament(self) -> Tournament: ...

    def read(self) -> Contents:
        """Read what the league holds of the tournament."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Read one consistent state: games that a run adds meanwhile stay invisible."""

    def read_records(self, keys: Iterable[Key]) -> Iterator[Record]:
        """Yield the records of these games, in this order."""


ReadRecords = Callable[[Iterable[Key]], Iterator[Record]]
"""As `SiteContents.read_records`."""


class Numbering:
    """Numbers games from the first one of the tournament.

    A league numbers the games of all its tournaments in one sequence. Files are named after these numbers, and must
    not depend on what was played between.
    """

    def __init__(self, tournament: Tournament) -> None:
        totals = accumulate((schedule.total for schedule in tournament.schedules), initial=0)
        self.shifts = [
            schedule.part.first - before for schedule, before in zip(tournament.schedules, totals, strict=False)
        ]
        """By part, how much the numbers of a league are higher."""

    def number(self, game: GameSummary) -> GameSummary:
        """A game with its number in the tournament."""
        shift = self.shifts[game.key.part]
        return replace(game, number=game.number - shift) if shift else game


class PublishedContents:
    """A league as far as it may be published."""

    def __init__(self, source: SiteContents, contents: Contents, publication: Publication) -> None:
        self.publication = publication
        self._source = source
        self._contents = contents

    def entries(self) -> tuple[Entry, ...]:
        return tuple(map(self.publication.redact_entry, self._contents.entries))

    def read_records(self, keys: Iterable[Key]) -> Iterator[Record]:
        """Yield the records of these games, in this order; whoever shows a note redacts it, which takes long."""
        return map(self.publication.redact_faults, self._source.read_records(keys))

    def count_withheld(self, games: Collection[GameSummary]) -> int:
        """Count the verdicts of these games that are published without stderr and the last lines."""
        return sum(
            1
            for game in games
            for label, verdict in zip(game.labels, game.verdicts, strict=True)
            if verdict and not self.publication.shows_evidence(label)
        )


class SiteOptions(Struct, frozen=True):
    """What a site shows beyond what every site does."""

    publication: Publication | None = None
    """What may be shown; None for no evidence of verdicts."""
    changes: Changes | None = None
    """What a box on the front page tells; None for what changed since the part before the newest."""
    sharper: Sequence[Comparison] | None = None
    """The pairs whose score without luck is the sharper one; None for no table of them."""
    opinions: Opinions | None = None
    """A bot that says in replays what it would have played; None for none."""
    url: str = ""
    """The address that the site will have on the web, with a slash at its end; empty if unknown."""


DEFAULTS = SiteOptions()
