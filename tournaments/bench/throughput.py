"""Games per second of a tournament, on this machine and with many workers that answer at once."""

from __future__ import annotations

import resource
import shutil
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from queue import SimpleQueue
from statistics import median
from tempfile import TemporaryDirectory

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from malice.protocol.messages import Move
from malice.referee.game_runner import GameRunner
from malice.referee.records import Key, Record
from malice.tournaments.bench import BenchRow
from malice.tournaments.bench.games import Puppet
from malice.tournaments.farm.cluster import Answered, Conditions, Event, Introduced
from malice.tournaments.farm.dispatch import Dispatcher
from malice.tournaments.farm.work import Answer, Introduction, Need, Task, make_ticket, pack, read_identity
from malice.tournaments.league.config import Config
from malice.tournaments.league.journal import ShareChosen
from malice.tournaments.league.merge import require_copy, take_games
from malice.tournaments.league.parts import Share
from malice.tournaments.league.replay_pool import count_processors
from malice.tournaments.league.store import Store
from malice.tournaments.running.coordinator import play_batches
from malice.tournaments.running.hooks import Audit, Hooks
from malice.tournaments.running.plan import Plan, read_plan, recall_plan

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
        plan = read_plan(store, config, Path(folder))
        plan.write(store)
        begin = time.perf_counter()
        hooks = Hooks(lambda record: store.add(plan.make_game(record), record))
        outcome = play_batches(plan.open_batches(set()), jobs, 1, hooks)
        seconds = time.perf_counter() - begin
        assert not outcome.given_up
        return plan.tournament.planned / seconds


WORKERS = 32
SLOTS = 2
GAMES = 2000
PLANNED = 1_000_000
SPEED = 1.0
GAME_S = 0.1
"""How long a game took, as the workers say."""


class Parrots:
    """Workers that answer at once with records that are given.

    Args:
        lines: the record of each game, as JSON.
    """

    def __init__(self, lines: Mapping[Key, bytes]) -> None:
        self.events: SimpleQueue[Event] = SimpleQueue()
        self.seconds = 0.0
        """How long they took to write their answers, which workers do on machines of their own."""
        self._lines = lines
        self._names = {f"tcp://10.0.0.{number}": f"worker-{number}" for number in range(WORKERS)}

    def list_workers(self) -> Mapping[str, str]:
        return self._names

    def introduce(self, address: str, need: Need, tars: Mapping[str, Path]) -> None:
        """Let a worker say that it can play."""
        self.events.put(Introduced(address, Introduction("bench", SLOTS, 1, SPEED)))

    def submit(self, address: str, task: Task) -> None:
        """Answer a task."""
        begin = time.perf_counter()
        keys = [order.key for batch in task.batches for order in batch.games]
        answer = pack(Answer(task.number, tuple(Raw(self._lines[key]) for key in keys), GAME_S * len(keys)))
        self.seconds += time.perf_counter() - begin
        self.events.put(Answered(task.number, answer))

    def recall(self, numbers: Collection[int]) -> None:
        """Do nothing: everything is answered."""

    def finish(self, run: str) -> None:
        """Do nothing: nothing runs."""


def measure_farm() -> Iterator[BenchRow]:
    """Measure games per second, and what a million planned games take of the memory."""
    with TemporaryDirectory(prefix="malice-") as name:
        folder = Path(name)
        small = _measure(folder, GAMES)
        large = _measure(folder, PLANNED)
    yield BenchRow(f"{WORKERS} workers that answer at once, {GAMES:,} games", small[0], "games/s", "", None)
    planned = f"{WORKERS} workers that answer at once, {PLANNED:,} games planned"
    yield BenchRow(planned, large[0], "games/s", f"{GAMES:,} planned", large[0] / small[0])
    yield BenchRow(f"memory for these, with {GAMES:,} games planned", small[1], "MB", "", None)
    yield BenchRow(f"memory for these, with {PLANNED:,} games planned", large[1], "MB", "", None)


