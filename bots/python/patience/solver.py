"""Searches Klondike with all cards known: positions, what follows each of them, and a best-first search.

A step is a card or a run that moves: turning the stock until the card lies on top is part of the step. A card is its
suit, in the order CDHS, times 13, plus its rank, from 0.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import inf
from time import monotonic
from typing import NamedTuple

DETOUR = 4  # how many actions it takes rather than a position that is worse by one
KING = 12
RED = [13 <= card < 39 for card in range(52)]
ONTO = [
    [other for other in range(52) if other % 13 == card % 13 + 1 and RED[other] != RED[card]] for card in range(52)
]  # by card: the two cards that it may lie on
OTHERS = ((1, 2), (0, 3), (0, 3), (1, 2))  # by suit: those of the other colour
TOP = tuple(f"t{column}-f" for column in range(7))

Pile = tuple[int, ...]
Piles = tuple[Pile, ...]


class Position(NamedTuple):
    """A table of which all cards are known, or guessed."""

    found: Pile  # by suit: how many cards lie on the foundation
    downs: Piles  # by column: the cards that lie face down
    ups: Piles
    talon: Pile  # waste and stock, in the order in which they are turned up
    turned: int  # how many of them lie in the waste
    redeals: int  # how many redeals are left


class Step(NamedTuple):
    """A move of a card or a run."""

    turned: int  # how many cards lie in the waste when it is played; only for moves from the waste
    action: str


class Path(NamedTuple):
    """Steps from the start of a search, the last one first."""

    step: Step
    before: "Path | None"
    actions: int  # how many it takes, turns of the stock included


PLENTY = 10**6  # redeals, where they are unlimited


class Search:
    """Searches a position for a solution.

    After `solve`, `best` is the path to the position with most cards on the foundations.
    """

    def __init__(
        self, draw: int, back: bool, limit: int, until: float = inf, now: Callable[[], float] = monotonic
    ) -> None:
        self.draw, self.back, self.limit, self.until, self.now = draw, back, limit, until, now
        self.nodes = 0
        self.best: Path | None = None

    def solve(self, start: Position, hidden: int = 0) -> list[Step] | None:
        """Return the steps to a position with at most `hidden` cards face down; with 0, to the end of the game."""
        heap: list[tuple[int, int, Position, Path | None]] = [(worth(start), 0, start, None)]
        seen = {key_of(start, self.draw)}
        count, most = 0, sum(start.found)
        while heap and self.nodes < self.limit and (self.nodes % 64 or self.now() < self.until):
            _, _, position, path = heapq.heappop(heap)
            self.nodes += 1
            down = sum(map(len, position.downs))
            if hidden and down <= hidden:
                return unroll(path)
            if not down and self.is_open(position):
                return unroll(path) + list(self.finish(position))
            if sum(position.found) > most:
                most, self.best = sum(position.found), path
            for step, child in self.follow(position):
                key = key_of(child, self.draw)
                if key not in seen:
                    seen.add(key)
                    count -= 1  # of equally good positions the latest comes first
                    actions = 1 + (path.actions if path else 0)
                    if step.turned:
                        actions += self.count_turns(position, step.turned)
                    rank = DETOUR * worth(child) + actions
                    heapq.heappush(heap, (rank, count, child, Path(step, path, actions)))
        return None

    def count_turns(self, position: Position, held: int) -> int:
        """Return how many actions it takes until the waste holds so many cards."""
        size, turned, draw = len(position.talon), position.turned, self.draw
        straight = held - turned
        if straight >= 0 and (straight % draw == 0 or held == size):
            return -(-straight // draw)
        return -(-(size - turned) // draw) + 1 + -(-held // draw)

    def is_open(self, position: Position) -> bool:
        """Return whether every card can be reached, once none lies face down: then the deal is as good as solved."""
        return not position.talon or (self.draw == 1 and position.redeals == PLENTY)

    def finish(self, position: Position) -> Iterator[Step]:
        """Yield the steps that bring all cards to the foundations."""
        while sum(position.found) < 52:
            step, position = min(
                ((step, child) for step, child in self.follow(position, forced=False) if step.action[-1] == "f"),
                key=lambda each: max(each[1].found) - min(each[1].found),
            )
            yield step

    def reach(self, position: Position) -> Iterator[tuple[int, int]]:
        """Yield what the waste may come to hold by turning alone, each with the redeals that are left then."""
        size, turned, left = len(position.talon), position.turned, position.redeals
        if turned:
            yield turned, left
        known, held = {turned}, turned
        for redeals in (left, left if left == PLENTY else left - 1):
            while held < size:
                held = min(size, held + self.draw)
                if held not in known:
                    known.add(held)
                    yield held, redeals
            held = 0
            if not left:
                return

    def follow(self, position: Position, *, forced: bool = True) -> Iterator[tuple[Step, Position]]:
        """Yield the moves of cards with what they lead to; a move to a foundation that cannot harm stands alone."""
        found, ups = position.found, position.ups
        if forced:
            for column, run in enumerate(ups):
                if run and is_safe(found, run[-1]):
                    yield Step(0, TOP[column]), raise_card(position, column)
                    return
        where = {run[-1]: column for column, run in enumerate(ups) if run}
        empty = ups.index(()) if () in ups else -1
        for column, run in enumerate(ups):
            if run:
                if found[run[-1] // 13] == run[-1] % 13:
                    yield Step(0, TOP[column]), raise_card(position, column)
                yield from self.move_runs(position, column, where, empty)
        yield from self.play_talon(position, where, empty)
        if self.back:
            yield from take_down(position, where)

    def move_runs(
        self, position: Position, source: int, where: dict[int, int], empty: int
    ) -> Iterator[tuple[Step, Position]]:
        """Move what lies face up in a column; a part of it only if that frees a card for its foundation."""
        run = position.ups[source]
        for place, card in enumerate(run):
            if place:
                freed = run[place - 1]
                if position.found[freed // 13] != freed % 13:
                    continue
            elif card % 13 == KING:
                if position.downs[source] and empty >= 0:
                    yield Step(0, f"t{source}-t{empty}"), move_run(position, source, empty, 0)
                continue
            for onto in ONTO[card]:
                if (target := where.get(onto, source)) != source:
                    yield Step(0, f"t{source}-t{target}"), move_run(position, source, target, place)

    def play_talon(self, position: Position, where: dict[int, int], empty: int) -> Iterator[tuple[Step, Position]]:
        found, downs, ups, talon, _, _ = position
        for held, redeals in self.reach(position):
            card = talon[held - 1]
            rest = talon[: held - 1] + talon[held:]
            if found[card // 13] == card % 13:
                raised = add(found, card // 13, 1)
                yield Step(held, "w-f"), Position(raised, downs, ups, rest, held - 1, redeals)
            targets = [empty] if card % 13 == KING else [where.get(onto, -1) for onto in ONTO[card]]
            for target in targets:
                if target >= 0:
                    longer = put(ups, target, (*ups[target], card))
                    yield Step(held, f"w-t{target}"), Position(found, downs, longer, rest, held - 1, redeals)


def is_safe(found: Pile, card: int) -> bool:
    """Return whether a card can go to its foundation, and no card will ever want to lie on it."""
    suit, rank = divmod(card, 13)
    one, other = OTHERS[suit]
    return found[suit] == rank and rank <= min(found[one], found[other]) + 1


def take_down(position: Position, where: dict[int, int]) -> Iterator[tuple[Step, Position]]:
    """Move cards from the foundations back to columns."""
    found, downs, ups, talon, turned, redeals = position
    for suit, height in enumerate(found):
        if height > 1:
            card = 13 * suit + height - 1
            for onto in ONTO[card]:
                if (target := where.get(onto, -1)) >= 0:
                    lower, longer = add(found, suit, -1), put(ups, target, (*ups[target], card))
                    action = f"f{'CDHS'[suit]}-t{target}"
                    yield Step(0, action), Position(lower, downs, longer, talon, turned, redeals)


def put(piles: Piles, place: int, pile: Pile) -> Piles:
    return (*piles[:place], pile, *piles[place + 1 :])


def add(found: Pile, suit: int, by: int) -> Pile:
    return (*found[:suit], found[suit] + by, *found[suit + 1 :])


def turn_up(downs: Piles, ups: Piles, column: int) -> tuple[Piles, Piles]:
    """Turn up the last card of a column that has none face up."""
    if ups[column] or not downs[column]:
        return downs, ups
    *rest, card = downs[column]
    return put(downs, column, tuple(rest)), put(ups, column, (card,))


def raise_card(position: Position, column: int) -> Position:
    """Move the last card of a column to its foundation."""
    found, downs, ups, talon, turned, redeals = position
    *run, card = ups[column]
    downs, ups = turn_up(downs, put(ups, column, tuple(run)), column)
    return Position(add(found, card // 13, 1), downs, ups, talon, turned, redeals)


def move_run(position: Position, source: int, target: int, place: int) -> Position:
    """Move the cards of a run from a place on to another column."""
    found, downs, ups, talon, turned, redeals = position
    run = ups[source]
    ups = put(put(ups, target, ups[target] + run[place:]), source, run[:place])
    downs, ups = turn_up(downs, ups, source)
    return Position(found, downs, ups, talon, turned, redeals)


def worth(position: Position) -> int:
    """Return how far a position seems to be from its end: by cards off the foundations, in the talon, in columns."""
    found, downs, ups, talon, _, _ = position
    return 52 - sum(found) + len(talon) + sum(map(weigh_column, downs, ups))


@lru_cache(1 << 16)
def weigh_column(down: Pile, up: Pile) -> int:
    """Return what a column costs: five for each card face down, and one for each card on a lower one of its suit."""
    if not down:
        return 0
    far = 5 * len(down)
    lowest = [13, 13, 13, 13]
    for card in down + up:
        suit, rank = divmod(card, 13)
        if rank > lowest[suit]:
            far += 1
        else:
            lowest[suit] = rank
    return far


def key_of(position: Position, draw: int) -> tuple[object, ...]:
    """Return what equal positions share: the order of columns does not matter, nor where the stock stands in turn 1."""
    found, downs, ups, talon, turned, redeals = position
    return found, frozenset(ups), frozenset(downs), talon, 0 if draw == 1 and redeals == PLENTY else (turned, redeals)


def unroll(path: Path | None) -> list[Step]:
    steps = []
    while path:
        steps.append(path.step)
        path = path.before
    return steps[::-1]


def spell_out(steps: Sequence[Step], size: int, turned: int, draw: int) -> Iterator[str]:
    """Yield the actions of steps, with the turns of the stock between them.

    Args:
        steps: what is played.
        size: how many cards waste and stock hold together.
        turned: how many of them lie in the waste.
        draw: how many a turn of the stock brings.
    """
    for held, action in steps:
        if action[0] == "w":
            while turned != held:
                if turned == size:
                    turned = 0
                    yield "redeal"
                else:
                    turned = min(size, turned + draw)
                    yield "turn"
            size, turned = size - 1, turned - 1
        yield action
