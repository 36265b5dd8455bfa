"""Rounds of passes, which a pass completes, or the withdrawal of the seat whose pass was missing; what follows."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from malice.protocol.cards import ORDER, Cards
from malice.referee.games.spite.derived import DerivedRules
from malice.referee.games.spite.messages import Draw, Event, Pass, Shuffled
from malice.referee.games.spite.results import end_drawn_out_game
from malice.referee.games.spite.state import State, list_playing_seats
from malice.referee.games.spite.turns import end_turn, next_turn


def pass_turn(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """End the turn without a discard; without a card played either, that is a pass of a round."""
    events.append(Pass(state.seat))
    if state.moved:
        return end_turn(derived, state, events)
    state = replace(state, passed=(*state.passed, state.seat))
    return _follow_round(derived, state, events) if _is_round(state) else end_turn(derived, state, events)


def withdraw(derived: DerivedRules, state: State, seat: int, events: list[Event]) -> State:
    """Take `seat` and its partner out. The last team left wins; if the game continues, a turn of theirs ends."""
    leaving = tuple(ally for ally in derived.allies[seat] if ally not in state.out)
    state = replace(state, out=state.out + leaving)
    if len({derived.teams[other] for other in list_playing_seats(state)}) <= 1:
        return end_drawn_out_game(derived, state, "forfeit", "fewest")
    return skip_turn(derived, state, events) if state.phase == "turn" and state.seat in state.out else state


def skip_turn(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """End the turn of a seat that has left; all others may have passed by then."""
    return _follow_round(derived, state, events) if _is_round(state) else next_turn(derived, state, events)


def _is_round(state: State) -> bool:
    """Return whether every seat still in the game has passed since a card was last played."""
    return all(seat in state.passed for seat in list_playing_seats(state))


def _follow_round(derived: DerivedRules, state: State, events: list[Event]) -> State:
    return STALEMATE[derived.rules.stalemate](derived, state, events)


def _end_in_stalemate(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """End the game; if no seat holds a card, the reason is the stock."""
    if any(state.hands[seat] for seat in list_playing_seats(state)):
        return end_drawn_out_game(derived, state, "stalemate", derived.rules.stalemate_result)
    return end_drawn_out_game(derived, state, "stock_out", derived.rules.stock_out_result)


def _force_plays(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """Force aces and twos out of the hands for one more round; if nobody plays a card in it, end the game."""
    if state.pressed:
        return _end_in_stalemate(derived, state, events)
    state = replace(state, pressed=True, passed=())
    return next_turn(derived, state, events) if state.seat in state.out else end_turn(derived, state, events)


def _gather_for_redeal(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """Gather everything but the pay-off piles for a new deal, or end the game after `redeals` of them."""
    seats = list_playing_seats(state)
    piles = _list_table_piles(state, seats)
    count = sum(map(len, piles.values()), len(state.stock))
    if state.redeals == derived.rules.redeals or count < len(seats) * derived.hand_size:
        return _end_in_stalemate(derived, state, events)
    events.extend(Shuffled(name, "stock", len(cards)) for name, cards in piles.items() if cards)
    empty = ((),) * derived.rules.side_count
    return replace(
        state,
        phase="redeal",
        hands=tuple(() if seat in seats else hand for seat, hand in enumerate(state.hands)),
        sides=tuple(empty if seat in seats else own for seat, own in enumerate(state.sides)),
        centre=((),) * len(state.centre),
        heights=(0,) * len(state.heights),
        stock=(),
        aside=(),
        mixing=state.stock + sum(piles.values(), ()),
        passed=(),
        redeals=state.redeals + 1,
    )


def _list_table_piles(state: State, seats: tuple[int, ...]) -> dict[str, Cards]:
    """Return by name the piles that a redeal gathers; the piles of a withdrawn seat stay."""
    piles = {f"{seat}h": state.hands[seat] for seat in seats}
    piles |= {f"{seat}s{index}": pile for seat in seats for index, pile in enumerate(state.sides[seat])}
    piles |= {f"c{slot}": cards for slot, cards in enumerate(state.centre)}
    return piles | {"aside": state.aside}


def finish_redeal(derived: DerivedRules, state: State, shuffled: Cards, events: list[Event]) -> State:
    """Deal new hands, by seat, and begin the turn of the next seat."""
    hands = list(state.hands)
    stock = shuffled
    for seat in list_playing_seats(state):
        drawn = stock[: -derived.hand_size - 1 : -1]
        stock = stock[: -derived.hand_size]
        hands[seat] = tuple(sorted(drawn, key=ORDER.__getitem__))
        events.append(Draw(seat, drawn))
    return next_turn(derived, replace(state, hands=tuple(hands), stock=stock), events)


STALEMATE: dict[str, Callable[[DerivedRules, State, list[Event]], State]] = {
    "end": _end_in_stalemate,
    "must_play": _force_plays,
    "redeal": _gather_for_redeal,
}
"""By `stalemate`: what follows a full round of passes."""
