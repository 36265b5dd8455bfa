"""Where a completed centre stack goes."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from protocol.messages import Cards, Event, Shuffled
from referee.spite.state import State


def _shuffle(state: State, stack: Cards, slot: int, events: list[Event]) -> State:
    """Shuffle it together with the stock."""
    events.append(Shuffled(f"c{slot}", "stock", len(stack)))
    return replace(state, phase="recycle", mixing=state.stock + stack, stock=())


def _bottom(state: State, stack: Cards, slot: int, events: list[Event]) -> State:
    """Shuffle it alone, to go under the stock."""
    events.append(Shuffled(f"c{slot}", "stock", len(stack)))
    return replace(state, phase="recycle", mixing=stack)


def _aside(state: State, stack: Cards, slot: int, events: list[Event]) -> State:
    """Set it aside until the stock is short."""
    events.append(Shuffled(f"c{slot}", "aside", len(stack)))
    return replace(state, aside=state.aside + stack)


RECYCLE: dict[str, Callable[[State, Cards, int, list[Event]], State]] = {
    "shuffle": _shuffle,
    "bottom": _bottom,
    "aside": _aside,
}
"""By `recycle`: what becomes of a completed stack; the two that shuffle leave the position waiting."""
