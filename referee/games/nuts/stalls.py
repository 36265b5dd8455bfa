"""What happens when nothing does: idle ticks, burned stocks, and the end of a hand."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from malice.referee.games.nuts.messages import Burned, Event
from malice.referee.games.nuts.parameters import Parameters
from malice.referee.games.nuts.state import Side, State


def end_tick(
    rules: Parameters, state: State, progress: bool, can_act: Callable[[State], bool], events: list[Event]
) -> State:
    """End a tick, and every following one in which no seat can do more than wait.

    Args:
        rules: the parameters.
        state: the position after the actions of the tick.
        progress: whether the tick was not idle.
        can_act: whether some seat can do more than wait.
        events: receives what happens.
    """
    state = replace(state, pending=())
    while True:
        state = _count_idle(rules, state, progress)
        if state.idle >= rules.idle_ticks and not state.reason:
            state = _resolve_stall(rules, state, events)
        if state.reason:
            return state
        state = replace(state, tick=state.tick + 1)
        if can_act(state):
            return state
        progress = False


def _count_idle(rules: Parameters, state: State, progress: bool) -> State:
    """Count a tick as idle or not; end the hand if it was the last one for another reason."""
    reason = ""
    if not all(side.nuts for side in state.sides):
        reason = "nuts"
    elif state.tick >= rules.max_ticks:
        reason = "max_ticks"
    burned = state.burned and (rules.burn == "once" or not progress)
    return replace(state, idle=0 if progress else state.idle + 1, burned=burned, reason=reason)


def _resolve_stall(rules: Parameters, state: State, events: list[Event]) -> State:
    """Burn the stocks if that is still allowed, or end the hand."""
    if state.burned or rules.burn == "never":
        return replace(state, reason="idle")
    thin = tuple(team for team, side in enumerate(state.sides) if len(side.stock) < 2 and side.waste)
    events.append(Burned(thin))
    sides = tuple(_burn(side, team in thin) for team, side in enumerate(state.sides))
    return replace(state, sides=sides, idle=0, burned=True)


def _burn(side: Side, thin: bool) -> Side:
    """Put the top card of a stock to its bottom; turn the waste over first, and put it below, if that is needed."""
    stock = side.waste[::-1] + side.stock if thin else side.stock
    return replace(side, stock=stock[-1:] + stock[:-1], waste=() if thin else side.waste)
