"""Who starts: by the first pay-off cards, with ties, by lot or by seat."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from malice.protocol.cards import VALUE, Cards
from malice.referee.games.spite.derived import DerivedRules
from malice.referee.games.spite.messages import Event, Flip, Shuffled
from malice.referee.games.spite.state import State, list_playing_seats, replace_item
from malice.referee.games.spite.turns import begin_turn

Choose = Callable[[DerivedRules, State, list[Event]], State]


def choose_first_player(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """Begin the first turn, or wait for the shuffle that decides who has it."""
    return FIRST_PLAYER[derived.rules.first_player](derived, state, events)


def _start_first_seat(derived: DerivedRules, state: State, events: list[Event]) -> State:
    return begin_turn(derived, state, list_playing_seats(state)[0], events)


def _wait_for_lot(derived: DerivedRules, state: State, events: list[Event]) -> State:
    return replace(state, phase="lot", tied=list_playing_seats(state))


def _make_payoff_comparison(pick: Callable[[Sequence[int]], int]) -> Choose:
    """Compare the first pay-off cards: joker above king above queen; equal seats compare again."""

    def choose(derived: DerivedRules, state: State, events: list[Event]) -> State:
        tops = {seat: VALUE[state.payoffs[seat][-1]] for seat in state.tied or list_playing_seats(state)}
        best = pick(list(tops.values()))
        tied = tuple(seat for seat, value in tops.items() if value == best)
        if len(tied) == 1:
            return begin_turn(derived, state, tied[0], events)
        if state.ties == derived.rules.tie_cap:
            return replace(state, phase="lot", tied=tied)
        return FIRST_TIE[derived.rules.first_tie](replace(state, tied=tied, waiting=tied, ties=state.ties + 1))

    return choose


def _wait_for_own_reshuffle(state: State) -> State:
    """Take up the pay-off pile of the first waiting seat for its shuffle."""
    seat = state.waiting[0]
    return replace(state, phase="tie", mixing=state.payoffs[seat], payoffs=replace_item(state.payoffs, seat, ()))


def _wait_for_joint_redeal(state: State) -> State:
    """Take up the pay-off piles of all tied seats for one shuffle."""
    payoffs = tuple(() if seat in state.tied else pile for seat, pile in enumerate(state.payoffs))
    mixing = sum((state.payoffs[seat] for seat in state.tied), ())
    return replace(state, phase="tie_together", mixing=mixing, payoffs=payoffs)


FIRST_PLAYER: dict[str, Choose] = {
    "high_payoff": _make_payoff_comparison(max),
    "low_payoff": _make_payoff_comparison(min),
    "random": _wait_for_lot,
    "seat": _start_first_seat,
}
"""By `first_player`: how to choose the seat that starts."""

FIRST_TIE: dict[str, Callable[[State], State]] = {
    "reshuffle_own": _wait_for_own_reshuffle,
    "redeal_together": _wait_for_joint_redeal,
}
"""By `first_tie`: which piles to shuffle after equal first pay-off cards."""


def finish_own_reshuffle(derived: DerivedRules, state: State, shuffled: Cards, events: list[Event]) -> State:
    """Put back the pay-off pile of the first waiting seat; after the last seat, compare the new tops."""
    seat, *waiting = state.waiting
    events += (Shuffled(f"{seat}p", f"{seat}p", len(shuffled)), Flip(seat, shuffled[-1]))
    state = replace(state, payoffs=replace_item(state.payoffs, seat, shuffled), waiting=tuple(waiting))
    return _wait_for_own_reshuffle(state) if waiting else choose_first_player(derived, state, events)


def finish_joint_redeal(derived: DerivedRules, state: State, shuffled: Cards, events: list[Event]) -> State:
    """Deal the shuffled cards to the tied seats, in order, and compare the new tops.

    The events gather the piles on that of the first seat, and deal the others from there.
    """
    size, (first, *others) = derived.payoff_size, state.tied
    events.extend(Shuffled(f"{seat}p", f"{first}p", size) for seat in others)
    events.extend(Shuffled(f"{first}p", f"{seat}p", size) for seat in others)
    payoffs = list(state.payoffs)
    for seat in state.tied:
        shuffled, payoffs[seat] = shuffled[:-size], shuffled[: -size - 1 : -1]
        events.append(Flip(seat, payoffs[seat][-1]))
    return choose_first_player(derived, replace(state, payoffs=tuple(payoffs), waiting=()), events)


def draw_lot(derived: DerivedRules, state: State, order: Sequence[int], events: list[Event]) -> State:
    """Let the first of the shuffled seats begin."""
    return begin_turn(derived, state, state.tied[order[0]], events)
