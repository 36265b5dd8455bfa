"""What workers have in hand: blocks go out as far as the games allow it, and out again if they are lost."""

from __future__ import annotations

import math
import secrets
from collections.abc import Collection, Iterable

from msgspec.structs import replace

from malice.referee.records import Batch, Key
from malice.tournaments.farm.backlog import TRIES, Backlog
from malice.tournaments.farm.blocks import Block, keep_games, merge_block
from malice.tournaments.farm.cluster import Cluster
from malice.tournaments.farm.conditions import Conditions
from malice.tournaments.farm.crew import Crew, Handed, Worker
from malice.tournaments.farm.cross_check import Check, CrossCheck
from malice.tournaments.farm.durations import Durations
from malice.tournaments.farm.work import Task
from malice.tournaments.running.hooks import Hooks, Outcome, Running


class Handout:
    """Hands blocks to workers, and keeps what each of them has in hand.

    Args:
        cluster: takes the tasks.
        conditions: under which they are played.
        crew: who plays.
        batches: the games to play.
        hooks: says which games may begin; told of those that are given up.
    """

    def __init__(
        self, cluster: Cluster, conditions: Conditions, crew: Crew, batches: Iterable[Batch], hooks: Hooks
    ) -> None:
        self.outcome = Outcome()
        self.tasks: dict[int, Handed] = {}
        """By number."""
        self.durations = Durations()
        self._cluster = cluster
        self._conditions = conditions
        self._crew = crew
        self._hooks = hooks
        self._run = secrets.token_hex(8)
        self._backlog = Backlog(batches, hooks, self.note_late, self.durations.choose_games)
        self.ending = False
        """Whether only the games in hand are finished."""
        self._numbers = 0
        self.cross_check = CrossCheck(crew, conditions.cross_checked)
        self.checks: dict[int, Handed] = {}
        """By number: tasks whose games another worker has played, and whose records are only compared."""

    def is_over(self) -> bool:
        """Whether nothing is in hand, and nothing will be."""
        if self.tasks:
            return False
        checking = bool(self.checks) or self.cross_check.is_waiting()
        return self.ending or (not checking and self._backlog.peek() is None)

    def hand_out(self) -> None:
        """Fill the windows of all workers, as far as the games allow it."""
        self._fill_windows()
        if not self.ending:
            for check, worker in self.cross_check.draw_tasks():
                self._give_again(check, worker)
        for worker in self._crew.workers.values():
            worker.note_load()

    def _fill_windows(self) -> None:
        while not self.ending and (worker := self._crew.find_roomiest()) and (block := self._backlog.peek()):
            merged = merge_block(block)
            running = self._crew.list_running()
            if running and not self._hooks.may_begin(merged, running):
                return
            self._backlog.pop()
            self._give(worker, block, merged)

    def _give(self, worker: Worker, block: Block, merged: Batch) -> None:
        handed = self._submit(worker, block, merged)
        worker.tasks[handed.number] = self.tasks[handed.number] = handed

    def _give_again(self, check: Check, worker: Worker) -> None:
        """Let a worker play what another one has played; it is no part of its window, and nobody waits in turn."""
        merged = merge_block(check.block)
        if self._hooks.now() < self._hooks.latest_begin(merged):
            handed = self._submit(worker, check.block, merged)
            self.checks[handed.number] = handed
            self.cross_check.begin(handed.number, check)

    def _submit(self, worker: Worker, block: Block, merged: Batch) -> Handed:
        self._numbers += 1
        speed = worker.introduction.speed
        block = tuple(replace(batch, speed=speed) for batch in block)
        left = {order.key: (batch, order) for batch in block for order in batch.games}
        handed = Handed(self._numbers, worker.address, block, left, Running(merged, set(left)))
        latest = min(map(self._hooks.latest_begin, block))
        task = Task(
            number=handed.number,
            run=self._run,
            batches=block,
            tickets=tuple(self._conditions.tickets[player.label] for player in merged.players),
            slots=worker.introduction.slots_per_game,
            latest=None if math.isinf(latest) else latest,
            give_up_at=None if math.isinf(self._hooks.give_up_at) else self._hooks.give_up_at,
        )
        self._cluster.submit(worker.address, task)
        return handed

    def drop_checks(self, address: str) -> None:
        """Forget what a worker plays only to be compared."""
        gone = [number for number, handed in self.checks.items() if handed.address == address]
        self._cluster.recall(gone)
        for number in gone:
            del self.checks[number]
            self.cross_check.drop(number)

    def finish(self) -> bool:
        """Let the running games finish, and hand out nothing more; return False if nothing runs, or if it was done."""
        if self.ending or not self.tasks:
            return False
        self.ending = True
        self._cluster.finish(self._run)
        return True

    def drop(self, handed: Handed) -> None:
        """Forget that a worker has a task in hand."""
        self.tasks.pop(handed.number, None)
        if worker := self._crew.workers.get(handed.address):
            worker.tasks.pop(handed.number, None)

    def recall(self, tasks: Collection[Handed]) -> None:
        """Take tasks back from their workers."""
        self._cluster.recall([handed.number for handed in tasks])
        for handed in tasks:
            self.drop(handed)

    def recall_unwanted(self) -> None:
        """Take tasks back of which no game is wanted any more, for example since a test has its answer."""
        self.recall([handed for handed in self.tasks.values() if not any(map(self._hooks.wants, handed.left))])

    def hand_back(self, handed: Handed, *, lost: bool = False) -> None:
        """Let the games that a task has left be handed out again.

        Args:
            handed: the task.
            lost: whether its worker vanished over it.
        """
        self.drop(handed)
        if not self.ending and handed.left:
            self._put_back(keep_games(handed.block, handed.left), lost=lost)

    def repeat(self, handed: Handed, key: Key) -> None:
        """Let a game of a task be handed out again whose record was wrong."""
        self._put_back(keep_games(handed.block, {key}), lost=False)

    def _put_back(self, block: Block, *, lost: bool) -> None:
        self._crew.again += sum(len(batch.games) for batch in block)
        for key in self._backlog.put_back(block, lost=lost):
            self.give_up(key, f"{TRIES} workers vanished over it")

    def give_up(self, key: Key, sentence: str) -> None:
        """Go on without a game."""
        self._hooks.on_failure(key, sentence, again=False)
        self.outcome.given_up[key] = sentence

    def note_late(self) -> None:
        """Note that games are not begun because it is too late for them, and tell it once."""
        if not self.outcome.late:
            self.outcome.late = True
            self._hooks.on_late()
