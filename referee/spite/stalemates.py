"""Passes, and what follows when everybody who plays on has passed without playing a card."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from protocol.cards import ORDER
from protocol.messages import Cards, Draw, Event, Pass, Shuffled
from referee.spite.derived import DerivedRules
from referee.spite.results import end_drawn_out_game
from referee.spite.state import State, list_playing_seats
from referee.spite.turns import end_turn, next_turn


def pass_turn(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """End the turn without a discard; it is a stalemate when all who play on have passed since a card was played."""
    events.append(Pass(state.seat))
    if state.moved:
        return end_turn(derived, state, events)
    state = replace(state, passed=(*state.passed, state.seat))
    if any(seat not in state.passed for seat in list_playing_seats(state)):
        return end_turn(derived, state, events)
    return RESOLVE[derived.rules.stalemate](derived, state, events)


def _end(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """End the game; where nobody holds a card any more, it is the stock that is out."""
    if any(state.hands[seat] for seat in list_playing_seats(state)):
        return end_drawn_out_game(derived, state, "stalemate", derived.rules.stalemate_result)
    return end_drawn_out_game(derived, state, "stock_out", derived.rules.stock_out_result)


def _press(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """Force aces and twos out of the hands in one more round; if nobody plays a card in that one, the game ends."""
    if state.pressed:
        return _end(derived, state, events)
    return end_turn(derived, replace(state, pressed=True, passed=()), events)


def _redeal(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """Gather everything but the pay-off piles for a new deal, unless that was done often enough."""
    seats = list_playing_seats(state)
    piles = _on_the_table(state, seats)
    count = sum(map(len, piles.values()), len(state.stock))
    if state.redeals == derived.rules.redeals or count < len(seats) * derived.hand_size:
        return _end(derived, state, events)
    events.extend(Shuffled(name, "stock", len(cards)) for name, cards in piles.items() if cards)
    nothing = ((),) * derived.rules.side_count
    return replace(
        state,
        phase="redeal",
        hands=tuple(() if seat in seats else hand for seat, hand in enumerate(state.hands)),
        sides=tuple(nothing if seat in seats else own for seat, own in enumerate(state.sides)),
        centre=((),) * len(state.centre),
        heights=(0,) * len(state.heights),
        stock=(),
        aside=(),
        mixing=state.stock + sum(piles.values(), ()),
        passed=(),
        redeals=state.redeals + 1,
    )


def _on_the_table(state: State, seats: tuple[int, ...]) -> dict[str, Cards]:
    """Name the piles that a redeal gathers; what a withdrawn seat holds stays where it is."""
    piles = {f"{seat}h": state.hands[seat] for seat in seats}
    piles |= {f"{seat}s{index}": pile for seat in seats for index, pile in enumerate(state.sides[seat])}
    piles |= {f"c{slot}": cards for slot, cards in enumerate(state.centre)}
    return piles | {"aside": state.aside}


def finish_redeal(derived: DerivedRules, state: State, shuffled: Cards, events: list[Event]) -> State:
    """Deal new hands, by seat, and let the next seat begin."""
    hands = list(state.hands)
    stock = shuffled
    for seat in list_playing_seats(state):
        drawn = stock[: -derived.hand_size - 1 : -1]
        stock = stock[: -derived.hand_size]
        hands[seat] = tuple(sorted(drawn, key=ORDER.__getitem__))
        events.append(Draw(seat, drawn))
    return next_turn(derived, replace(state, hands=tuple(hands), stock=stock), events)


RESOLVE: dict[str, Callable[[DerivedRules, State, list[Event]], State]] = {
    "end": _end,
    "must_play": _press,
    "redeal": _redeal,
}
"""By `stalemate`: what follows a full round of passes."""
