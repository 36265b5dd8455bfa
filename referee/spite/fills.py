"""Massachusetts: before the discard that ends the turn, each empty side stack takes a card of the hand."""

from __future__ import annotations

from msgspec.structs import replace

from protocol.messages import Event
from referee.spite.derived import DerivedRules
from referee.spite.state import State
from referee.spite.turns import begin_turn


def only_fills(setting: DerivedRules, state: State, found: list[str]) -> list[str]:
    """While a side stack is empty, discards go there; from the first fill on, nothing goes to the centre."""
    if state.filling:
        found = [action for action in found if "-s" in action]
    for index, pile in enumerate(state.sides[state.seat]):
        if not pile:
            return [action for action in found if "-s" not in action or action.endswith(f"-s{index}")]
    return found


def finish_fill(setting: DerivedRules, state: State, events: list[Event]) -> State:
    """Go on after a fill; a hand too short for the rest is filled up for a new turn of the same seat."""
    if state.hands[state.seat]:
        return replace(state, filling=True)
    return begin_turn(setting, state, state.seat, events)
