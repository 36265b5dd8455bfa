"""A tournament whose events and games a test makes up, for tests of what its format asks for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from malice.referee.rulesets import load_ruleset
from malice.tournaments.league.config import Config
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.formats.decisions import (
    Decision,
    Done,
    FormatInput,
    create_part,
    decide,
    find_absent,
    make_format_input,
)
from malice.tournaments.league.journal import (
    Absence,
    AnyEvent,
    Begun,
    FileEntry,
    FileRead,
    PartClosed,
    State,
    StateChanged,
    Version,
    store_ruleset,
)
from malice.tournaments.league.parts import Draft, Part
from malice.tournaments.league.tournament import Tournament, Tournaments
from tests.summaries import played


class House:
    """A tournament whose events and games a test makes up."""

    def __init__(self, labels: Sequence[str], **settings: Any) -> None:
        self.league = Tournaments()
        self.games: list[GameSummary] = []
        self._apply(Begun("5a" * 32))
        self._versions: dict[str, int] = {}
        self.config = Config(entries=(), name="t")
        self.read(labels, "", **{"deals": 2, **settings})

    def _apply(self, event: AnyEvent) -> None:
        self.league.apply("t", event, 1.5)

    @property
    def tournament(self) -> Tournament:
        return self.league.tournaments["t"]

    def read(
        self, labels: Sequence[str], changed: Sequence[str] = "", broken: Sequence[str] = "", **settings: Any
    ) -> None:
        """Read a file with these entries, some in a new version, some broken; a text stands for its letters."""
        for label in labels:
            if label in changed or label not in self._versions:
                number = self._versions[label] = self._versions.get(label, 0) + 1
                content = hashlib.sha256(f"{number} {label}".encode()).hexdigest()
                self._apply(Version(label, number, content, label, "", "", "", (), ()))
        self.config = replace(self.config, **settings)
        rulesets = tuple(store_ruleset(load_ruleset(name)) for name in self.config.rulesets)
        why = Absence("crash", "it is gone", "")
        entered = tuple(
            FileEntry(label, self._versions[label], why if label in broken else None, label in broken)
            for label in labels
        )
        self._apply(FileRead(self.config, rulesets, entered))

    def go_back(self, label: str) -> None:
        """Let the first version of an entry play again with the next file."""
        self._versions[label] = 1

    def change_state(self, label: str, state: State) -> None:
        self._apply(StateChanged(label, state))

    def look(self, suspended: Sequence[str] = ()) -> FormatInput:
        finished = [game.finish() for game in self.games]
        return make_format_input(self.tournament, finished, suspended, lambda: self.games)

    def decide(self, suspended: Sequence[str] = ()) -> Decision:
        return decide(self.look(suspended))

    def create(self, suspended: Sequence[str] = ()) -> Part:
        """Create the part that the format asks for."""
        draft = self.decide(suspended)
        assert isinstance(draft, Draft)
        created = create_part(self.tournament, draft, self.league.games, tuple(suspended))
        self._apply(created)
        return created.part

    def finish(
        self,
        part: Part,
        *,
        points: tuple[int, int] = (0, 0),
        places: Callable[[tuple[str, ...]], tuple[int, ...]] = lambda labels: tuple(range(1, len(labels) + 1)),
    ) -> None:
        """Play all games of a part whose entries play on, and close it.

        Args:
            part: the part.
            points: the scores at tables of two seats.
            places: returns the places of the entries of a table, by its order.
        """
        schedule = self.tournament.schedules[part.number]
        for batch in schedule.batches():
            table = part.tables[batch.table]
            if any(map(self.tournament.excuses, table.versions)):
                continue
            for key in batch.games():
                seats = len(table.versions)
                labels = tuple(version.label for version in table.versions)
                game = played(
                    (key.part, key.table, key.deal, key.rotation),
                    labels,
                    places(labels),
                    verdicts=("",) * seats,
                    ruleset=table.ruleset,
                )
                scores = points if seats == 2 else game.scores
                self.games.append(replace(game, number=schedule.number(key), scores=scores))
        finished = [game.finish() for game in self.games]
        self._apply(PartClosed(part.number, find_absent(self.tournament, part.number, finished)))

    def play_through(self) -> list[Part]:
        """Play until the format is done; return the parts."""
        while isinstance(self.decide(), Draft):
            self.finish(self.create())
        assert isinstance(self.decide(), Done)
        return self.tournament.parts
