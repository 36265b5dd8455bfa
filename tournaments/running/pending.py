"""Events that are about to happen to a tournament: tried on a copy of its league, stored once they are all right."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable

from malice.tournaments.errors import LeagueError
from malice.tournaments.league.contents import Finished, GameSummary
from malice.tournaments.league.formats import decide
from malice.tournaments.league.formats.situation import FormatInput, make_format_input
from malice.tournaments.league.journal import AnyEvent, PartCreated, Seeded
from malice.tournaments.league.judgement import find_counted_games
from malice.tournaments.league.league import League, ListGames
from malice.tournaments.league.parts import Draft, Part
from malice.tournaments.league.revisions import create_part
from malice.tournaments.league.seeding import rank_by_rating
from malice.tournaments.league.store import Store
from malice.tournaments.league.tournament import Tournament


class KnownGames:
    """What is known of the games of a tournament before a run.

    Args:
        finished: its finished games, in playing order.
        list_games: returns the same games with their results.
        list_others: returns the games of another tournament of the league.
    """

    def __init__(
        self,
        finished: Iterable[Finished] = (),
        list_games: Callable[[], Iterable[GameSummary]] = tuple,
        list_others: ListGames = lambda name: (),
    ) -> None:
        self.finished = list(finished)
        self.list_games = list_games
        self.list_others = list_others

    def list_suspended(self, tournament: Tournament) -> Collection[str]:
        """Return the entries that get no new games until they are readmitted."""
        return find_counted_games(tournament, self.finished).suspended


def read_known_games(store: Store) -> KnownGames:
    """Return what a league knows of the games of its chosen tournament."""
    return KnownGames(store.finished(), store.stored_games, make_lister(store))


def make_lister(store: Store) -> ListGames:
    """Return what lists the games of any tournament of a league."""
    return lambda name: store.view(name).stored_games()


class PendingEvents:
    """Events that are about to happen to a tournament, tried on a copy of its league.

    Args:
        league: the league as it is; it stays so.
        name: the tournament.
        games: what is known of its games.
    """

    def __init__(self, league: League, name: str, games: KnownGames) -> None:
        self.events: list[AnyEvent] = []
        self.league = league.fork()
        self._name = name
        self._games = games

    @property
    def tournament(self) -> Tournament:
        """The tournament as the events leave it."""
        return self.league.tournaments[self._name]

    @property
    def parts(self) -> list[Part]:
        """The parts that the events create."""
        return [event.part for event in self.events if isinstance(event, PartCreated)]

    def apply(self, event: AnyEvent) -> None:
        """Let an event happen."""
        self.league.apply(self._name, event, time.time())
        self.events.append(event)

    def seed(self) -> None:
        """Fix the seeds of a knockout that begins and is seeded by rating.

        Raises:
            LeagueError: no entry has a rating.
        """
        tournament = self.tournament
        if tournament.config.seeding != "rating" or tournament.parts or tournament.seeding:
            return

        labels = rank_by_rating(self.league, self._name, self._games.list_others)
        if not labels:
            raise LeagueError(
                'seeding = "rating": no entry has a rating; expected finished games of theirs in another tournament of'
                " this league, by the same rules"
            )
        self.apply(Seeded(labels))

    def create_parts(self) -> None:
        """Ask the format for parts until it waits or is done.

        Raises:
            DataError: the file asks for tables that cannot be formed.
        """
        suspended = tuple(sorted(self._games.list_suspended(self.tournament)))
        while isinstance(decision := decide(self._make_situation(suspended)), Draft):
            self.apply(create_part(self.tournament, decision, self.league.games, suspended))

    def _make_situation(self, suspended: tuple[str, ...]) -> FormatInput:
        return make_format_input(self.tournament, self._games.finished, suspended, self._games.list_games)
