"""Leagues that grow run by run, played without processes, at a time that the test chooses."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.protocol.messages import Move
from malice.referee.game_runner import GameRunner
from malice.referee.rulesets import Ruleset, load_ruleset
from malice.tournaments.bench.games import Puppet
from malice.tournaments.entries.bots import Bot
from malice.tournaments.entries.manifests import Manifest
from malice.tournaments.league.config import ClockLines, Config
from malice.tournaments.league.formats import FormatName
from malice.tournaments.league.store import Store
from malice.tournaments.running.plan import Plan, make_plan
from malice.tournaments.running.registration import PlanOptions, close_parts, read_known_league
from malice.tournaments.running.setup import Setup, SetupEntry

DAY = 86400.0
MONDAY = 1_700_000_000.0
"""A time in the past, in seconds since 1970."""


def make_short(name: str = "short") -> Ruleset:
    """Return a ruleset whose games are over soon."""
    found = load_ruleset("standard")
    return replace(found, name=name, rules=replace(found.rules, payoff_size=1))


def make_bot(label: str, version: int) -> Bot:
    """Return a bot that nobody starts."""
    return Bot(Manifest(label, (label,)), (label,), None, sha256(f"{label} {version}".encode()).hexdigest())


@dataclass
class GrowingLeague:
    """A tournament in a league, and what its file says next."""

    path: Path
    monkeypatch: pytest.MonkeyPatch
    name: str = "course"
    rulesets: tuple[Ruleset, ...] = (make_short(),)
    slips: Mapping[str, float] = field(default_factory=dict)
    """By label, how often it plays at random; 0.5 if it is not named."""
    anonymous: bool = False
    clock: ClockLines = field(default_factory=ClockLines)
    format: FormatName = "round-robin"

    def play(self, entries: Mapping[str, int], deals: int = 1, at: float = MONDAY, *, finish: bool = True) -> None:
        """Bring the tournament up to a file, and play it to its end.

        Args:
            entries: the version of each label.
            deals: at each table.
            at: when all of it happens, in seconds since 1970.
            finish: whether to play; otherwise the new games stay open.
        """
        with self.monkeypatch.context() as patch, Store(self.path, create=True) as store:
            patch.setattr("time.time", lambda: at)
            plan = self._make_plan(store, entries, deals)
            plan = plan.write(store)
            while finish and not plan.tournament.complete:
                self._play_open(store, plan)

    def _play_open(self, store: Store, plan: Plan) -> None:
        for batch in plan.open_batches(store.keys()):
            for order in batch.games:
                seats = [Puppet(self._choose(batch.players[player].label)) for player in order.seating]
                record = GameRunner(batch, order, seats).play()
                store.add(plan.make_game(record), record)
        close_parts(store, store.finished(), [part.part.number for part in plan.tournament.open_parts])

    def _make_plan(self, store: Store, entries: Mapping[str, int], deals: int) -> Plan:
        config = Config(
            entries=tuple(entries),
            name=self.name,
            rulesets=tuple(ruleset.name for ruleset in self.rulesets),
            deals=deals,
            seed=self.name,
            anonymous=self.anonymous,
            clock=self.clock,
            format=self.format,
            suspend_after=0 if self.format == "comparison" else 3,
        )
        present = tuple(SetupEntry(label, make_bot(label, version)) for label, version in entries.items())
        known = dataclasses.replace(read_known_league(store, self.name), kept=None)
        return make_plan(Setup(config, self.rulesets, present), known, PlanOptions(new_versions=True))

    def _choose(self, label: str) -> Callable[[Move], tuple[str, int]]:
        rng = random.Random(label)
        slips = self.slips.get(label, 0.5)

        def choose(request: Move) -> tuple[str, int]:
            assert isinstance(request.legal, tuple)
            good = [action for action in request.legal if action.startswith("p")]
            # Who plays nothing to the centre may play for ever.
            fair = [action for action in request.legal if "-c" in action]
            return rng.choice((good if rng.random() >= slips else []) or fair or request.legal), 1000

        return choose
