"""How hands fill up, what replenishes the stock, and when it is out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec.structs import replace

from malice.protocol.cards import ORDER
from malice.referee.games.spite.derived import DerivedRules
from malice.referee.games.spite.messages import Draw, Event, Shuffled
from malice.referee.games.spite.results import end_drawn_out_game
from malice.referee.games.spite.state import State, replace_item

STOCK_OUT: dict[str, Callable[[int, int], bool]] = {
    "need": lambda stock, needed: stock < needed,
    "empty": lambda stock, needed: not stock,
    "none": lambda stock, needed: not stock,
    "play_on": lambda stock, needed: False,
}
"""By `stock_out_when`: whether a draw of `needed` cards from `stock` cards ends the game."""


def refill(
    derived: DerivedRules, state: State, events: list[Event], waiting: Literal["refill", "refill_last"] = "refill"
) -> State:
    """Draw until the hand is full; a short stock is replenished first, or ends the game.

    Args:
        waiting: the phase of the position while new stock is shuffled.
    """
    hand = state.hands[state.seat]
    needed = derived.hand_size - len(hand)
    if needed <= 0:
        return state
    stock = state.stock
    if len(stock) < needed:
        gathered = _gather_reserves(derived, state, needed, events)
        if gathered.mixing:
            return replace(gathered, phase=waiting)
        if STOCK_OUT[derived.rules.stock_out_when](len(stock), needed):
            return end_drawn_out_game(derived, state, "stock_out", derived.rules.stock_out_result)
        if not stock:
            return state
    drawn = stock[: -needed - 1 : -1]
    events.append(Draw(state.seat, drawn))
    state = replace(
        state,
        hands=replace_item(state.hands, state.seat, tuple(sorted(hand + drawn, key=ORDER.__getitem__))),
        stock=stock[:-needed],
    )
    if not state.stock and derived.rules.stock_out_when == "empty" and not _count_reserves(derived, state):
        return end_drawn_out_game(derived, state, "stock_out", derived.rules.stock_out_result)
    return state


def restock(state: State, shuffled: tuple[str, ...]) -> State:
    """Put shuffled cards under the rest of the stock."""
    return replace(state, stock=shuffled + state.stock)


def _gather_reserves(derived: DerivedRules, state: State, needed: int, events: list[Event]) -> State:
    """Take up the cards that replenish the stock: those set aside, else the buried ones if they are enough."""
    if state.aside:
        events.append(Shuffled("aside", "stock", len(state.aside)))
        return replace(state, mixing=state.aside, aside=())
    reserves = _count_reserves(derived, state)
    if not reserves or STOCK_OUT[derived.rules.stock_out_when](len(state.stock) + reserves, needed):
        return state
    for slot, cards in enumerate(state.centre):
        if len(cards) > 1:
            events.append(Shuffled(f"c{slot}", "stock", len(cards) - 1))
    buried = tuple(card for cards in state.centre for card in cards[:-1])
    return replace(state, mixing=buried, centre=tuple(cards[-1:] for cards in state.centre))


def _count_reserves(derived: DerivedRules, state: State) -> int:
    """Count the cards that can replenish the stock."""
    if state.aside or not derived.rules.last_resort_recycle:
        return len(state.aside)
    return sum(len(cards) - 1 for cards in state.centre if cards)
