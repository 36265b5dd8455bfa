"""Hands blocks of games to the workers of a cluster, and takes their records; what is lost is handed out again."""

from __future__ import annotations

import contextlib
import math
import secrets
import signal
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from queue import Empty

from msgspec.structs import replace

from referee.errors import FamilyError
from referee.nouns import format_count
from referee.records import Batch, Key, Record
from tournaments.errors import Stopped
from tournaments.farm.backlog import TRIES, Backlog
from tournaments.farm.blocks import Block, keep_games, merge_block
from tournaments.farm.cluster import Answered, Cluster, Event, Introduced, Replayed, Signalled, Unreachable
from tournaments.farm.conditions import Conditions
from tournaments.farm.crew import Crew, Handed, Worker
from tournaments.farm.receipt import read_answer
from tournaments.farm.signals import signals_as_events
from tournaments.farm.work import Answer, Introduction, Task
from tournaments.running.audit import Audit
from tournaments.running.coordinator import Hooks, Outcome, Running
from tournaments.sanitizer import sanitize

LOOK_EVERY_S = 0.5
REPORT_EVERY_S = 30.0


class Dispatcher:
    """Plays batches on the workers of a cluster, once.

    Args:
        cluster: the workers.
        conditions: under which they play.
        audit: replays records.
        batches: the games to play.
        hooks: called while the games are played.
    """

    def __init__(
        self, cluster: Cluster, conditions: Conditions, audit: Audit, batches: Iterable[Batch], hooks: Hooks
    ) -> None:
        self.outcome = Outcome()
        self.crew = Crew()
        self._cluster = cluster
        self._conditions = conditions
        self._audit = audit
        self._hooks = hooks
        self._run = secrets.token_hex(8)
        self._backlog = Backlog(batches, hooks, self._note_late)
        self._tasks: dict[int, Handed] = {}
        self._numbers = 0
        self._held: dict[Key, tuple[Worker, Handed]] = {}
        """Where the records come from that wait for their replay."""
        self._failed: Counter[Key] = Counter()
        self._ending: str | None = None
        """The signal after which only the running games finish."""
        self._alone_since = self._reported = time.monotonic()

    def play(self) -> Outcome:
        """Play all batches; return what happened.

        Raises:
            FamilyError: the rules of a game failed.
            Stopped: there is no worker, or records that were stored do not replay.
        """
        with signals_as_events(self._cluster.events):
            try:
                self._look_around()
                while not self.outcome.stopped and not self._is_over():
                    self._hand_out()
                    for event in self._await_events():
                        self._handle(event)
                    self._look_around()
            finally:
                self._cluster.recall(list(self._tasks))
        self.outcome.stopped = self.outcome.stopped or self._ending
        for line in self.crew.describe_shares():
            self._hooks.say(line)
        return self.outcome

    def _is_over(self) -> bool:
        if self._tasks or self._held:
            return False
        return self._ending is not None or self._backlog.peek() is None

    # What is handed out

    def _hand_out(self) -> None:
        """Fill the windows of all workers, as far as the games allow it."""
        while not self._ending and (worker := self.crew.find_roomiest()) and (block := self._backlog.peek()):
            whole = merge_block(block)
            running = self.crew.list_running()
            if running and not self._hooks.may_begin(whole, running):
                return
            self._backlog.pop()
            self._give(worker, block, whole)

    def _give(self, worker: Worker, block: Block, whole: Batch) -> None:
        self._numbers += 1
        speed = worker.introduction.speed
        block = tuple(replace(batch, speed=speed) for batch in block)
        left = {order.key: (batch, order) for batch in block for order in batch.games}
        handed = Handed(self._numbers, worker.address, block, left, Running(whole, set(left)))
        latest = min(map(self._hooks.latest_begin, block))
        task = Task(
            number=handed.number,
            run=self._run,
            batches=block,
            tickets=tuple(self._conditions.tickets[player.label] for player in whole.players),
            slots=worker.introduction.slots_per_game,
            latest=None if math.isinf(latest) else latest,
        )
        worker.tasks[handed.number] = self._tasks[handed.number] = handed
        self._cluster.submit(worker.address, task)

    def _hand_back(self, handed: Handed, *, lost: bool = False) -> None:
        """Let the games that a task has left be handed out again.

        Args:
            handed: the task.
            lost: whether its worker vanished over it.
        """
        self._drop(handed)
        if self._ending or not handed.left:
            return
        self.crew.again += len(handed.left)
        for key in self._backlog.put_back(keep_games(handed.block, handed.left), lost=lost):
            self._give_up(key, f"{TRIES} workers vanished over it")

    def _give_up(self, key: Key, sentence: str) -> None:
        self._hooks.on_failure(key, sentence, again=False)
        self.outcome.given_up[key] = sentence

    def _drop(self, handed: Handed) -> None:
        """Forget that a worker has a task in hand."""
        self._tasks.pop(handed.number, None)
        if worker := self.crew.workers.get(handed.address):
            worker.tasks.pop(handed.number, None)

    def _note_late(self) -> None:
        if not self.outcome.late:
            self.outcome.late = True
            self._hooks.on_late()

    # What happens

    def _await_events(self) -> Iterator[Event]:
        """Wait a while for an event; yield all that are there."""
        with contextlib.suppress(Empty):
            yield self._cluster.events.get(timeout=LOOK_EVERY_S)
            while True:
                yield self._cluster.events.get_nowait()

    def _handle(self, event: Event) -> None:
        match event:
            case Introduced(address, introduction):
                self._welcome(address, introduction)
            case Unreachable(address, why):
                self._hear_nothing(address, why)
            case Answered(number, answer):
                if handed := self._tasks.get(number):  # a task that was taken back may still be answered
                    self._take_answer(handed, answer)
            case Replayed(record, why):
                self._take_replayed(record, why)
            case Signalled(number):
                self._stop(number)

    def _stop(self, number: int) -> None:
        """Let the running games finish after a first Ctrl-C; else stop at once."""
        name = signal.Signals(number).name
        if number == signal.SIGINT and self._hooks.on_finishing and not self._ending and self._tasks:
            self._ending = name
            self._hooks.on_finishing(self.crew.list_running())
            self._cluster.finish(self._run)
        else:
            self.outcome.stopped = name

    # Who plays

    def _look_around(self) -> None:
        """Ask newcomers who they are, and hand out again what those had in hand that are gone."""
        listed = self._cluster.list_workers()
        for worker in [each for address, each in self.crew.workers.items() if address not in listed]:
            self._part_with(worker, "is gone")
        self.crew.asked &= listed.keys()
        for address, name in listed.items():
            if self.crew.is_stranger(address, name):
                self.crew.asked.add(address)
                self._cluster.introduce(address, self._conditions.need, self._conditions.tars)
        self._require_workers()
        if time.monotonic() - self._reported >= REPORT_EVERY_S:
            self._reported = time.monotonic()
            self._hooks.say(self.crew.describe_work())

    def _require_workers(self) -> None:
        now, patience_s = time.monotonic(), self._conditions.patience_s
        if self.crew.workers:
            self._alone_since = now
        elif now - self._alone_since >= patience_s:
            reasons = "".join(f"\n  {why}" for why in self.crew.refused.values())
            raise Stopped(f"no worker for {patience_s:g} s{reasons}")

    def _welcome(self, address: str, introduction: Introduction) -> None:
        """Let a worker play, or refuse it with the reason."""
        name = self._cluster.list_workers().get(address)
        if name is None or address not in self.crew.asked:
            return
        self.crew.asked.discard(address)
        worker = Worker(address, name, introduction)
        speed, least = introduction.speed, self._conditions.min_speed
        if introduction.refusal:
            self._refuse(worker, introduction.refusal)
        elif speed < least:
            self._refuse(worker, f"its factor is {speed:g}, expected at least {least:g}")
        else:
            self.crew.workers[address] = worker
            games = format_count(introduction.capacity, "game")
            self._hooks.say(f"{worker.describe()} plays {games} at a time, factor {speed:g}")
            for warning in introduction.warnings:
                self._hooks.say(f"{worker.describe()}: {warning}")
            if self._conditions.by_wall and (unfairness := self.crew.describe_unfairness()):
                self._hooks.say(unfairness)

    def _hear_nothing(self, address: str, why: str) -> None:
        """Ask a worker again soon, and say once why it did not answer, unless it is gone."""
        self.crew.asked.discard(address)
        name = self._cluster.list_workers().get(address)
        if name is not None and self.crew.silent.get(address) != why:
            self.crew.silent[address] = why
            self._hooks.say(f"{sanitize(name)} does not answer, and is asked again: {sanitize(why)}")

    def _refuse(self, worker: Worker, why: str) -> None:
        self._hooks.say(self.crew.refuse(worker, why))

    def _part_with(self, worker: Worker, why: str) -> None:
        """Take a worker's tasks back, and hand them out again."""
        tasks = list(worker.tasks.values())
        games = sum(len(handed.left) for handed in tasks)
        self._hooks.say(f"{worker.describe()} {why}: {format_count(games, 'game')} handed out again")
        self._cluster.recall([handed.number for handed in tasks])
        for handed in tasks:
            self._hand_back(handed, lost=True)
        self.crew.remove(worker)

    def _ban(self, worker: Worker, why: str) -> None:
        """Give a worker no more work after a wrong record, and replay what else it sent.

        Raises:
            Stopped: more of its records are wrong.
        """
        if worker.address in self.crew.workers:
            self._part_with(worker, "sent a wrong record")
            self.crew.banned.add(worker.name)
            self._refuse(worker, why)
            self._audit.check(worker.keys)

    # What workers return

    def _take_answer(self, handed: Handed, raw: bytes | None) -> None:
        """Take what a worker says of a task; what has no record then is handed out again."""
        worker = self.crew.workers[handed.address]
        if raw is None:
            self._hand_back(handed, lost=True)
            return
        try:
            answer, records = read_answer(raw, handed)
        except ValueError as error:
            self._ban(worker, str(error))
            return
        self._drop(handed)
        if answer.rules:
            raise FamilyError(answer.rules)
        self._store(worker, handed, records)
        self._take_failures(handed, answer)
        self._hand_back(handed)
        if answer.trouble:
            self._part_with(worker, "cannot go on")
            self._refuse(worker, answer.trouble)
        elif answer.lacks:
            self._part_with(worker, "has lost a bot")

    def _store(self, worker: Worker, handed: Handed, records: Sequence[Record]) -> None:
        """Store records, but for those that are drawn: they are replayed first."""
        free: list[Record] = []
        for record in records:
            self._hooks.on_begin(*handed.left.pop(record.key))
            handed.running.left.discard(record.key)
            if self._conditions.drawn and secrets.randbelow(self._conditions.drawn) == 0:
                self._held[record.key] = worker, handed
                self._audit.replay(record, self._tell_replayed)
            else:
                free.append(record)
        worker.games += len(records)
        worker.keys += [record.key for record in free]
        self._pass_on(free)

    def _tell_replayed(self, record: Record, why: str) -> None:
        self._cluster.events.put(Replayed(record, why))

    def _take_replayed(self, record: Record, why: str) -> None:
        """Store a record that was replayed, or let another worker play the game."""
        worker, handed = self._held.pop(record.key)
        if not why:
            self._pass_on([record])
            return
        for batch in handed.block:
            if orders := tuple(order for order in batch.games if order.key == record.key):
                self._backlog.put_back((replace(batch, games=orders),))
                self.crew.again += 1
        self._ban(worker, why)

    def _pass_on(self, records: Sequence[Record]) -> None:
        if not records:
            return
        self._hooks.on_burst(records)
        for record in records:
            self._hooks.on_record(record)
        self._recall_unwanted()

    def _recall_unwanted(self) -> None:
        """Take tasks back of which no game is wanted any more, for example since a test has its answer."""
        unwanted = [handed for handed in self._tasks.values() if not any(map(self._hooks.wants, handed.left))]
        self._cluster.recall([handed.number for handed in unwanted])
        for handed in unwanted:
            self._drop(handed)

    def _take_failures(self, handed: Handed, answer: Answer) -> None:
        """Take what a worker could not play: another try follows, and then the game is given up."""
        for key, sentence in answer.given_up:
            if key not in handed.left:
                continue
            self._failed[key] += 1
            if self._failed[key] < 2:
                self._hooks.on_failure(key, sentence, again=True)
            else:
                del handed.left[key]
                self._give_up(key, sentence)
        if answer.late:
            self._note_late()
