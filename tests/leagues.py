"""A small league, played without bots, for tests that damage or lock its file."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from malice.protocol.messages import Move
from malice.referee.game_runner import GameRunner
from malice.referee.records import Batch, Key, Record, SeatReport, compute_digest
from malice.referee.verdicts import Verdict
from malice.tournaments.bench.games import Puppet
from malice.tournaments.league.config import Config
from malice.tournaments.league.journal import ROOT, chain_event
from malice.tournaments.league.store import Store
from malice.tournaments.running.plan import Plan
from malice.tournaments.running.registration import close_parts

CONFIG = Config(entries=("greedy", "uniform"), deals=2, seed="store")
PAGE_BYTES = 512
"""Small pages leave little room that nobody uses."""


def play_small_league(folder: Path, deals: int = 1, *, crash: bool = False, rules: str = "payoff_size = 1") -> Path:
    """Play a complete tournament of two bots under a short ruleset; return its file.

    Args:
        folder: where to write.
        deals: how many; each gives two games.
        crash: whether the seat that is asked first crashes in every game.
        rules: what the ruleset changes in `standard`.
    """
    (folder / "short.toml").write_text('extends = "standard"\n[rules]\n' + rules)
    entries = ("greedy", "uniform")
    config = Config(entries=entries, rulesets=("./short.toml",), deals=deals, seed="small", name="small")
    plan = Plan.prepare(config, folder)
    rng = random.Random(0)

    def choose(request: Move) -> tuple[str, int]:
        assert isinstance(request.legal, tuple)
        if crash:
            raise Verdict("crash", "it is gone")
        return rng.choice([action for action in request.legal if "-c" in action] or request.legal), 100_000

    path = folder / "small.db"
    with Store(path, create=True) as store:
        plan.write(store)
        for batch in plan.open_batches(set()):
            for order in batch.games:
                record = GameRunner(batch, order, [Puppet(choose), Puppet(choose)]).play()
                store.add(plan.make_game(record), record)
        close_parts(store, store.finished(), [0])
    change(path, f"PRAGMA page_size = {PAGE_BYTES}; VACUUM")
    return path


def change(path: Path, statements: str) -> None:
    """Change a league behind the back of malice."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statements)


def write_events(path: Path, edit: Callable[[list[str]], Sequence[str]]) -> None:
    """Write the events of a league of one tournament anew, as `edit` returns them, with digests that match."""
    rows = _read_journal(path)
    name, at, _ = rows[0]
    _write_journal(path, [(name, at, event) for event in edit([event for _, _, event in rows])])


def replace_in_journal(path: Path, old: str, new: str) -> None:
    """Replace a text in every event that has it, with digests that match."""
    _write_journal(path, [(name, at, event.replace(old, new)) for name, at, event in _read_journal(path)])


Journal = Sequence[tuple[str, float, str]]
"""By event: the tournament, the time, the JSON."""


def _read_journal(path: Path) -> Journal:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT tournament, at, event FROM journal ORDER BY number").fetchall()


def _write_journal(path: Path, journal: Journal) -> None:
    digest = ROOT
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM journal")
        for number, (name, at, event) in enumerate(journal):
            digest = chain_event(digest, number, name, at, event)
            connection.execute("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", (number, name, at, event, digest))


def forfeited(plan: Plan, key: Key) -> Record:
    """A game that ended before its first action, without any bot."""
    batch: Batch = next(batch for batch in plan.open_batches(set()) if batch.games[0].key.rotation == key.rotation)
    order = plan.tournament.seeds(0).order(key, 2)
    record = Record(
        key=key,
        family=batch.family,
        ruleset=batch.ruleset,
        rules=batch.rules,
        entries=tuple((batch.players[player].label, batch.players[player].hash) for player in order.seating),
        deal_seed=order.deal_seed,
        actions=((0, "!crash"),),
        places=(2, 1),
        scores=(0, 0),
        reason="forfeit",
        digest="",
        micros=(0,),
        cpu_micros=(0,),
        notes={0: "a note"},
        seats=(SeatReport("greedy", "1"),) * 2,
        faults=(),
        commit=batch.commit,
        clock=batch.clock,
        isolation="none",
        host="here",
        versions="",
        started=1.5,
        elapsed_ms=2.5,
        tournament=batch.tournament,
    )
    return replace(record, digest=compute_digest(record))
