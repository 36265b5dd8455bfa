"""What one action does: the card moves, then its effects follow in a fixed order."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from malice.protocol.cards import Cards
from malice.referee.games.spite.derived import DerivedRules
from malice.referee.games.spite.messages import CardMoved, Count, Event, Flip, Shuffled
from malice.referee.games.spite.results import end_won_game
from malice.referee.games.spite.stalemates import pass_turn
from malice.referee.games.spite.state import State, replace_item, replace_pile
from malice.referee.games.spite.stock import refill, restock
from malice.referee.games.spite.turns import begin_turn, end_turn


def reveal_counts(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """Reveal how many pay-off cards are left, to all seats or only to the seat to act."""
    aloud = derived.rules.payoff_count == "on_request"
    events.append(Count(state.seat, tuple(map(len, state.payoffs)) if aloud else None))
    return replace(state, counted=True, announced=aloud)


CARDLESS: dict[str, Callable[[DerivedRules, State, list[Event]], State]] = {"pass": pass_turn, "count": reveal_counts}
"""The actions that move no card."""


def play(derived: DerivedRules, state: State, action: str, events: list[Event]) -> State:
    """Play a legal action: a card to the centre or onto a pay-off pile, a discard, a pass, or a request for counts."""
    source, _, target = action.partition("-")
    if not target:
        return CARDLESS[action](derived, state, events)
    state, card, origin = _take_card(state, source)
    if target[0] == "s":
        return _play_to_side(derived, state, card, int(target[1:]), events)
    events.append(CardMoved(state.seat, origin, target, card))
    if origin[1] == "p":
        _flip(state, int(origin[0]), events)
    if target[0] == "c":
        return _play_to_centre(derived, state, card, origin, int(target[1:]), events)
    return settle(derived, _load(state, card, int(target[0])), events)


def _take_card(state: State, source: str) -> tuple[State, str, str]:
    """Take the card that `source` names; return it with the absolute name of its pile.

    This ends the series of passes at once: the seat may leave before its turn is over.
    """
    seat = state.seat
    if source[0] == "h":
        card = source[1:]
        hand = state.hands[seat]
        place = hand.index(card)
        hands = replace_item(state.hands, seat, hand[:place] + hand[place + 1 :])
        return replace(state, hands=hands, moved=True, passed=(), pressed=False), card, f"{seat}h"
    if source[0].isdigit():
        seat, source = int(source[0]), source[1:]
    if source == "p":
        pile = state.payoffs[seat]
        payoffs = replace_item(state.payoffs, seat, pile[:-1])
        state = _forget_counts(replace(state, payoffs=payoffs, moved=True, passed=(), pressed=False))
        return state, pile[-1], f"{seat}p"
    index = int(source[1:])
    pile = state.sides[seat][index]
    sides = replace_pile(state.sides, seat, index, pile[:-1])
    return replace(state, sides=sides, moved=True, passed=(), pressed=False), pile[-1], f"{seat}{source}"


def _forget_counts(state: State) -> State:
    """Let what was told to all of the pay-off piles be asked again, since one of them has changed."""
    return replace(state, announced=False, counted=state.counted and not state.announced)


def _flip(state: State, seat: int, events: list[Event]) -> None:
    """Turn up the next pay-off card of `seat`, if there is one."""
    left = state.payoffs[seat]
    if left:
        events.append(Flip(seat, left[-1]))


def _play_to_side(derived: DerivedRules, state: State, card: str, index: int, events: list[Event]) -> State:
    """Discard, which ends the turn; or fill an empty side stack, where the rules demand that first."""
    seat = state.seat
    events.append(CardMoved(seat, f"{seat}h", f"{seat}s{index}", card))
    pile = state.sides[seat][index]
    sides = replace_pile(state.sides, seat, index, (*pile, card))
    if derived.rules.fill_empty_sides and not pile:
        return _finish_fill(derived, replace(state, sides=sides), events)
    return end_turn(derived, replace(state, sides=sides), events)


def _finish_fill(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """Continue after a fill; a seat whose hand is empty begins a new turn."""
    if state.hands[state.seat]:
        return replace(state, filling=True)
    return begin_turn(derived, state, state.seat, events)


def _load(state: State, card: str, target: int) -> State:
    """Put `card` on top of the pay-off pile of `target`: it is the new top, without a flip."""
    payoffs = replace_item(state.payoffs, target, (*state.payoffs[target], card))
    return _forget_counts(replace(state, payoffs=payoffs))


def _play_to_centre(
    derived: DerivedRules, state: State, card: str, origin: str, slot: int, events: list[Event]
) -> State:
    centre, heights = state.centre, state.heights
    if slot == len(centre):
        centre, heights = (*centre, ()), (*heights, 0)
    stack = (*centre[slot], card)
    height = heights[slot] + 1
    complete = height == derived.stack_top
    new_stack, new_height = ((), 0) if complete else (stack, height)
    state = replace(
        state,
        centre=replace_item(centre, slot, new_stack),
        heights=heights[:slot] + (new_height,) + heights[slot + 1 :],
        quiet=0 if origin[1] == "p" else state.quiet,
    )
    if complete:
        state = RECYCLE[derived.rules.recycle](state, stack, slot, events)
    return settle(derived, state, events) if state.phase == "turn" else state


def _shuffle_into_stock(state: State, stack: Cards, slot: int, events: list[Event]) -> State:
    """Shuffle the stack together with the stock."""
    events.append(Shuffled(f"c{slot}", "stock", len(stack)))
    return replace(state, phase="recycle", mixing=state.stock + stack, stock=())


def _shuffle_under_stock(state: State, stack: Cards, slot: int, events: list[Event]) -> State:
    """Shuffle the stack alone, to go under the stock."""
    events.append(Shuffled(f"c{slot}", "stock", len(stack)))
    return replace(state, phase="recycle", mixing=stack)


def _set_aside(state: State, stack: Cards, slot: int, events: list[Event]) -> State:
    """Set the stack aside until the stock is short."""
    events.append(Shuffled(f"c{slot}", "aside", len(stack)))
    return replace(state, aside=state.aside + stack)


RECYCLE: dict[str, Callable[[State, Cards, int, list[Event]], State]] = {
    "shuffle": _shuffle_into_stock,
    "bottom": _shuffle_under_stock,
    "aside": _set_aside,
}
"""By `recycle`: what happens to a completed stack; after the two that shuffle, the position waits."""


def finish_recycling(derived: DerivedRules, state: State, shuffled: Cards, events: list[Event]) -> State:
    """Put the shuffled cards under the stock, and continue with the effects of the play."""
    return settle(derived, restock(state, shuffled), events)


def settle(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """After a card was played: a team without pay-off cards has won, an empty hand is filled."""
    if not state.payoffs[state.seat] and not any(state.payoffs[ally] for ally in derived.allies[state.seat]):
        return end_won_game(derived, state, "payoff_empty")
    return state if state.hands[state.seat] else refill(derived, state, events)
