"""Whatever happens to a league, in whatever order: no game is lost or played twice, and everything verifies."""

from __future__ import annotations

import dataclasses
import io
import random
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from malice.protocol.messages import Move
from malice.referee.game_runner import GameRunner
from malice.referee.records import Batch
from malice.referee.rulesets import load_ruleset
from malice.referee.verdicts import Verdict
from malice.tournaments.bench.games import Puppet
from malice.tournaments.entries.bots import Bot
from malice.tournaments.entries.manifests import Manifest
from malice.tournaments.errors import LeagueError, Stopped
from malice.tournaments.league.config import Config
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.desk import decide
from malice.tournaments.league.notes import Ruling
from malice.tournaments.league.ranking import Choice, compute_league_standings
from malice.tournaments.league.standings import Row, Standings, compute_standings
from malice.tournaments.league.store import Store
from malice.tournaments.league.verify import verify_league
from malice.tournaments.running.hooks import Hooks, Outcome
from malice.tournaments.running.opening import RunTerms, open_plan
from malice.tournaments.running.plan import Plan, make_plan
from malice.tournaments.running.registration import PlanOptions, read_known_league
from malice.tournaments.running.run import Run
from malice.tournaments.running.setup import Setup, SetupEntry

LABELS = ("ann", "bob", "cat", "dan")
WORST = "bob"
"""Crashes in every game of its first version."""
NAME = "friday"


def make_bot(label: str, version: int) -> Bot:
    return Bot(Manifest(label, (label,)), (label,), None, sha256(f"{label} {version}".encode()).hexdigest())


class Killed(BaseException):
    """What nobody catches, as if the process were gone."""


class Table:
    """Plays batches in this process, and stops after some games."""

    def __init__(self, games: int, *, killed: bool = False) -> None:
        self._left = games
        self._killed = killed
        self._rng = random.Random(games)

    def __call__(self, batches: Iterator[Batch], jobs: int, cpus_per_game: int, hooks: Hooks, /) -> Outcome:
        outcome = Outcome()
        for batch in batches:
            for order in batch.games:
                if not hooks.wants(order.key):
                    continue
                if not self._left and self._killed:
                    raise Killed
                if not self._left:
                    outcome.stopped = "SIGINT"
                    return outcome
                self._left -= 1
                seats = [Puppet(self._choose(batch.players[player].hash)) for player in order.seating]
                hooks.on_record(GameRunner(batch, order, seats).play())
        return outcome

    def _choose(self, hash: str) -> Callable[[Move], tuple[str, int]]:
        def choose(request: Move) -> tuple[str, int]:
            assert isinstance(request.legal, tuple)
            if hash == make_bot(WORST, 1).hash:
                raise Verdict("crash", "it is gone")
            return self._rng.choice([each for each in request.legal if "-c" in each] or request.legal), 1000

        return choose


class LeagueLife(RuleBasedStateMachine):
    """An organiser who does everything that an organiser may do."""

    @initialize(entries=st.integers(2, 3))
    def begin(self, entries: int) -> None:
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name, "life.db")
        self.labels = list(LABELS[:entries])
        self.versions = dict.fromkeys(LABELS, 1)
        self.deals = 1
        self.seen: dict[int, str] = {}
        self.closed: dict[int, str] = {}
        self.run(0, killed=False)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            with Store(self.path) as store:
                if not store.is_empty():
                    self.check_everything(store)
            self.folder.cleanup()

    @rule()
    def add_an_entry(self) -> None:
        self.labels = list(LABELS[: len(self.labels) + 1])

    @rule(label=st.sampled_from(LABELS), version=st.integers(1, 3))
    def change_a_bot(self, label: str, version: int) -> None:
        self.versions[label] = version

    @precondition(lambda self: self.deals < 4)
    @rule()
    def add_deals(self) -> None:
        self.deals += 1

    @rule(label=st.sampled_from(LABELS), what=st.sampled_from(["withdraw", "disqualify", "reinstate"]))
    def decide(self, label: str, what: Literal["withdraw", "disqualify", "reinstate"]) -> None:
        with Store(self.path, create=True) as store:
            before = len(list(store.events()))
            try:
                decide(store, Ruling(what, label))
            except LeagueError:
                assert len(list(store.events())) == before

    @rule(games=st.integers(0, 9), killed=st.booleans())
    def run(self, games: int, killed: bool) -> None:
        with Store(self.path, create=True) as store:
            plan, out = self.make_plan(store), io.StringIO()
            terms = RunTerms(1, ["again"], playing=Table(games, killed=killed))
            try:
                Run(store, open_plan(store, plan, out, terms), out, terms).play()
            except (Stopped, Killed):
                pass
            else:
                assert store.tournament().complete

    @rule()
    def finish(self) -> None:
        self.run(10**6, killed=False)
        with Store(self.path) as store:
            self.check_everything(store)

    def make_plan(self, store: Store) -> Plan:
        ruleset = load_ruleset("standard")
        config = Config(entries=tuple(self.labels), name=NAME, deals=self.deals, suspend_after=2, seed="life")
        entries = tuple(SetupEntry(label, make_bot(label, self.versions[label])) for label in self.labels)
        known = dataclasses.replace(read_known_league(store, NAME), kept=None)
        return make_plan(Setup(config, (ruleset,), entries), known, PlanOptions(new_versions=True))

    @invariant()
    def what_was_played_stays(self) -> None:
        if not hasattr(self, "path"):
            return
        with Store(self.path) as store:
            if store.is_empty():
                return
            games = {game.number: game.digest for game in store.stored_games()}
            assert len({game.key for game in store.finished()}) == len(games)
            assert games.items() >= self.seen.items(), "a game was lost, or its number taken by another"
            self.seen = games

    def check_everything(self, store: Store) -> None:
        verified = verify_league(store)
        for part in verified.parts:
            if part.closed:
                assert self.closed.setdefault(part.number, part.sha) == part.sha, "a closed part changed"
        newest = [f"{entry.label} {entry.version.number}" for entry in store.entries()]
        names = [f"{label} {number}" for label in LABELS for number in range(1, 4)]
        # Where nobody connects two groups, the order of the names decides which of them is the zero.
        fresh = compute_standings(self.list_rated(store), [*newest, *(name for name in names if name not in newest)])
        shown = compute_league_standings(store.read(), Choice(versions="all"))
        assert self.list_results(fresh) == self.list_results(shown)

    def list_rated(self, store: Store) -> list[GameSummary]:
        """Return the games that should be rated, each bot named by its label and version."""
        out = {entry.label for entry in store.entries() if entry.state == "disqualified"}
        counted = (game for game in store.games() if out.isdisjoint(game.labels))
        return [
            replace(game, labels=tuple(f"{one} {two}" for one, two in zip(game.labels, game.versions, strict=True)))
            for game in counted
        ]

    def list_results(self, standings: Sequence[Standings]) -> list[list[tuple[float, ...]]]:
        return [sorted(map(summarize, (row for row in each.rows if row.games))) for each in standings]


def summarize(row: Row) -> tuple[float, ...]:
    return row.rating.wins, row.rating.losses, row.forfeits, round(row.rating.elo or 0.0, 3)


@pytest.fixture(autouse=True)
def no_bots_to_greet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malice.tournaments.running.opening.greet_entries", lambda plan: {})


LeagueLife.TestCase.settings = settings(max_examples=10, stateful_step_count=14, deadline=None)
TestLeagueLife = pytest.mark.usefixtures("no_bots_to_greet")(LeagueLife.TestCase)
