"""How a turn begins, how hands are filled, and what happens when the stock is out."""

from __future__ import annotations

from msgspec.structs import replace

from protocol.cards import ORDER
from protocol.messages import Cards, Draw, Event, Shuffled, TurnBegins
from referee.spite.results import ended
from referee.spite.setting import Setting
from referee.spite.state import State, with_item


def next_turn(setting: Setting, state: State, events: list[Event]) -> State:
    """Begin the turn of the next seat that is still in the game."""
    seat = state.seat
    while True:
        seat = (seat + 1) % setting.seats
        if seat not in state.out:
            return begin_turn(setting, state, seat, events)


def begin_turn(setting: Setting, state: State, seat: int, events: list[Event]) -> State:
    """Begin a turn of `seat` with a full hand, unless a guard or the stock ends the game."""
    if state.turn >= setting.rules.max_turns * setting.seats:
        return ended(setting, state, "max_turns", "fewest")
    if state.quiet >= setting.rules.no_progress * setting.seats:
        return ended(setting, state, "no_progress", "fewest")
    events.append(TurnBegins(seat))
    return refill(setting, replace(state, phase="turn", seat=seat, turn=state.turn + 1, quiet=state.quiet + 1), events)


def refill(setting: Setting, state: State, events: list[Event]) -> State:
    """Draw until the hand is full; the stock may have to be made anew first, or end the game."""
    rules = setting.rules
    hand = state.hands[state.seat]
    wanted = rules.hand_size - len(hand)
    if wanted <= 0:
        return state
    stock = state.stock
    if len(stock) < wanted and state.aside:
        return replace(state, phase="refill", mixing=state.aside, aside=())
    if len(stock) < wanted and (rules.stock_out_when == "need" or not stock):
        return ended(setting, state, "stock_out", rules.stock_out_result)
    drawn = stock[: -wanted - 1 : -1]
    events.append(Draw(state.seat, drawn))
    state = replace(
        state,
        hands=with_item(state.hands, state.seat, tuple(sorted(hand + drawn, key=ORDER.__getitem__))),
        stock=stock[:-wanted],
    )
    if not state.stock and not state.aside and rules.stock_out_when == "empty":
        return ended(setting, state, "stock_out", rules.stock_out_result)
    return state


def restock(setting: Setting, state: State, shuffled: Cards, events: list[Event]) -> State:
    """Put what was set aside under what is left of the stock, and go on with the draw."""
    events.append(Shuffled("aside", "stock", len(shuffled)))
    return refill(setting, replace(state, stock=shuffled + state.stock), events)


def withdraw(setting: Setting, state: State, seat: int, events: list[Event]) -> State:
    """Take `seat` out of the game; the last seat left wins, otherwise its turn, if it was on, is over."""
    state = replace(state, out=(*state.out, seat))
    playing = [other for other in range(setting.seats) if other not in state.out]
    if len(playing) <= 1:
        return ended(setting, state, "forfeit", "fewest")
    return next_turn(setting, state, events) if state.phase == "turn" and state.seat == seat else state
