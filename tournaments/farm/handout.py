"""What is handed out, and what workers have in hand: blocks of games, out again if they are lost.

A block is all rotations of some deals of one table, which one machine plays. Dask queues and repeats tasks, too, but
not as this needs it, as tests/test_dask.py shows: what takes a slot it never queues, but hands out all at once; a task
over which workers vanish it gives up as a whole; and one that is meant for a worker, so that we know whom to believe,
waits for ever when that one is gone. So we keep a window for each worker, and hand out again what it had.
"""

from __future__ import annotations

import math
import secrets
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator

from msgspec.structs import replace

from malice.referee.records import Batch, Key
from malice.tournaments.farm.cluster import Cluster, Conditions
from malice.tournaments.farm.crew import Crew, Handed, Worker
from malice.tournaments.farm.cross_check import Check, CrossCheck
from malice.tournaments.farm.work import Block, Task
from malice.tournaments.running.coordinator import TRIES
from malice.tournaments.running.hooks import Hooks, Outcome, Running

BLOCK_S = 10.0
"""How long a block should take: that much a slot loses if its worker vanishes."""
LEAST_S = 1.0
"""How long one should take at least at the end of a run, where shorter ones let all slots end together."""
ROUGHLY = 1.25
"""What has so many times as many games as a block should have is not cut: the rest would be too small a block."""
FIRST_GAMES = 4
"""Games of a block, if nobody knows how long they take."""


def cut_blocks(batches: Iterable[Batch]) -> Iterator[Block]:
    """Yield blocks in the order in which their last batches come.

    Batches of different parts may alternate; those of one part come table by table. Memory holds a block of each part.
    """
    pending: dict[int, list[Batch]] = {}
    for batch in batches:
        part = batch.games[0].key.part
        block = pending.setdefault(part, [])
        if block and not _belongs(batch, block):
            yield tuple(block)
            block.clear()
        block.append(batch)
    yield from (tuple(block) for block in pending.values())


def _belongs(batch: Batch, block: list[Batch]) -> bool:
    """Tell whether a batch has deals of a block in another rotation."""
    key, first = batch.games[0].key, block[0].games[0].key
    if key.table != first.table or any(key.rotation == each.games[0].key.rotation for each in block):
        return False
    lowest, highest = block[0].games[0].key.deal, max(each.games[-1].key.deal for each in block)
    return key.deal <= highest and batch.games[-1].key.deal >= lowest


def cut_deals(block: Block, most: int) -> tuple[Block, Block]:
    """Cut a block in two: as many first deals as have at most so many games, but at least one, and the rest.

    All rotations of a deal stay together.
    """
    sizes = Counter(order.key.deal for batch in block for order in batch.games)
    first: set[int] = set()
    games = 0
    for deal in sorted(sizes):
        games += sizes[deal]
        if first and games > most:
            break
        first.add(deal)
    keys = [order.key for batch in block for order in batch.games]
    return (
        keep_games(block, {key for key in keys if key.deal in first}),
        keep_games(block, {key for key in keys if key.deal not in first}),
    )


def merge_block(block: Block) -> Batch:
    """Merge all games of a block into one batch, to reason about: nobody plays it."""
    return replace(block[0], games=tuple(order for batch in block for order in batch.games))


def keep_games(block: Block, keys: Collection[Key]) -> Block:
    """A block with only those of its games that have these keys."""
    left = (replace(batch, games=tuple(each for each in batch.games if each.key in keys)) for batch in block)
    return tuple(batch for batch in left if batch.games)


def split_block(block: Block) -> Iterator[Block]:
    """Yield each game of a block as a block of its own."""
    for batch in block:
        for order in batch.games:
            yield (replace(batch, games=(order,)),)


class Durations:
    """The time that a game of each entry took so far, on average, with its share of the start of a referee process."""

    def __init__(self) -> None:
        self.games, self.seconds = 0, 0.0
        """Those of all entries."""
        self._known: dict[str, tuple[int, float]] = {}
        """By label: how many games, and how many seconds they took."""

    def count(self, labels: Collection[str], games: int, seconds: float) -> None:
        """Learn from a block that was played.

        Args:
            labels: the entries at its table.
            games: how many were played.
            seconds: how long they took, one after the other.
        """
        self.games += games
        self.seconds += seconds
        for label in labels:
            before, took = self._known.get(label, (0, 0.0))
            self._known[label] = before + games, took + seconds

    @property
    def game_s(self) -> float:
        """That of all entries; infinite as long as none is known."""
        return self.seconds / self.games if self.games else math.inf

    def find_slowest(self, labels: Collection[str]) -> float | None:
        """How many seconds a game of the slowest of these entries takes; None if one of them is not known."""
        known = [self._known[label] for label in labels if label in self._known]
        return None if len(known) < len(labels) else max(1e-6, *(seconds / games for games, seconds in known))


