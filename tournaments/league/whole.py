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
    one tournament disqualified count in the others.

    Args:
        league: the league.
    """

    def __init__(self, league: LeagueReader) -> None:
        self._views = [league.view(name) for name in league.league().tournaments]

    def config(self) -> Config:
        """Return the configuration of the newest tournament."""
        return self._views[-1].config()

    def rulesets(self) -> tuple[Ruleset, ...]:
        """Return the rulesets of all tournaments; of one name the newest."""
        return tuple({ruleset.name: ruleset for view in self._views for ruleset in view.rulesets()}.values())

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
        for view in self._views:
            out = {entry.label for entry in view.entries() if entry.state == "disqualified"}
            for game in view.games():
                if out.isdisjoint(game.labels):
                    yield replace(game, key=replace(game.key, part=before + game.key.part))
            before += len(view.parts())

    def table(self) -> tuple[TablePlace, ...]:
        """Return nothing: only ratings compare tournaments."""
        return ()

    def suspended(self) -> dict[str, int]:
        """Return the entries that the newest tournament suspended."""
        return self._views[-1].suspended()
