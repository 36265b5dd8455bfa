"""The start of a game, and the deal of the shuffled cards."""

from __future__ import annotations

from msgspec.structs import replace

from malice.protocol.cards import ORDER, Cards
from malice.referee.games.spite.derived import DerivedRules
from malice.referee.games.spite.first_player import choose_first_player
from malice.referee.games.spite.messages import Deal, Event, Flip
from malice.referee.games.spite.state import State


def start(derived: DerivedRules) -> State:
    """Return the position before the first shuffle: of the pay-off piles' own pack, if they have one."""
    empty: tuple[Cards, ...] = ((),) * derived.seats
    slots = derived.centre_slots or 0
    return State(
        phase="payoffs" if derived.payoff_pack else "deal",
        seat=0,
        turn=0,
        quiet=0,
        hands=empty,
        payoffs=empty,
        sides=(((),) * derived.rules.side_count,) * derived.seats,
        centre=((),) * slots,
        heights=(0,) * slots,
        stock=(),
        mixing=derived.payoff_pack or derived.deck,
    )


def deal_payoffs(derived: DerivedRules, state: State, shuffled: Cards, events: list[Event]) -> State:
    """Deal the pay-off piles from the top of their own pack; the other pack is shuffled next."""
    payoffs, _ = _deal_piles(shuffled, derived.payoff_size, derived.seats)
    return replace(state, phase="deal", payoffs=payoffs, mixing=derived.deck)


def deal(derived: DerivedRules, state: State, shuffled: Cards, events: list[Event]) -> State:
    """Deal from the top of the cards: all pay-off piles by seat, then all hands, then the side stacks."""
    rules, seats = derived.rules, derived.seats
    payoffs, rest = state.payoffs, shuffled
    if not derived.payoff_pack:
        payoffs, rest = _deal_piles(rest, derived.payoff_size, seats)
    hands, rest = _deal_piles(rest, rules.hand_size, seats)
    flat, rest = _deal_piles(rest, rules.side_initial, seats * rules.side_count)
    sides = tuple(flat[seat * rules.side_count : (seat + 1) * rules.side_count] for seat in range(seats))
    events.append(Deal(hands, tuple(map(len, payoffs)), sides, len(rest)))
    events.extend(Flip(seat, pile[-1]) for seat, pile in enumerate(payoffs))
    dealt = replace(
        state,
        hands=tuple(tuple(sorted(hand, key=ORDER.__getitem__)) for hand in hands),
        payoffs=payoffs,
        sides=sides,
        stock=rest,
    )
    return choose_first_player(derived, dealt, events)


def _deal_piles(cards: Cards, size: int, count: int) -> tuple[tuple[Cards, ...], Cards]:
    """Deal `count` piles of `size` from the top; return them and what is left."""
    deck = list(cards)
    piles = tuple(tuple(deck.pop() for _ in range(size)) for _ in range(count))
    return piles, tuple(deck)
