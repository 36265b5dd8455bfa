"""Games per second of a tournament with one and with two referee processes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from malice.tournaments.bench import BenchRow
from malice.tournaments.league.config import Config
from malice.tournaments.league.store import Store
from malice.tournaments.running.coordinator import play_batches
from malice.tournaments.running.hooks import Hooks
from malice.tournaments.running.opening import open_league

ROUNDS = 3
DEALS = 100


def measure_throughput() -> Iterator[BenchRow]:
    """Play the same tournament with one and with two referee processes in turn, several times."""
    rates: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(ROUNDS):
        for jobs, figures in rates.items():
            figures.append(_measure_games_per_second(jobs))
    one, two = median(rates[1]), median(rates[2])
    yield BenchRow("tournament of greedy bots, one referee process", one, "games/s", "", None)
    yield BenchRow("tournament of greedy bots, two referee processes", two, "games/s", "one", two / one)


def _measure_games_per_second(jobs: int) -> float:
    config = Config(entries=("greedy", "greedy"), deals=DEALS, seed="bench")
    with TemporaryDirectory(prefix="malice-") as folder, Store(Path(folder, "bench.db"), create=True) as store:
        plan = open_league(store, config, Path(folder))
        plan.write(store)
        begin = time.perf_counter()
        hooks = Hooks(lambda record: store.add(plan.make_game(record), record))
        outcome = play_batches(plan.open_batches(set()), jobs, 1, hooks)
        seconds = time.perf_counter() - begin
        assert not outcome.given_up
        return plan.tournament.planned / seconds
