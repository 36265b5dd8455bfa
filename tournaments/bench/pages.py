"""The speed of the standings and of the site, and the size of its replays, for 10,000 games."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from protocol.messages import Move
from referee.game_runner import GameRunner
from referee.records import Record, compute_digest
from tournaments.bench import Row
from tournaments.bench.seats import Puppet
from tournaments.league.config import Config
from tournaments.league.publication import SiteSummary
from tournaments.league.ranking import compute_league_standings
from tournaments.league.store import Store
from tournaments.running.plan import Plan

OFF = 0.1
"""The chance that a seat does not play the first legal action."""
GAMES = 10_000
DIFFERENT = 1_000
"""How many of the games are really played; the others are copies under other keys."""


def pages(render: Callable[[Store, Path], SiteSummary]) -> Iterator[Row]:
    """Fill a league with games, rate and render it, and measure games and pages per second and bytes per game."""
    with TemporaryDirectory(prefix="malice-") as folder, Store(Path(folder, "bench.db"), create=True) as store:
        _fill(store, Path(folder))
        begin = time.perf_counter()
        compute_league_standings(store)
        rated = time.perf_counter() - begin
        begin = time.perf_counter()
        rendered = render(store, Path(folder, "site"))
        seconds = time.perf_counter() - begin
        begin = time.perf_counter()
        render(store, Path(folder, "site"))
        again = time.perf_counter() - begin
    yield Row(f"standings of {GAMES:,} games", GAMES / rated, "games/s", "", None)
    yield Row(
        f"site of {rendered.games:,} games", rendered.games / seconds, "games/s", "rendered again", seconds / again
    )
    yield Row(f"site, {rendered.pages} pages and one that replays", rendered.pages / seconds, "pages/s", "", None)
    yield Row("site, pages and replays together", rendered.bytes / rendered.games, "bytes/game", "", None)


def _fill(store: Store, folder: Path) -> None:
    config = Config(entries=("greedy",) * 5, deals=GAMES // 20, seed="bench")
    plan = Plan.prepare(config, folder)
    plan.write(store)
    played = list(islice(_play_games(plan), DIFFERENT))
    numbers = iter(range(GAMES))
    for batch in plan.open_batches(set()):
        for order in batch.games:
            source = played[next(numbers) % DIFFERENT]
            labels = tuple((batch.players[player].label, batch.players[player].hash) for player in order.seating)
            record = replace(source, key=order.key, entries=labels)
            record = replace(record, digest=compute_digest(record))
            store.add(plan.make_game(record), record)


def _play_games(plan: Plan) -> Iterator[Record]:
    """Yield games in which every seat mostly plays the first legal action, and sometimes any."""
    rng = Random(0)

    def choose(request: Move) -> tuple[str, int]:
        assert isinstance(request.legal, tuple)
        action = rng.choice(request.legal) if rng.random() < OFF else request.legal[0]
        return action, rng.randrange(50_000, 900_000)

    for batch in plan.open_batches(set()):
        for order in batch.games:
            yield GameRunner(batch, order, [Puppet(choose), Puppet(choose)]).play()
