"""A tournament as it was at an earlier time."""

from __future__ import annotations

from collections.abc import Iterator

from malice.protocol.messages import ClockRules
from malice.referee.rulesets import Ruleset
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.config import Config
from malice.tournaments.league.contents import Entry, GameSummary, TablePlace
from malice.tournaments.league.judgement import CountedGames, find_counted_games
from malice.tournaments.league.league import League
from malice.tournaments.league.parts import Part
from malice.tournaments.league.reader import LeagueReader


class EarlierContents:
    """The chosen tournament of a league, with the events and the games before a time.

    Args:
        league: the league as it is.
        before: seconds since 1970.

    Raises:
        LeagueError: the tournament had not begun.
    """

    def __init__(self, league: LeagueReader, before: float) -> None:
        past, name = League(), league.tournament().name
        for row, event in league.events():
            if row.at < before:
                past.apply(row.tournament, event, row.at)
        if name not in past.tournaments or not past.tournaments[name].parts:
            raise LeagueError(f"{league.path}: {name!r} had not begun then")
        self._tournament = past.tournaments[name]
        self._games = [game for game in league.stored_games() if game.started < before]

    def config(self) -> Config:
        """Return the configuration of that time."""
        return self._tournament.config

    def rulesets(self) -> tuple[Ruleset, ...]:
        """Return the rulesets of that time."""
        return tuple(self._tournament.rulesets.values())

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries of that time, in the versions that played."""
        return self._tournament.list_entries()

    def parts(self) -> tuple[Part, ...]:
        """Return the parts of that time."""
        return tuple(self._tournament.parts)

    def clocks(self) -> tuple[ClockRules, ...]:
        """Return the clock of each part."""
        return (self.config().clock,) * len(self._tournament.parts)

    def games(self) -> Iterator[GameSummary]:
        """Return the finished games that counted, in playing order."""
        left_out = self._judge().left_out
        return (game for game in self._games if game.number not in left_out)

    def table(self) -> tuple[TablePlace, ...]:
        """Return nothing: only ratings tell of the past."""
        return ()

    def ended_by_test(self) -> bool:
        """Return whether a test chose when to stop, so that plain intervals are too narrow."""
        return self.config().sprt is not None and any(each.verdict for each in self._judge().contests.values())

    def suspended(self) -> dict[str, int]:
        """Return the entries that were suspended, each with the number of the game that suspended it."""
        return self._judge().suspended

    def _judge(self) -> CountedGames:
        return find_counted_games(self._tournament, (game.finish() for game in self._games))
