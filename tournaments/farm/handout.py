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

    def is_over(self) -> bool:
        """Whether nothing is in hand, and nothing will be."""
        return not self.tasks and (self.ending or self._backlog.peek() is None)

    def hand_out(self) -> None:
        """Fill the windows of all workers, as far as the games allow it."""
        self._fill_windows()
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
        worker.tasks[handed.number] = self.tasks[handed.number] = handed
        self._cluster.submit(worker.address, task)

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
