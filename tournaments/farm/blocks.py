"""Cuts the batches of a run into blocks: all rotations of some deals of one table, which one machine plays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from malice.referee.records import Batch, Key

Block = tuple[Batch, ...]


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
