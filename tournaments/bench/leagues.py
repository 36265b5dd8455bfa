"""What a large league costs: to store, verify and export its games, and to render its site."""

from __future__ import annotations

import contextlib
import multiprocessing
import re
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from hashlib import sha256
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import msgspec
from msgspec import Struct

from malice.referee.course import Course, choose_dealer
from malice.referee.families import make_rules
from malice.referee.game_runner import GameLog
from malice.referee.records import Batch, GameOrder, Record, SeatReport
from malice.referee.rules import Result
from malice.referee.seat import Played
from malice.site_pages import SiteWriter
from malice.tournaments.bench import BenchRow
from malice.tournaments.league.cache import CachingReader
from malice.tournaments.league.config import Config
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.merge import take_games
from malice.tournaments.league.parts import Schedule
from malice.tournaments.league.publication import SiteSize
from malice.tournaments.league.ranking import compute_league_standings
from malice.tournaments.league.replay_pool import count_processors, replay_rows
from malice.tournaments.league.store import Store
from malice.tournaments.league.verify import verify_league
from malice.tournaments.running.open_parts import OpenParts
from malice.tournaments.running.plan import Plan, read_plan

ENTRIES = 60
OFF = 0.1
"""The chance that a seat plays any legal action."""
RANKS = "A23456789TJQ"


