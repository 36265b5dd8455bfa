"""How turns begin and end, who is next, and the limits that end endless games."""

from __future__ import annotations

from msgspec.structs import replace

from malice.protocol.cards import Cards
from malice.referee.games.spite.derived import DerivedRules
from malice.referee.games.spite.messages import Event, TurnBegins
from malice.referee.games.spite.results import end_drawn_out_game
from malice.referee.games.spite.state import State
from malice.referee.games.spite.stock import refill, restock


def begin_turn(derived: DerivedRules, state: State, seat: int, events: list[Event]) -> State:
    """Begin a turn of `seat`, unless a limit or the stock ends the game; an empty hand is always filled."""
    if state.turn >= derived.turn_limit:
        return end_drawn_out_game(derived, state, "max_turns", "fewest")
    if state.quiet >= derived.quiet_limit:
        return end_drawn_out_game(derived, state, "no_progress", "fewest")
    events.append(TurnBegins(seat))
    state = replace(
        state,
        phase="turn",
        seat=seat,
        turn=state.turn + 1,
        quiet=state.quiet + 1,
        moved=False,
        filling=False,
        counted=False,
    )
    if derived.rules.refill_at == "turn_start" or not state.hands[seat]:
        return refill(derived, state, events)
    return state


def end_turn(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """End the turn after a discard or a pass: fill the hand if the rules say so, and begin the next turn."""
    if derived.rules.refill_at == "turn_end":
        state = refill(derived, state, events, "refill_last")
        if state.phase != "turn":
            return state
    return next_turn(derived, state, events)


def next_turn(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """Begin the turn of the next seat that is still in the game."""
    seat = (state.seat + 1) % derived.seats
    while seat in state.out:
        seat = (seat + 1) % derived.seats
    return begin_turn(derived, state, seat, events)


def finish_refill(derived: DerivedRules, state: State, shuffled: Cards, events: list[Event]) -> State:
    """Finish the draw that waited for new stock; the turn goes on."""
    return refill(derived, restock(state, shuffled), events)


def finish_last_refill(derived: DerivedRules, state: State, shuffled: Cards, events: list[Event]) -> State:
    """Finish the draw that waited for new stock, and with it the turn."""
    return end_turn(derived, restock(state, shuffled), events)
