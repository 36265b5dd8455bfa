"""The blocks that are left to hand out: those of the schedule, and those that workers did not finish."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator

from msgspec.structs import replace

from malice.referee.records import Batch, Key
from malice.tournaments.farm.blocks import Block, cut_blocks, cut_deals, merge_block, split_block
from malice.tournaments.running.coordinator import TRIES
from malice.tournaments.running.hooks import Hooks

__all__ = ["TRIES", "Backlog"]


class Backlog:
    """What is left to hand out; the schedule is read block by block.

    Args:
        batches: the schedule.
        hooks: says which games are wanted, and when it is too late for them.
        on_late: told when a block is left out because it is too late.
        choose_games: returns how many games of some entries one block should have; one deal of them, if that is more.
    """

    def __init__(
        self,
        batches: Iterable[Batch],
        hooks: Hooks,
        on_late: Callable[[], None],
        choose_games: Callable[[Collection[str]], int],
    ) -> None:
        self._blocks = cut_blocks(batches)
        self._again: deque[Block] = deque()
        self._next: Block | None = None
        self._hooks = hooks
        self._on_late = on_late
        self._choose_games = choose_games
        self._lost: Counter[Key] = Counter()
        """How often a worker vanished over a game."""

    def peek(self) -> Block | None:
        """The next block, without games that nobody wants any more; None if there is none now."""
        while self._next is None and (block := self._take()):
            if wanted := self._filter(block):
                self._next = self._shorten(wanted)
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

    def _shorten(self, block: Block) -> Block:
        """The first deals of a block, as many as make a block; the rest comes next."""
        most = self._choose_games([player.label for player in block[0].players])
        if sum(len(batch.games) for batch in block) <= most:
            return block
        first, rest = cut_deals(block, most)
        if rest:
            self._again.appendleft(rest)
        return first

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
