"""What it costs to store the games of a league, to verify them and to export them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from malice.referee.records import Record
from malice.tournaments.bench import BenchRow
from malice.tournaments.bench.playouts import fill_league
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.replayers import count_processors, replay_rows
from malice.tournaments.league.store import Store
from malice.tournaments.league.verify import verify_league

GAMES = 3_000
ALONE = 100
"""Games that are stored one by one."""
TOGETHER = 100
"""Games of a burst."""
BURSTS = 5


def measure_leagues(games: int = GAMES) -> Iterator[BenchRow]:
    """Fill a league with games, and measure its store, `malice verify` and `malice export`.

    Args:
        games: at least how many games the league has.
    """
    with TemporaryDirectory(prefix="malice-") as folder:
        path = Path(folder, "bench.db")
        with Store(path, create=True) as store:
            new = list(fill_league(store, Path(folder), games, ALONE + BURSTS * TOGETHER))
            yield from _measure_store(store, new)
        with Store(path) as store:
            yield from _measure_processes(store, "verify", _verify)
            yield from _measure_processes(store, "export", _export)


def _measure_store(store: Store, games: Sequence[tuple[GameSummary, Record]]) -> Iterator[BenchRow]:
    def store_alone() -> None:
        for game, record in games[:ALONE]:
            store.add(game, record)

    def store_together() -> None:
        for first in range(ALONE, len(games), TOGETHER):
            store.add_all(games[first : first + TOGETHER])

    alone = ALONE / _measure_seconds(store_alone)
    together = (len(games) - ALONE) / _measure_seconds(store_together)
    yield BenchRow("store, games that come one by one", alone, "games/s", "", None)
    yield BenchRow(f"store, {TOGETHER} games together", together, "games/s", "one by one", together / alone)


def _measure_processes(store: Store, what: str, work: Callable[[Store, int], None]) -> Iterator[BenchRow]:
    """Measure a work in one process and in as many as there are processors."""
    games, jobs = store.count_stored(), count_processors()
    one, every = (games / _measure_seconds(partial(work, store, count)) for count in (1, jobs))
    yield BenchRow(f"{what} of {games:,} games, one process", one, "games/s", "", None)
    yield BenchRow(f"{what} of {games:,} games, {jobs} processors", every, "games/s", "one", every / one)


def _verify(store: Store, jobs: int) -> None:
    verify_league(store, jobs=jobs)


def _export(store: Store, jobs: int) -> None:
    with replay_rows(store, "decisions", store.count_stored(), jobs) as replayers:
        for _ in replayers.replay((row, None) for row in store.list_recorded()):
            pass


def _measure_seconds(work: Callable[[], None]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