def _measure(folder: Path, planned: int) -> tuple[float, float]:
    """How many games a second are handed out and stored, and how many MB of memory that takes."""
    config = Config(entries=("greedy", "uniform"), deals=planned // 2, seed="bench")
    with Store(folder / f"bench-{planned}.db", create=True) as store:
        plan = read_plan(store, config, folder)
        plan.write(store)
        return _coordinate(store, plan, _play(plan, GAMES))


def _coordinate(store: Store, plan: Plan, lines: Mapping[Key, bytes]) -> tuple[float, float]:
    """Hand out games, and store the records that workers give at once; the rates and the memory of `_measure`."""
    keys: list[Key] = []

    def store_all(records: Sequence[Record]) -> None:
        store.add_all((plan.make_game(record), record) for record in records)
        keys.extend(record.key for record in records)

    hooks = Hooks(lambda record: None, on_burst=store_all, wants=lines.__contains__)
    tickets = {label: make_ticket(bot) for label, bot in plan.bots.items()}
    conditions = Conditions(Need(read_identity(), (), plan.isolation, 1, ()), tickets, {})
    batches = takewhile(lambda batch: batch.games[0].key in lines, plan.open_batches(set()))
    with Audit(store) as audit:
        parrots, begin, memory = Parrots(lines), time.perf_counter(), _read_memory()
        Dispatcher(parrots, conditions, audit, batches, hooks).play()
        seconds = time.perf_counter() - begin - parrots.seconds
    assert sorted(keys) == sorted(lines)
    return len(keys) / seconds, (_read_memory() - memory) / 1_000_000


COORDINATORS = 20
SHARE = 200
"""Games of each coordinator."""


def measure_shares() -> Iterator[BenchRow]:
    """Play the shares of a tournament with a coordinator for each, one after the other, and merge them.

    So none takes a processor from another, as on machines of their own.
    """
    with TemporaryDirectory(prefix="malice-") as name:
        league, folder = Path(name, "bench.db"), Path(name)
        config = Config(entries=("greedy", "uniform"), deals=COORDINATORS * SHARE // 2, seed="bench")
        with Store(league, create=True) as store:
            plan = read_plan(store, config, folder)
            plan.write(store, shared=True)
            lines = _play(plan, COORDINATORS * SHARE)
        rates, memory = [], 0.0
        copies = [folder / f"{number}.db" for number in range(1, COORDINATORS + 1)]
        for number, copy in enumerate(copies, 1):
            shutil.copyfile(league, copy)
            share = Share(number, COORDINATORS)
            with Store(copy, create=True) as store:
                store.select(config.name)
                store.append(config.name, [ShareChosen(str(share))])
                plan = recall_plan(store, store.config(), share)
                rate, taken = _coordinate(store, plan, {key: line for key, line in lines.items() if share.has(key)})
            rates.append(rate)
            memory = max(memory, taken)
        begin = time.perf_counter()
        with Store(league, create=True) as store:
            games = sum(_merge(store, copy) for copy in copies)
        merged = games / (time.perf_counter() - begin)
    assert games == len(lines)
    what = f"{COORDINATORS} coordinators of {WORKERS} workers that answer at once"
    yield BenchRow(f"{what}, each with a share", sum(rates), "games/s", "one", sum(rates) / rates[0])
    yield BenchRow("memory for the largest of these", memory, "MB", "", None)
    yield BenchRow(f"merge of their {games:,} games, all replayed", merged, "games/s", "", None)


def _merge(league: Store, path: Path) -> int:
    with Store(path) as copy:
        require_copy(league, copy)
        return take_games(league, copy, count_processors()).taken


def _read_memory() -> int:
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _play(plan: Plan, games: int) -> dict[Key, bytes]:
    """Records of the first games, played without bots."""
    lines: dict[Key, bytes] = {}
    for batch in plan.open_batches(set()):
        for order in batch.games:
            seats = [Puppet(_choose) for _ in order.seating]
            record = replace(GameRunner(batch, order, seats).play(), speed=SPEED)
            lines[order.key] = msgspec.json.encode(record)
        if len(lines) >= games:
            break
    return lines


def _choose(request: Move) -> tuple[str, int]:
    assert isinstance(request.legal, tuple)
    return next((action for action in request.legal if "-c" in action), request.legal[0]), 1000
