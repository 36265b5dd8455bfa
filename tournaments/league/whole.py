"""All tournaments of a league together, for standings over a whole season."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from malice.protocol.messages import ClockRules
from malice.referee.rulesets import Ruleset
from malice.tournaments.league.config import Config
from malice.tournaments.league.contents import Entry, GameSummary, TablePlace
from malice.tournaments.league.parts import Part
from malice.tournaments.league.reader import LeagueReader


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
