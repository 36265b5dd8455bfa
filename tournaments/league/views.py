"""Other contents of a league: all its tournaments together, or one of them at an earlier time."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from malice.protocol.messages import ClockRules
from malice.referee.rulesets import Ruleset
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.config import Config
from malice.tournaments.league.contents import Entry, GameSummary, TablePlace
from malice.tournaments.league.counting import CountedGames, find_counted_games
from malice.tournaments.league.parts import Part
from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.league.tournament import League


class SeasonContents:
    """The entries and games of all tournaments; their parts are counted through, so keys differ from those inside.

    An entry has the version and the state of the newest tournament in which it takes part. The games of an entry that
    one tournament disqualified count in the others. Where tournaments have different rules under one name, they
    are different games: the newest keeps the name, the others are named after a tournament, too.

    Args:
        league: the league.
    """

    def __init__(self, league: LeagueReader) -> None:
        names = list(league.league().tournaments)
        self._views = [league.view(name) for name in names]
        self._rulesets: dict[str, Ruleset] = {}
        """By the name that it has here."""
        self._renamed: list[dict[str, str]] = []
        """By tournament: the names here, by those in it."""
        for name, view in zip(reversed(names), reversed(self._views), strict=True):
            self._renamed.insert(0, {ruleset.name: self._name(ruleset, name) for ruleset in view.rulesets()})

    def _name(self, ruleset: Ruleset, tournament: str) -> str:
        """Return the name of a ruleset here, given the newest tournaments first."""
        later = f"{ruleset.name} of "
        for known, each in self._rulesets.items():
            same = (ruleset.family, ruleset.rules) == (each.family, each.rules)
            if same and (known == ruleset.name or known.startswith(later)):
                return known
        name = f"{later}{tournament}" if ruleset.name in self._rulesets else ruleset.name
        self._rulesets[name] = replace(ruleset, name=name)
        return name

    def config(self) -> Config:
        """Return the configuration of the newest tournament."""
        return self._views[-1].config()

    def rulesets(self) -> tuple[Ruleset, ...]:
        """Return the rulesets of all tournaments."""
        return tuple(self._rulesets.values())

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries of all tournaments, each in the order of the first one in which it took part."""
        entries: dict[str, Entry] = {}
        for view in self._views:
            # A tournament in which no version could be started says nothing about the others.
            entries |= {entry.label: entry for entry in view.entries() if entry.number or entry.label not in entries}
        return tuple(
            replace(entry, state="playing") if entry.state == "disqualified" else entry for entry in entries.values()
        )

    def parts(self) -> tuple[Part, ...]:
        """Return the parts of all tournaments, numbered through."""
        parts = (part for view in self._views for part in view.parts())
        return tuple(replace(part, number=number) for number, part in enumerate(parts))

    def clocks(self) -> tuple[ClockRules, ...]:
        """Return the clock of each part, tournament by tournament."""
        return tuple(clock for view in self._views for clock in view.clocks())

    def games(self) -> Iterator[GameSummary]:
        """Return the finished games that count, tournament by tournament."""
        before = 0
        for view, renamed in zip(self._views, self._renamed, strict=True):
            out = {entry.label for entry in view.entries() if entry.state == "disqualified"}
            for game in view.games():
                if out.isdisjoint(game.labels):
                    key = replace(game.key, part=before + game.key.part)
                    yield replace(game, key=key, ruleset=renamed[game.ruleset])
            before += len(view.parts())

    def table(self) -> tuple[TablePlace, ...]:
        """Return nothing: only ratings compare tournaments."""
        return ()

    def ended_by_test(self) -> bool:
        """Return whether a test chose when one of the tournaments stops, so that plain intervals are too narrow."""
        return any(view.ended_by_test() for view in self._views)

    def suspended(self) -> dict[str, int]:
        """Return the entries that the newest tournament suspended."""
        return self._views[-1].suspended()


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
