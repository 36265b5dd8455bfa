"""What one action does: the card moves, then its effects follow in a fixed order."""

from __future__ import annotations

from msgspec.structs import replace

from protocol.messages import CardMoved, Cards, Event, Flip, Shuffled
from referee.spite.results import won
from referee.spite.setting import Setting
from referee.spite.state import State, with_item
from referee.spite.turns import next_turn, refill


def play(setting: Setting, state: State, action: str, events: list[Event]) -> State:
    """Play a legal action: to the centre and the turn goes on, or to a side stack and it ends."""
    source, _, target = action.partition("-")
    state, card, origin = _taken(state, source, events)
    index = int(target[1:])
    if target[0] == "s":
        return _discard(setting, state, card, index, events)
    events.append(CardMoved(state.seat, origin, target, card))
    if source == "p":
        left = state.payoffs[state.seat]
        if left:
            events.append(Flip(state.seat, left[-1]))
    return _to_centre(setting, state, card, index, events)


def _taken(state: State, source: str, events: list[Event]) -> tuple[State, str, str]:
    """Take the card that `source` names; return it with the absolute name of its pile."""
    seat = state.seat
    if source[0] == "h":
        card = source[1:]
        hand = state.hands[seat]
        place = hand.index(card)
        hands = with_item(state.hands, seat, hand[:place] + hand[place + 1 :])
        return replace(state, hands=hands), card, f"{seat}h"
    if source == "p":
        pile = state.payoffs[seat]
        payoffs = with_item(state.payoffs, seat, pile[:-1])
        return replace(state, payoffs=payoffs, quiet=0), pile[-1], f"{seat}p"
    index = int(source[1:])
    pile = state.sides[seat][index]
    return _with_side(state, index, pile[:-1]), pile[-1], f"{seat}{source}"


def _with_side(state: State, index: int, pile: Cards) -> State:
    own = with_item(state.sides[state.seat], index, pile)
    return replace(state, sides=state.sides[: state.seat] + (own,) + state.sides[state.seat + 1 :])


def _discard(setting: Setting, state: State, card: str, index: int, events: list[Event]) -> State:
    events.append(CardMoved(state.seat, f"{state.seat}h", f"{state.seat}s{index}", card))
    pile = state.sides[state.seat][index]
    return next_turn(setting, _with_side(state, index, (*pile, card)), events)


def _to_centre(setting: Setting, state: State, card: str, slot: int, events: list[Event]) -> State:
    centre, heights = state.centre, state.heights
    if slot == len(centre):
        centre, heights = (*centre, ()), (*heights, 0)
    stack = (*centre[slot], card)
    height = heights[slot] + 1
    complete = height == setting.rules.stack_top
    left, kept = ((), 0) if complete else (stack, height)
    state = replace(
        state,
        centre=with_item(centre, slot, left),
        heights=heights[:slot] + (kept,) + heights[slot + 1 :],
    )
    return _recycle(setting, state, stack, slot, events) if complete else settle(setting, state, events)


def _recycle(setting: Setting, state: State, stack: Cards, slot: int, events: list[Event]) -> State:
    """Take a completed stack off the table: aside, or to its shuffle, alone or with the stock."""
    rule = setting.rules.recycle
    if rule == "aside":
        events.append(Shuffled(f"c{slot}", "aside", len(stack)))
        return settle(setting, replace(state, aside=state.aside + stack), events)
    events.append(Shuffled(f"c{slot}", "stock", len(stack)))
    if rule == "bottom":
        return replace(state, phase="bottom", mixing=stack)
    return replace(state, phase="recycle", mixing=state.stock + stack, stock=())


def recycled(setting: Setting, state: State, shuffled: Cards, events: list[Event]) -> State:
    """Put the shuffled cards under what is left of the stock, and go on with the play's effects."""
    return settle(setting, replace(state, stock=shuffled + state.stock), events)


def settle(setting: Setting, state: State, events: list[Event]) -> State:
    """After a play to the centre: an empty pay-off pile wins, an empty hand is filled."""
    if not state.payoffs[state.seat]:
        return won(setting, state, state.seat, "payoff_empty")
    return state if state.hands[state.seat] else refill(setting, state, events)
