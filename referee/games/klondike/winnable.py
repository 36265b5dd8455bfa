"""Whether a deal can be solved: a search that sees all cards, for the deal of a day.

It is best-first, and counts positions instead of time, so that it finds the same everywhere. A deal without a solution
among so many positions may still have one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from msgspec import Struct

from malice.referee.games.klondike.engine import State
from malice.referee.games.klondike.parameters import Parameters
from malice.referee.games.klondike.plays import COLUMN_UP, DONE, change_layout, list_legal
from malice.referee.games.klondike.table import PACK, RANK, SUIT, Layout

POSITIONS = 5_000
"""How many positions a search looks at, at most: a second at most."""
FAR = 4
"""How many actions a search rather takes than go on from a position that seems one step further from the end."""


class Path(Struct, frozen=True, gc=False):
    """The actions that lead to a position, the last one first."""

    action: str
    before: Path | None
    length: int


def is_winnable(parameters: Parameters, state: State) -> bool:
    """Whether a search finds a solution of the deal of a state, for one seat alone."""
    return find_solution(parameters, state.tables[0].layout) is not None


def find_solution(parameters: Parameters, layout: Layout, positions: int = POSITIONS) -> tuple[str, ...] | None:
    """Actions that solve a deal; None if the search finds none within so many positions."""
    heap: list[tuple[int, int, Layout, Path | None]] = [(0, 0, layout, None)]
    limited = parameters.redeals != "unlimited"
    seen = {_make_key(layout, limited)}
    count = 0
    for _ in range(positions):
        if not heap:
            return None
        _, _, layout, path = heapq.heappop(heap)
        length = path.length + 1 if path else 1
        for action in _list_useful(parameters, layout):
            child = change_layout(parameters, layout, action, 0, [])
            if sum(child.foundations) == len(PACK):
                return _unroll(Path(action, path, length))
            if (key := _make_key(child, limited)) not in seen:
                seen.add(key)
                count -= 1  # of equally good positions the latest comes first
                heapq.heappush(heap, (FAR * measure_distance(child) + length, count, child, Path(action, path, length)))
    return None


def _list_useful(parameters: Parameters, layout: Layout) -> Iterator[str]:
    """Yield actions; one that can do no harm stands for all."""
    for column, run in enumerate(layout.ups):
        if run and _is_safe(layout, run[-1]):
            yield COLUMN_UP[column]
            return
    for action in list_legal(layout, parameters, undoable=False):
        if action != DONE:
            yield action


def _is_safe(layout: Layout, card: int) -> bool:
    """Whether a card can go to its foundation, where every card that it could hold in a column can go too."""
    foundations, suit, rank = layout.foundations, SUIT[card], RANK[card]
    others = (foundations[1], foundations[2]) if suit in (0, 3) else (foundations[0], foundations[3])
    return foundations[suit] == rank <= min(others) + 1


def measure_distance(layout: Layout) -> int:
    """How far a layout seems to be from its end.

    It counts the cards that are not on the foundations, again those of stock and waste, those that lie face down
    five times, and in columns with such cards those that lie on a lower one of their own suit.
    """
    distance = 52 - sum(layout.foundations) + len(layout.stock) + len(layout.waste)
    for down, up in zip(layout.downs, layout.ups, strict=True):
        if down:
            distance += 5 * len(down)
            lowest = [13] * 4
            for card in down + up:
                distance += RANK[card] > lowest[SUIT[card]]
                lowest[SUIT[card]] = min(lowest[SUIT[card]], RANK[card])
    return distance


def _make_key(layout: Layout, limited: bool) -> tuple[object, ...]:
    """What all layouts share that lead to the same; the order of columns does not matter.

    Args:
        layout: where the cards lie.
        limited: whether the number of redeals is.
    """
    piles = frozenset(layout.ups), frozenset(layout.downs)
    return layout.foundations, *piles, layout.stock, layout.waste, layout.redeals if limited else 0


def _unroll(path: Path | None) -> tuple[str, ...]:
    actions = []
    while path:
        actions.append(path.action)
        path = path.before
    return tuple(reversed(actions))
