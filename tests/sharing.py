"""Leagues of which copies are played, with puppets in place of bots."""

from __future__ import annotations

import io
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from unittest.mock import patch

from msgspec import convert, to_builtins
from msgspec.structs import replace

from malice.protocol.messages import Move
from malice.referee.game_runner import GameRunner
from malice.referee.records import Batch
from malice.referee.verdicts import Verdict
from malice.tournaments.bench.games import Puppet
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.league.config import Config
from malice.tournaments.league.merge import Taken, require_copy, take_games
from malice.tournaments.league.parts import parse_share
from malice.tournaments.league.store import Store
from malice.tournaments.running.hooks import Hooks, Outcome
from malice.tournaments.running.opening import RunTerms
from malice.tournaments.running.plan import Plan, read_plan, recall_plan
from malice.tournaments.running.registration import finish_merge
from malice.tournaments.running.run import create_games, play_share, run_tournament

Choose = Callable[[str, Move], str]
"""Returns what the bot of a label plays."""


def play_fairly(label: str, request: Move) -> str:
    """Play to the centre if possible, so that games end, and always the same in the same place."""
    assert isinstance(request.legal, tuple)
    rng = random.Random(f"{label} {request.view}")
    return rng.choice([action for action in request.legal if "-c" in action] or request.legal)


def crash_uniform(label: str, request: Move) -> str:
    """As `play_fairly`, but the entry `uniform` crashes."""
    if label == "uniform":
        raise Verdict("crash", "it is gone")
    return play_fairly(label, request)


class Puppets:
    """Plays batches in this process."""

    def __init__(self, choose: Choose) -> None:
        self._choose = choose

    def __call__(self, batches: Iterator[Batch], jobs: int, cpus_per_game: int, hooks: Hooks) -> Outcome:
        for batch in batches:
            for order in batch.games:
                if hooks.wants(order.key):
                    labels = [batch.players[player].label for player in order.seating]
                    hooks.on_record(GameRunner(batch, order, [Puppet(self._seat(label)) for label in labels]).play())
        return Outcome()

    def _seat(self, label: str) -> Callable[[Move], tuple[str, int]]:
        return lambda request: (self._choose(label, request), 1000)


def nobody_greeted() -> AbstractContextManager[object]:
    """Let a run begin without a roll call: the bots never play, and greeting them takes most of the time."""
    return patch("malice.tournaments.running.opening.greet_entries", return_value={})


def found_league(folder: Path, *, choose: Choose | None = None, **settings: object) -> Path:
    """Create a tournament of three bots and short games; let puppets play it if `choose` is given."""
    folder.mkdir(exist_ok=True)
    (folder / "short.toml").write_text('extends = "standard"\n[rules]\npayoff_size = 1\n')
    config = Config(
        entries=("greedy", "uniform", "first"),
        rulesets=("./short.toml",),
        deals=4,
        seed="shares",
        name="shares",
        isolation="none",
    )
    config, path = convert(to_builtins(config) | settings, Config), folder / "league.db"
    with Store(path, create=True) as store, nobody_greeted():
        plan = read_plan(store, config, folder)
        if choose:
            run_tournament(store, plan, io.StringIO(), RunTerms(1, kept=KeptBots(path), playing=Puppets(choose)))
        else:
            create_games(store, plan, io.StringIO(), RunTerms(1, kept=KeptBots(path)))
    return path


def copy_league(league: Path, name: str) -> Path:
    """Copy a league with its bots."""
    copy = league.with_name(f"{name}.db")
    shutil.copy(league, copy)
    shutil.copytree(league.with_suffix(".bots"), copy.with_suffix(".bots"))
    return copy


def recall(store: Store, share: str) -> Plan:
    """Return the plan of a share; sandboxes would only take time."""
    return recall_plan(store, replace(store.config(), isolation="none"), parse_share(share))


def play(copy: Path, share: str, choose: Choose = play_fairly) -> Path:
    """Play a share on a copy, and return the copy."""
    with Store(copy, create=True) as store, nobody_greeted():
        assert play_share(store, recall(store, share), io.StringIO(), RunTerms(1, playing=Puppets(choose))) == 0
    return copy


def merge(league: Path, *copies: Path) -> Sequence[Taken]:
    """Merge copies into a league."""
    taken = []
    with Store(league, create=True) as store:
        for path in copies:
            with Store(path) as copy:
                require_copy(store, copy)
                taken.append(take_games(store, copy))
        finish_merge(store, taken)
    return taken
