"""A league as a Python program reads it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from msgspec.structs import replace

from malice.referee.game import Game
from malice.referee.records import Key, Record
from malice.referee.rulesets import Ruleset
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.publication import choose_publication
from malice.tournaments.league.ranking import Choice, compute_league_standings, read_season
from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.league.replays import ExportedGame, export_game, tell_time
from malice.tournaments.league.series import Score, plays_series, score_league_series
from malice.tournaments.league.standings import Standings
from malice.tournaments.league.store import Store


class LeagueGame:
    """A stored game."""

    def __init__(self, record: Record, ruleset: Ruleset, exported: ExportedGame, *, closed: bool) -> None:
        self.exported = exported
        """What `malice export` prints of it."""
        self._record = record
        self._ruleset = ruleset
        self._closed = closed

    def __repr__(self) -> str:
        return f"<game {self.exported.tournament}:{self.exported.key}>"

    def at(self, action: int) -> Game:
        """Go on from the game as it stood when so many actions had been played.

        Where seats answered together it is that after all of their answers.

        Args:
            action: as the address of a replay says it, from 0 for the deal; a verdict counts as an action.

        Raises:
            LeagueError: the part of the game is still open: a game would show cards that its mirror has yet to play.
            DataError: the game has fewer actions.
            RecordError: the game does not replay.
        """
        if not self._closed:
            part = f"part {self.exported.part} of {self.exported.tournament!r}"
            raise LeagueError(
                where=f"game {self.exported.key}",
                expected="a game of a closed part",
                got=f"one of {part}, which is still played: a game with the same cards may be to come",
            )
        return Game.from_record(self._record, self._ruleset, action)


class League:
    """A league to read from, as a context manager, or until it is closed.

    Everything is read when it is asked for, so it is as a run that goes on meanwhile has left it. A league belongs to
    the thread that opened it.

    Args:
        path: the file.

    Raises:
        LeagueError: the file is missing, is not a league, or has a newer schema.
        DamagedLeague: a value cannot be read or contradicts another; so do all methods.
        LockedLeague: another program keeps the file locked; so do all methods.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._store = Store(Path(path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    @property
    def tournaments(self) -> tuple[str, ...]:
        """The names of all tournaments, in the order in which they began."""
        return tuple(self._store.league().tournaments)

    def standings(
        self,
        tournament: str | None = None,
        *,
        together: bool = False,
        versions: Literal["newest", "all"] = "newest",
        since: datetime | None = None,
        without: Collection[str] = (),
    ) -> tuple[Standings, ...]:
        """Compute what `malice standings --json` prints: a ranking for each ruleset, number of seats and clock.

        Args:
            tournament: its name; by default all but comparisons.
            together: whether the games of all tournaments are rated together.
            versions: whether older versions have rows of their own.
            since: only games that began then or later; local unless it has a zone.
            without: labels of entries whose games are left out.

        Raises:
            LeagueError: there is no such tournament or label.
            ValueError: the games of all tournaments are asked for, and those of one.
        """
        choice = Choice(versions, since.timestamp() if since else 0.0, without=tuple(without))
        if together:
            if tournament is not None:
                raise ValueError(f"expected no tournament, since all are rated together, got {tournament!r}")
            with self._store.snapshot():
                return compute_league_standings(read_season(self._store, keep=False), choice)
        with self._store.snapshot():
            return tuple(
                replace(standings, tournament=reader.tournament().name)
                for reader in self._list_readers(tournament)
                for standings in compute_league_standings(reader.read(keep=False), choice)
            )

    def games(
        self,
        tournament: str | None = None,
        *,
        ruleset: str | None = None,
        entries: Collection[str] = (),
        since: datetime | None = None,
    ) -> Iterator[ExportedGame]:
        """Yield what `malice export` prints: the finished games that count, in the order of play.

        Args:
            tournament: its name; by default all but comparisons.
            ruleset: only games under it.
            entries: only games in which all of these labels sat.
            since: only games that began then or later; local unless it has a zone.

        Raises:
            LeagueError: there is no such tournament.
        """
        begin = since and since.astimezone()
        for reader in self._list_readers(tournament):
            series = _score_series(reader)
            publication = choose_publication(reader.tournament())
            for game in reader.games():
                if ruleset not in (None, game.ruleset) or not {*entries} <= {*game.labels}:
                    continue
                if begin is None or tell_time(game.started) >= begin:
                    yield export_game(reader.record(game.key), series.get(game.key), publication)

    def game(self, key: str) -> LeagueGame:
        """Find a game by its key, as `malice replay` takes it, such as 0.0.1.1 or friday:0.0.1.1.

        Raises:
            DataError: it is no key.
            LeagueError: there is no such game, or the tournament must be named.
        """
        store = self._store
        record = store.record(store.choose_game(key))
        tournament = store.tournament()
        exported = export_game(record, _score_series(store).get(record.key), choose_publication(tournament))
        closed = record.key.part in tournament.closed
        return LeagueGame(record, tournament.rulesets[record.ruleset], exported, closed=closed)

    def _list_readers(self, tournament: str | None) -> Iterator[LeagueReader]:
        names = self._store.league().list_meant() if tournament is None else [tournament]
        return map(self._store.view, names)


def _score_series(reader: LeagueReader) -> dict[Key, Score]:
    return score_league_series(reader.read()) if plays_series(reader.rulesets()) else {}
