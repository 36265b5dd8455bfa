"""A cluster without machines: its workers play in this process, and a script decides what becomes of them."""

from __future__ import annotations

import dataclasses
import io
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from malice.protocol.messages import Move
from malice.referee.game_runner import GameRunner
from malice.referee.records import Batch, GameOrder, Key, Record, compute_tournament_sha
from malice.tournaments.bench.games import Puppet
from malice.tournaments.farm.cluster import Answered, Conditions, Event, Introduced
from malice.tournaments.farm.dispatch import Dispatcher
from malice.tournaments.farm.work import Answer, Identity, Introduction, Need, Refusal, Task, Ticket, pack
from malice.tournaments.league.config import Config
from malice.tournaments.league.replays import find_replay_error
from malice.tournaments.league.store import Store
from malice.tournaments.league.verify import verify_league
from malice.tournaments.running.hooks import Audit, CheckPool, Hooks, Outcome
from malice.tournaments.running.opening import Playing, RunTerms, open_plan
from malice.tournaments.running.plan import Plan, read_plan
from malice.tournaments.running.run import Run
from tests.sharing import nobody_greeted

CONFIG = Config(
    entries=("greedy", "uniform", "first"), rulesets=("./short.toml",), deals=6, seed="farm", name="farm", jobs=1
)
GAMES = 3 * 6 * 2
GREETING = Introduction("here", slots=2, slots_per_game=1, speed=1.25)
Forge = Callable[[Record], Record]
Chooser = Callable[[Move], tuple[str, int]]


def choose(request: Move) -> tuple[str, int]:
    assert isinstance(request.legal, tuple)
    return next((action for action in request.legal if "-c" in action), request.legal[0]), 1000


CHOOSER = choose
_played: dict[bytes, Record] = {}
"""By all that decides how a game is played, and what its record says."""
MOST_LOOKS = 20_000
"""How often a run may look around: one that does so more often stands still."""
NEXT_LOOK_S = 1e-9
"""Nobody comes here while a run waits: a worker that is not there at the next look never will be."""


def play_game(batch: Batch, order: GameOrder, choose: Chooser = choose) -> Record:
    """Play a game without bots; those that choose by default do so the same way each time."""
    if choose is not CHOOSER:
        return GameRunner(batch, order, [Puppet(choose) for _ in order.seating]).play()
    known = msgspec.json.encode(replace(batch, games=(order,), speed=1.0))
    if known not in _played:
        _played[known] = GameRunner(batch, order, [Puppet(choose) for _ in order.seating]).play()
    return replace(_played[known], speed=batch.speed)


class CheckersHere(CheckPool):
    """Replays in this process, at once."""

    def submit(self, pieces: Sequence[bytes]) -> Future[list[bytes]]:
        done: Future[list[bytes]] = Future()
        done.set_result([find_replay_error(line) for line in pieces])
        return done


class SimulatedCluster:
    """Some workers; each look around gives them a turn.

    Args:
        names: those of the workers that are there at first.
        greetings: by name, how a worker introduces itself.
        forge: by name, what a worker makes of its records.
        choosers: by name, how the bots choose there.
    """

    def __init__(
        self,
        *names: str,
        greetings: Mapping[str, Introduction | Refusal] | None = None,
        forge: Mapping[str, Forge] | None = None,
        choosers: Mapping[str, Chooser] | None = None,
    ) -> None:
        self.events: SimpleQueue[Event] = SimpleQueue()
        self.workers = {f"tcp://{name}": name for name in names}
        self.tasks: dict[str, dict[int, Task]] = {}
        """By address, what a worker has in hand."""
        self.handed: list[tuple[str, Task]] = []
        """All that was ever handed out."""
        self.finishing = False
        self.game_s = 0.0
        """How long each game takes, as the workers say."""
        self.cross_checked = 0
        """One block of so many is played by two workers."""
        self._greetings = greetings or {}
        self._forge = forge or {}
        self._choosers = choosers or {}
        self._moved = 0
        self._looks = 0

    def list_workers(self) -> Mapping[str, str]:
        self._looks += 1
        assert self._looks < MOST_LOOKS, f"the run stands still; workers have in hand: {self.tasks}"
        self.take_turn()
        self.events.put(Answered(-1, None))  # the run need not wait for anything
        return dict(self.workers)

    def introduce(self, address: str, need: Need, tars: Mapping[str, Path]) -> None:
        greeting = self._greetings.get(self.workers[address], GREETING)
        self.events.put(Introduced(address, greeting))

    def submit(self, address: str, task: Task) -> None:
        self.handed.append((address, task))
        self.tasks.setdefault(address, {})[task.number] = task

    def recall(self, numbers: Collection[int]) -> None:
        for tasks in self.tasks.values():
            for number in numbers:
                tasks.pop(number, None)

    def finish(self, run: str) -> None:
        self.finishing = True

    def take_turn(self) -> None:
        """Let every worker answer what it has in hand."""
        for address in list(self.tasks):
            for task in list(self.tasks[address].values()):
                self.answer(address, task)

    def answer(self, address: str, task: Task, **changes: object) -> None:
        """Let a worker answer one task."""
        choose = self._choosers.get(self.workers.get(address, ""), CHOOSER)
        records = [
            replace(play_game(batch, order, choose), speed=batch.speed)
            for batch in task.batches
            for order in batch.games
        ]
        if forge := self._forge.get(self.workers.get(address, "")):
            records = [forge(record) for record in records]
        lines = tuple(Raw(msgspec.json.encode(record)) for record in records)
        answer = Answer(task.number, lines, self.game_s * len(lines))
        self.events.put(Answered(task.number, pack(replace(answer, **changes))))
        self.tasks.get(address, {}).pop(task.number, None)

    def kill(self, address: str, *, back: bool) -> None:
        """Let a worker vanish with all that it has in hand; perhaps it comes back under another address."""
        name = self.workers.pop(address)
        self.tasks.pop(address, None)
        if back:
            self._moved += 1
            self.workers[f"tcp://{name}:{self._moved}"] = name


