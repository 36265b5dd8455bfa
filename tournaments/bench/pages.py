"""The site of a large league: how fast it is made and made again, how much memory and disk it takes; its standings."""

from __future__ import annotations

import multiprocessing
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from msgspec import Struct

from malice.referee.records import Record
from malice.tournaments.bench import BenchRow
from malice.tournaments.bench.playouts import fill_league
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.publication import SiteSize
from malice.tournaments.league.ranking import compute_league_standings
from malice.tournaments.league.store import Store

NEW = 10
"""Games that come in before a site is rendered again."""

Stored = Sequence[tuple[GameSummary, Record]]
"""Games to store."""


class MeasuredWriter(Protocol):
    """Writes the pages of a league, as often as it is told."""

    def render(self) -> SiteSize:
        """Write them as the league stands now."""


OpenSite = Callable[[Store, Path], MeasuredWriter]
"""Returns who writes the site of a league into a folder."""


class RenderCost(Struct, frozen=True):
    """What one process measured."""

    site: SiteSize
    seconds: float
    peak_bytes: int
    again_s: float
    """The same writer, after new games."""


def measure_pages(open_site: OpenSite, games: int) -> Iterator[BenchRow]:
    """Fill a league with games, rate and render it, and render it again after new games.

    Args:
        open_site: returns who writes a site.
        games: how many games.
    """
    with TemporaryDirectory(prefix="malice-") as folder:
        league, site = Path(folder, "bench.db"), Path(folder, "site")
        with Store(league, create=True) as store:
            new = list(fill_league(store, Path(folder), games, 2 * NEW))
        with Store(league) as store:
            begin = time.perf_counter()
            compute_league_standings(store)
            rated = time.perf_counter() - begin
        first = _measure(open_site, league, site, new[:NEW])
        _store(league, new[NEW:])
        again = _measure(open_site, league, site, ())
    count = first.site.games
    yield BenchRow(f"standings of {count:,} games", count / rated, "games/s", "", None)
    yield BenchRow(f"site of {count:,} different games", count / first.seconds, "games/s", "", None)
    yield BenchRow("site, most memory", first.peak_bytes / 1e6, "MB", "", None)
    yield BenchRow("site, pages and replays together", first.site.bytes / count, "bytes/game", "", None)
    yield BenchRow(
        f"site, {NEW} games later, by the same writer", first.again_s, "s", "at first", first.again_s / first.seconds
    )
    yield BenchRow(
        f"site, {NEW} games later, by another process", again.seconds, "s", "at first", again.seconds / first.seconds
    )


def _measure(open_site: OpenSite, league: Path, out: Path, new: Stored) -> RenderCost:
    """Render in a process of its own, whose memory nobody else used."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_render, open_site, league, out, new).result()


def _render(open_site: OpenSite, league: Path, out: Path, new: Stored) -> RenderCost:
    with Store(league) as store:
        begin = time.perf_counter()
        writer = open_site(store, out)
        site = writer.render()
        seconds = time.perf_counter() - begin
        peak = _read_peak_bytes()
        _store(league, new)
        begin = time.perf_counter()
        writer.render()
        return RenderCost(site, seconds, peak, time.perf_counter() - begin)


def _store(league: Path, games: Stored) -> None:
    with Store(league, create=True) as store:
        for game, record in games:
            store.add(game, record)


def _read_peak_bytes() -> int:
    """Return the most memory that this process ever had; `getrusage` would count that of its parent."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) * 1024