class Backlog:
    """What is left to hand out; the schedule is read block by block.

    Args:
        batches: the schedule.
        hooks: says which games are wanted, and when it is too late for them.
        on_late: told when a block is left out because it is too late.
    """

    def __init__(self, batches: Iterable[Batch], hooks: Hooks, on_late: Callable[[], None]) -> None:
        self._blocks = cut_blocks(batches)
        self._again: deque[Block] = deque()
        self._next: Block | None = None
        self._hooks = hooks
        self._on_late = on_late
        self._lost: Counter[Key] = Counter()
        """How often a worker vanished over a game."""

    def peek(self) -> Block | None:
        """The next block, without games that nobody wants any more; None if there is none now."""
        while block := self._next or self._take():
            self._next = self._filter(block)
            if self._next:
                break
        return self._next

    def pop(self) -> None:
        """Take away the block that `peek` returned."""
        self._next = None

    def _take(self) -> Block | None:
        return self._again.popleft() if self._again else next(self._blocks, None)

    def _filter(self, block: Block) -> Block | None:
        wanted = []
        for batch in block:
            if self._hooks.now() >= self._hooks.latest_begin(batch):
                self._on_late()
            elif games := tuple(order for order in batch.games if self._hooks.wants(order.key)):
                wanted.append(replace(batch, games=games))
        return tuple(wanted) or None

    def shorten(self, block: Block, most: int) -> Block:
        """Keep the first deals of the block that `peek` returned, with about so many games; the rest comes next."""
        if sum(len(batch.games) for batch in block) > most * ROUGHLY:
            block, rest = cut_deals(block, most)
            if rest:
                self._again.appendleft(rest)
        self._next = block
        return block

    def put_back(self, block: Block, *, lost: bool = False) -> Iterator[Key]:
        """Let a block be handed out again, before what the schedule has left.

        Args:
            block: the games that were not played.
            lost: whether a worker vanished over it. One of its games may bring down every worker: after some such
                losses each game is handed out alone.

        Returns:
            The keys of the games that are given up instead.
        """
        keys = [order.key for order in merge_block(block).games]
        if lost:
            self._lost.update(keys)
        if not lost or max(self._lost[key] for key in keys) < TRIES:
            self._again.append(block)
        elif len(keys) > 1:
            self._again.extend(split_block(block))
            for key in keys:
                del self._lost[key]
        else:
            return iter(keys)
        return iter(())


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
        self.played = 0
        """How many games were played at a time before the answers came that are taken now."""
        self._cluster = cluster
        self._conditions = conditions
        self._crew = crew
        self._hooks = hooks
        self._run = secrets.token_hex(8)
        self._backlog = Backlog(batches, hooks, self.note_late)
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
        self.played = self._crew.count_played()

    def _fill_windows(self) -> None:
        while (
            not self.ending
            and (worker := self._crew.find_roomiest(self.durations.game_s))
            and (block := self._backlog.peek())
        ):
            if not (most := self._choose_games(worker, block)):
                return
            block = self._backlog.shorten(block, most)
            merged = merge_block(block)
            running = self._crew.list_running()
            if running and not self._hooks.may_begin(merged, running):
                return
            self._backlog.pop()
            handed = self._submit(worker, block, merged)
            self.tasks[handed.number] = handed
            worker.give(handed)

    def _choose_games(self, worker: Worker, block: Block) -> int:
        """How many games of a block a worker should have now; 0 if it should wait."""
        game_s = self.durations.find_slowest([player.label for player in block[0].players])
        if game_s is None:  # so small a block costs much: none of them waits for its turn
            return FIRST_GAMES if len(worker.tasks) < worker.introduction.capacity else 0
        in_hand = sum(len(handed.left) for handed in self.tasks.values())
        ahead = sum(each.count_ahead(game_s) * each.introduction.capacity for each in self._crew.workers.values())
        mean = (self._hooks.count_left() - in_hand + ahead) / self._crew.count_slots()
        # Half of what its slot lacks until all slots have the same: how long games take is only an estimate.
        share = (mean - worker.count_ahead(game_s)) / 2
        if share <= 0 and len(worker.tasks) >= worker.introduction.capacity:
            return 0  # another one is through before it
        return max(1, int(min(BLOCK_S / game_s, max(LEAST_S / game_s, share))))

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
        handed = Handed(self._numbers, worker, block, left, Running(merged, set(left)))
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

    def note_time(self, handed: Handed, games: int, seconds: float) -> float:
        """Learn how long so many games of a task took; return how many games a second all workers play, as measured."""
        self.durations.count([player.label for player in handed.running.batch.players], games, seconds)
        return self.played * self.durations.games / self.durations.seconds

    def drop_checks(self, address: str) -> None:
        """Forget what a worker plays only to be compared."""
        gone = [number for number, handed in self.checks.items() if handed.worker.address == address]
        self._cluster.recall(gone)
        for number in gone:
            del self.checks[number]
            self.cross_check.drop(number)

    def finish(self) -> bool:
        """Let the running games finish, and hand out nothing more; return False if nothing runs, or if it was done."""
        if self.ending:
            return False
        self.ending = True
        self._cluster.finish(self._run)
        return bool(self.tasks)

    def drop(self, handed: Handed) -> None:
        """Forget that a worker has a task in hand."""
        self.tasks.pop(handed.number, None)
        handed.worker.drop(handed)

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
