"""A cluster without machines: its workers play in this process, and a script decides what becomes of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from queue import SimpleQueue

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from protocol.errors import MaliceError
from protocol.messages import Move
from referee.game_runner import GameRunner
from referee.records import Batch, GameOrder, Key, Record
from referee.replay import check_record
from tournaments.bench.seats import Puppet
from tournaments.farm.cluster import Answered, Event, Introduced
from tournaments.farm.conditions import Conditions
from tournaments.farm.dispatch import Dispatcher
from tournaments.farm.work import Answer, Introduction, Need, Task, Ticket
from tournaments.running.coordinator import Hooks, Outcome
from tournaments.running.plan import Plan
from tournaments.running.replays import Judge, Replays
from tournaments.running.run import Playing

GREETING = Introduction("here", slots=2, slots_per_game=1, speed=1.25)
PATIENCE_S = 0.2
Forge = Callable[[Record], Record]


def choose(request: Move) -> tuple[str, int]:
    assert isinstance(request.legal, tuple)
    return next((action for action in request.legal if "-c" in action), request.legal[0]), 1000


_played: dict[tuple[str, Key], Record] = {}


def play_game(batch: Batch, order: GameOrder) -> Record:
    """Play a game without bots, the same way each time."""
    known = order.deal_seed, order.key
    if known not in _played:
        _played[known] = GameRunner(batch, order, [Puppet(choose) for _ in order.seating]).play()
    return replace(_played[known], speed=batch.speed)


class ReplaysHere(Replays):
    """Replays in this process, at once."""

    def submit(self, record: Record, judge: Judge) -> None:
        try:
            check_record(record)
        except MaliceError as error:
            judge(record, str(error))
        else:
            judge(record, "")


class SimulatedCluster:
    """Some workers; each look around gives them a turn.

    Args:
        names: those of the workers that are there at first.
        greetings: by name, how a worker introduces itself.
        forge: by name, what a worker makes of its records.
    """

    def __init__(
        self,
        *names: str,
        greetings: Mapping[str, Introduction] | None = None,
        forge: Mapping[str, Forge] | None = None,
    ) -> None:
        self.events: SimpleQueue[Event] = SimpleQueue()
        self.workers = {f"tcp://{name}": name for name in names}
        self.tasks: dict[str, dict[int, Task]] = {}
        """By address, what a worker has in hand."""
        self.handed: list[tuple[str, Task]] = []
        """All that was ever handed out."""
        self.finishing = False
        self._greetings = greetings or {}
        self._forge = forge or {}
        self._moved = 0

    def list_workers(self) -> Mapping[str, str]:
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
        records = [play_game(batch, order) for batch in task.batches for order in batch.games]
        if forge := self._forge.get(self.workers.get(address, "")):
            records = [forge(record) for record in records]
        answer = Answer(task.number, tuple(Raw(msgspec.json.encode(record)) for record in records))
        self.events.put(Answered(task.number, msgspec.json.encode(replace(answer, **changes))))
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
                self.answer(address, task, records=())
            case 4 | 5 | 6:
                self.answer(address, task)


def play_on(cluster: SimulatedCluster, plan: Plan, drawn: int = 10, min_speed: float = 0.0) -> Playing:
    """Return what plays the batches of a plan on a cluster."""
    tickets = {label: Ticket(bot.content, bot.given) for label, bot in plan.bots.items()}
    need = Need("0", (), plan.isolation, 1, ())
    conditions = Conditions(need, tickets, {}, min_speed=min_speed, patience_s=PATIENCE_S, drawn=drawn, by_wall=True)

    def play(batches: Iterator[Batch], jobs: int, cpus_per_game: int, hooks: Hooks) -> Outcome:
        assert hooks.audit
        return Dispatcher(cluster, conditions, hooks.audit, batches, hooks).play()

    return play