class Chaos(SimulatedCluster):
    """A cluster in which everything goes wrong that may go wrong, as a seed draws it."""

    def __init__(self, seed: int, *names: str) -> None:
        super().__init__(*names)
        self._chance = random.Random(seed)

    def take_turn(self) -> None:
        for address, tasks in list(self.tasks.items()):
            for task in list(tasks.values()):
                self._befall(address, task)
        if self._chance.random() < 0.05:  # the scheduler is started again
            for address in list(self.workers):
                self.kill(address, back=True)
        if not self.workers:
            self.workers["tcp://new"] = "new"

    def _befall(self, address: str, task: Task) -> None:
        match self._chance.randrange(8):
            case 0 if address in self.workers:
                self.kill(address, back=self._chance.random() < 0.8)
            case 1:
                self.events.put(Answered(task.number, None))
            case 2:
                self.answer(address, task)
                self.answer(address, task)
            case 3:
                self.answer(address, task, records=(), lacks=True)
            case 4 | 5 | 6:
                self.answer(address, task)


def make_conditions(cluster: SimulatedCluster, plan: Plan, drawn: int = 10, min_speed: float = 0.0) -> Conditions:
    """Return the conditions under which the workers of a cluster play."""
    tickets = {label: Ticket(bot.content, bot.given) for label, bot in plan.bots.items()}
    need = Need(Identity("0", "", ""), (), plan.isolation, 1, ())
    return Conditions(
        need,
        tickets,
        {},
        min_speed=min_speed,
        patience_s=NEXT_LOOK_S,
        grace_s=NEXT_LOOK_S,
        drawn=drawn,
        by_wall=True,
        cross_checked=cluster.cross_checked,
    )


def play_on(cluster: SimulatedCluster, plan: Plan, drawn: int = 10, min_speed: float = 0.0) -> Playing:
    """Return what plays the batches of a plan on a cluster."""
    conditions = make_conditions(cluster, plan, drawn, min_speed)

    def play(batches: Iterator[Batch], jobs: int, cpus_per_game: int, hooks: Hooks) -> Outcome:
        assert hooks.audit
        return Dispatcher(cluster, conditions, hooks.audit, batches, hooks).play()

    return play


class League:
    """A league in a folder, and what runs in it printed."""

    def __init__(self, folder: Path) -> None:
        (folder / "short.toml").write_text('extends = "standard"\n[rules]\npayoff_size = 1\n')
        self.path = folder / "farm.db"
        self.out = io.StringIO()

    def run(self, cluster: SimulatedCluster, config: Config = CONFIG, drawn: int = 10, least: float = 0.0) -> None:
        self.play(RunTerms(1, ["again"], elsewhere=lambda plan: play_on(cluster, plan, drawn, least)), config)

    def play(self, terms: RunTerms, config: Config = CONFIG) -> None:
        with Store(self.path, create=True) as store, nobody_greeted():
            plan = read_plan(store, config, self.path.parent)
            audit = Audit(store, "go on", CheckersHere())
            Run(store, open_plan(store, plan, self.out, terms), self.out, terms, audit).play()

    def sha(self) -> str:
        with Store(self.path) as store:
            return verify_league(store).sha

    def keys(self) -> set[Key]:
        with Store(self.path) as store:
            return store.keys()


def dispatch(league: League, cluster: SimulatedCluster, hooks: Hooks) -> Outcome:
    """Play the games of `CONFIG` on a cluster without storing them."""
    with Store(league.path, create=True) as store, Audit(store, "", CheckersHere()) as audit:
        plan = read_plan(store, CONFIG, league.path.parent)
        return play_on(cluster, plan)(plan.open_batches(set()), 1, 1, dataclasses.replace(hooks, audit=audit))


def compute_sha(league: League, config: Config = CONFIG) -> str:
    """Return the SHA of the tournament as one machine plays it."""
    with Store(league.path) as store:
        plan = read_plan(store, config, league.path.parent)
    batches = [plan.make_batch(each, list(each.games())) for each in plan.tournament.schedules[0].batches()]
    games = {order.key: play_game(batch, order) for batch in batches for order in batch.games}
    return compute_tournament_sha(games[key].digest for key in sorted(games))
