"""What a rendering gets: the contents of a league, what of them may be published, and the options of the front page."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import accumulate
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from malice.protocol.messages import ClockRules
from malice.referee.records import Key, Record
from malice.referee.rulesets import Ruleset
from malice.tournaments.league.comparison import Comparison
from malice.tournaments.league.config import Config
from malice.tournaments.league.contents import Entry, GameSummary, LeagueContents, TablePlace
from malice.tournaments.league.formats.decisions import FormatInput
from malice.tournaments.league.parts import Part
from malice.tournaments.league.progression import Changes
from malice.tournaments.league.publication import Publication
from malice.tournaments.league.tournament import Tournament
from malice.tournaments.running.rerun import Opinions


class SiteContents(LeagueContents, Protocol):
    """A league to render; a run may add games meanwhile, but changes and deletes none."""

    def tournament(self) -> Tournament:
        """Return the tournament."""

    def situation(self) -> FormatInput:
        """Return what the format of the tournament sees."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Read one consistent state: games that a run adds meanwhile stay invisible."""

    def read_records(self, keys: Iterable[Key]) -> Iterator[Record]:
        """Yield the records of these games, in this order."""


class FrozenContents:
    """A league at the beginning of a rendering: its rows are read once, and what a run adds meanwhile is not seen.

    It is a `SiteContents`; nothing but `read_records` goes back to the league for games.
    """

    def __init__(self, source: SiteContents) -> None:
        self._source = source
        with source.snapshot():
            self._games = tuple(source.games())
            self._suspended = source.suspended()
            self._ended_by_test = source.ended_by_test()
            self._situation = source.situation()
            self._table = source.table()
            self._tournament = source.tournament()

    def tournament(self) -> Tournament:
        """Return the tournament."""
        return self._tournament

    def situation(self) -> FormatInput:
        """Return what the format of the tournament sees."""
        return self._situation

    def config(self) -> Config:
        """Return the newest configuration of the tournament."""
        return self._source.config()

    def rulesets(self) -> tuple[Ruleset, ...]:
        """Return the rulesets that are played."""
        return self._source.rulesets()

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries in the order of the tournament file."""
        return self._source.entries()

    def parts(self) -> Sequence[Part]:
        """Return the parts of the tournament."""
        return self._source.parts()

    def clocks(self) -> Sequence[ClockRules]:
        """Return the clock of each part."""
        return self._source.clocks()

    def snapshot(self) -> AbstractContextManager[None]:
        """Do nothing: a moment is one state."""
        return nullcontext()

    def games(self) -> Iterator[GameSummary]:
        """Yield the games that count, in playing order."""
        return iter(self._games)

    def table(self) -> Sequence[TablePlace]:
        """Return the table of a format that is played in rounds, the best first; nothing for other formats."""
        return self._table

    def ended_by_test(self) -> bool:
        """Return whether a test chose when to stop."""
        return self._ended_by_test

    def suspended(self) -> dict[str, int]:
        """Return the suspended entries, each with the number of the game that suspended it."""
        return self._suspended

    def read_records(self, keys: Iterable[Key]) -> Iterator[Record]:
        """Yield the records of these games, in this order."""
        return self._source.read_records(keys)


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
        """Return a game with its number in the tournament."""
        shift = self.shifts[game.key.part]
        return replace(game, number=game.number - shift) if shift else game


class PublishedContents:
    """A league as far as it may be published."""

    def __init__(self, source: SiteContents, publication: Publication) -> None:
        self.publication = publication
        self._source = source

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries."""
        return tuple(map(self.publication.redact_entry, self._source.entries()))

    def read_records(self, keys: Iterable[Key]) -> Iterator[Record]:
        """Yield the records of these games, in this order; whoever shows a note redacts it, which takes long."""
        return map(self.publication.redact_faults, self._source.read_records(keys))

    def count_withheld(self, games: Collection[GameSummary]) -> int:
        """Return how many verdicts of these games are published without stderr and the last lines."""
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
