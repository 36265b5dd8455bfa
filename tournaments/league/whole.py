"""All tournaments of a league together, for standings over a whole season."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from protocol.messages import ClockRules
from referee.rulesets import Ruleset
from tournaments.league.config import Config
from tournaments.league.contents import Entry, Game, TablePlace
from tournaments.league.parts import Part
from tournaments.league.reader import LeagueReader


class WholeLeague:
    """The entries and games of all tournaments; their parts are counted through, so keys differ from those inside.

    An entry has the version and the state of the newest tournament in which it takes part. The games of an entry that
    one tournament disqualified count in the others. Where two tournaments have different rules under one name, those of
    the older one are named after it, since they are another game.

    Args:
        league: the league.
    """

    def __init__(self, league: LeagueReader) -> None:
        names = list(league.league().tournaments)
        self._views = [league.view(name) for name in names]
        self._rulesets = {ruleset.name: ruleset for view in self._views for ruleset in view.rulesets()}
        self._renamed: list[dict[str, str]] = []
        """By tournament: the new names of rulesets that have one."""
        for name, view in zip(names, self._views, strict=True):
            others = [ruleset for ruleset in view.rulesets() if not _is_same(ruleset, self._rulesets[ruleset.name])]
            self._renamed.append({ruleset.name: f"{ruleset.name} of {name}" for ruleset in others})
            self._rulesets |= {
                new.name: new for new in (replace(each, name=f"{each.name} of {name}") for each in others)
            }

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

    def games(self) -> Iterator[Game]:
        """Return the finished games that count, tournament by tournament."""
        before = 0
        for view, renamed in zip(self._views, self._renamed, strict=True):
            out = {entry.label for entry in view.entries() if entry.state == "disqualified"}
            for game in view.games():
                if out.isdisjoint(game.labels):
                    ruleset = renamed.get(game.ruleset, game.ruleset)
                    yield replace(game, key=replace(game.key, part=before + game.key.part), ruleset=ruleset)
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


def _is_same(one: Ruleset, other: Ruleset) -> bool:
    return (one.family, one.rules) == (other.family, other.rules)