def fill_league(store: Store, folder: Path, games: int, spare: int = 0) -> Iterator[tuple[GameSummary, Record]]:
    """Found a tournament of at least so many games under the default ruleset, play it, and yield what is left out.

    All processors play, about 12 ms a game each.

    Args:
        store: the empty league.
        folder: where its tournament file might lie.
        games: how many.
        spare: how many games are left out.
    """
    config = Config(entries=("greedy",) * ENTRIES, deals=-(-games // (ENTRIES * (ENTRIES - 1))), seed="bench")
    plan = Plan.prepare(config, folder)
    plan.write(store)
    batches = list(plan.open_batches(set()))
    left = sum(len(batch.games) for batch in batches) - spare
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for records in pool.map(play_out_batch, batches):
            played = [(plan.make_game(record), record) for record in records]
            store.add_all(played[: max(0, left)])
            yield from played[max(0, left) :]
            left -= len(played)


def play_out_batch(batch: Batch) -> list[Record]:
    """Play the games of a batch without bots; the same batch gives the same games."""
    return [play_out(batch, order, Random(str(order.key))) for order in batch.games]


def play_out(batch: Batch, order: GameOrder, rng: Random) -> Record:
    """Play a game of a batch as its referee would, with times that are made up, and return its record."""
    rules = make_rules(batch.family, batch.rules, len(order.seating))
    course = Course(rules, choose_dealer(bytes.fromhex(order.deal_seed)))
    log = GameLog(batch, order)
    log.add_ask((), course.dealt, rules.turn(course.state))
    chooser = TidyChooser(rng)
    used = [0] * rules.seats
    while not isinstance(step := course.step, Result):
        moves = []
        for seat in step.seats:
            micros = round(rng.lognormvariate(5, 0.7))
            used[seat] += micros
            moves.append(Played(seat, chooser.choose(seat, rules.legal(course.state, seat)), micros, micros))
        log.played += moves
        events = course.play({move.seat: move.action for move in moves})
        log.add_ask(moves, events, rules.turn(course.state))
    reports = [SeatReport("playout", used_ms=micros / 1000, cpu_ms=micros / 1000) for micros in used]
    return log.make_record(step, reports, started=round(time.time(), 3), elapsed_ms=sum(used) / 1000)


class TidyChooser:
    """Chooses actions by their words alone; without some order in the discards, games end after 60 actions."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._piles: defaultdict[tuple[int, str], str] = defaultdict(str)
        """By seat and place, the ranks that it discarded there."""

    def choose(self, seat: int, legal: tuple[str, ...]) -> str:
        """Choose the action that looks best, and sometimes any."""
        if self._rng.random() < OFF:
            action = self._rng.choice(legal)
        else:
            action = max(legal, key=lambda each: self._score(seat, each))
        source, _, target = action.partition("-")
        if source[0] == "h" and target[0] == "s":
            self._piles[seat, target] += source[1]
        elif source[0] == "s":
            self._piles[seat, source] = self._piles[seat, source][:-1]
        return action

    def _score(self, seat: int, action: str) -> int:
        source, _, target = action.partition("-")
        if source[0] == "p":
            return 1000
        if target[0] == "c":
            return 0 if source[1] == "K" else 500
        value, pile = RANKS.find(source[1]), self._piles[seat, target]
        if value < 0:
            return -100
        top = RANKS.find(pile[-1]) if pile else 99
        if value in (top, top - 1):
            return 80 + value
        return 60 + value if not pile else 40 - abs(top - value) - len(pile) * (value > top)


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


NEW = 10
"""Games that come in before a site is rendered again."""

Stored = Sequence[tuple[GameSummary, Record]]
"""Games to store."""


class RenderCost(Struct, frozen=True):
    """What one process measured."""

    site: SiteSize
    seconds: float
    peak_bytes: int
    again_s: float
    """The same writer, after new games."""


def measure_pages(games: int) -> Iterator[BenchRow]:
    """Fill a league with games, rate and render it, and render it again after new games.

    Args:
        games: how many games.
    """
    with TemporaryDirectory(prefix="malice-") as folder:
        league, site = Path(folder, "bench.db"), Path(folder, "site")
        with Store(league, create=True) as store:
            new = list(fill_league(store, Path(folder), games, 2 * NEW))
        with Store(league) as store:
            begin = time.perf_counter()
            compute_league_standings(store.read(keep=False))
            rated = time.perf_counter() - begin
        first = _measure(league, site, new[:NEW])
        _store(league, new[NEW:])
        again = _measure(league, site, ())
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


def _measure(league: Path, out: Path, new: Stored) -> RenderCost:
    """Render in a process of its own, whose memory nobody else used."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_render, league, out, new).result()


def _render(league: Path, out: Path, new: Stored) -> RenderCost:
    with Store(league) as store:
        begin = time.perf_counter()
        writer = SiteWriter(CachingReader(store), out)
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
    """The most memory that this process ever had; `getrusage` would count that of its parent."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) * 1024


SAMPLES = 200
"""Games that are really played for a league of made-up ones."""
STORED = 100_000
MANY = 100
"""Entries of a league of made-up games."""
BURST = 20_000
"""Made-up games that are stored together."""


def fill_with_copies(path: Path, games: int) -> None:
    """Found a league with so many games, each the summary of one of a few that were played, without records.

    All but places, times and reasons is as in a tournament that was played: keys, labels, digests that differ.

    Args:
        path: where its file is to be.
        games: how many.
    """
    config = Config(entries=("greedy",) * MANY, deals=-(-games // (MANY * (MANY - 1))), seed="bench", name="large")
    with Store(path, create=True) as store:
        plan = Plan.prepare(config, path.parent).write(store)
        batches = islice(plan.open_batches(set()), SAMPLES)
        samples = [plan.make_game(record) for batch in batches for record in play_out_batch(batch)[:1]]
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        rows = islice(_copy_games(plan.tournament.schedules[0], samples), games)
        while burst := list(islice(rows, BURST)):
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO games VALUES (?, 0, ?, ?, ?, ?, '[]', ?, ?)", burst)
            connection.executemany("INSERT INTO records VALUES (?, x'', NULL)", ((row[0],) for row in burst))
            connection.execute("COMMIT")


def _copy_games(schedule: Schedule, samples: Sequence[GameSummary]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of all games of a part, in playing order."""
    rng, number = Random("copies"), schedule.part.first
    bodies = [msgspec.json.encode(sample).decode().partition(',"teams":')[2] for sample in samples]
    halves = [body.split(sample.digest) for body, sample in zip(bodies, samples, strict=True)]
    for batch in schedule.batches():
        players = [version.label for version in schedule.part.tables[batch.table].versions]
        seated = msgspec.json.encode(players[batch.rotation :] + players[: batch.rotation]).decode()
        for key in batch.games():
            before, after = rng.choice(halves)
            digest = sha256(b"%d" % number).hexdigest()
            place = f'"key":[{key.part},{key.table},{key.deal},{key.rotation}],"number":{number}'
            head = f'{{{place},"ruleset":"{samples[0].ruleset}","labels":{seated},"versions":[1,1],"teams":'
            yield number, key.part, key.table, key.deal, key.rotation, f"{head}{before}{digest}{after}", digest
            number += 1


class GrowthCost(Struct, frozen=True):
    """What a process of its own took for a league."""

    seconds: float
    """Of processor time."""
    peak_bytes: int


def measure_growth(games: int = STORED) -> Iterator[BenchRow]:
    """Measure what leagues of made-up games cost, one of a tenth of the size beside the whole: per game as much?

    Args:
        games: those of the larger league.
    """
    works = {"resume": _resume, "standings": _rate, "merge without new games": _compare}
    costs: dict[str, list[GrowthCost]] = {what: [] for what in works}
    for size in (games // 10, games):
        with TemporaryDirectory(prefix="malice-") as folder:
            league = Path(folder, "large.db")
            fill_with_copies(league, size)
            for what, work in works.items():
                with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                    costs[what].append(pool.submit(_cost, work, league).result())
    for what, (small, large) in costs.items():
        grown = large.seconds / small.seconds
        yield BenchRow(f"{what}, {games:,} stored games", large.seconds, "CPU s", f"{games // 10:,} games", grown)
        grown = large.peak_bytes / small.peak_bytes
        yield BenchRow(f"{what}, most memory", large.peak_bytes / 1e6, "MB", f"{games // 10:,} games", grown)


def _cost(work: Callable[[Path], object], league: Path) -> GrowthCost:
    begin = time.process_time()
    work(league)
    return GrowthCost(time.process_time() - begin, _read_peak_bytes())


def _resume(league: Path) -> None:
    """Do what a run does until its first game begins."""
    with Store(league, create=True) as store:
        store.select("large")
        plan = read_plan(store, store.config(), league.parent)
        parts = OpenParts(plan)
        next(plan.open_batches(parts.done, parts.wants), None)


def _rate(league: Path) -> None:
    with Store(league) as store:
        compute_league_standings(store.read(keep=False))


def _compare(league: Path) -> None:
    with Store(league) as store, Store(league) as copy:
        assert take_games(store, copy).known == store.count_stored()
