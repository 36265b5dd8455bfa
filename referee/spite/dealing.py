"""From the shuffled deck to the first turn: dealing, and who starts."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from protocol.cards import ORDER, VALUE
from protocol.messages import Cards, Deal, Event, Flip, Shuffled
from referee.spite.setting import Setting
from referee.spite.state import State, with_item
from referee.spite.turns import begin_turn


def start(setting: Setting) -> State:
    """Return the position before the first shuffle: the whole deck is the stock."""
    none: tuple[Cards, ...] = ((),) * setting.seats
    slots = setting.centre_slots or 0
    return State(
        phase="deal",
        seat=0,
        turn=0,
        quiet=0,
        hands=none,
        payoffs=none,
        sides=(((),) * setting.rules.side_count,) * setting.seats,
        centre=((),) * slots,
        heights=(0,) * slots,
        stock=(),
        mixing=setting.deck,
    )


def deal(setting: Setting, state: State, shuffled: Cards, events: list[Event]) -> State:
    """Deal the shuffled deck from its top: all pay-off piles by seat, then all hands, then the side stacks."""
    deck = list(shuffled)

    def take(count: int) -> Cards:
        return tuple(deck.pop() for _ in range(count))

    rules = setting.rules
    seats = range(setting.seats)
    payoffs = tuple(take(setting.payoff_size) for _ in seats)
    hands = tuple(take(rules.hand_size) for _ in seats)
    sides = tuple(tuple(take(rules.side_initial) for _ in range(rules.side_count)) for _ in seats)
    events.append(Deal(hands, tuple(map(len, payoffs)), sides, len(deck)))
    events.extend(Flip(seat, payoffs[seat][-1]) for seat in seats)
    dealt = replace(
        state,
        hands=tuple(tuple(sorted(hand, key=ORDER.__getitem__)) for hand in hands),
        payoffs=payoffs,
        sides=sides,
        stock=tuple(deck),
    )
    return choose_starter(setting, dealt, tuple(seats), events)


def choose_starter(setting: Setting, state: State, candidates: tuple[int, ...], events: list[Event]) -> State:
    """Begin the first turn, or wait for the shuffle that decides between equal seats."""
    wanted = setting.rules.first_player
    if wanted == "seat":
        return begin_turn(setting, state, 0, events)
    if wanted == "random":
        return replace(state, phase="lot", tied=candidates)
    tops = {seat: VALUE[state.payoffs[seat][-1]] for seat in candidates}
    best = max(tops.values()) if wanted == "high_payoff" else min(tops.values())
    tied = tuple(seat for seat in candidates if tops[seat] == best)
    if len(tied) == 1:
        return begin_turn(setting, state, tied[0], events)
    if state.ties == setting.rules.tie_cap:
        return replace(state, phase="lot", tied=tied)
    return _next_tied(replace(state, tied=tied, waiting=tied, ties=state.ties + 1))


def _next_tied(state: State) -> State:
    """Take up the pay-off pile of the first waiting seat for its shuffle."""
    seat = state.waiting[0]
    return replace(state, phase="tie", mixing=state.payoffs[seat], payoffs=with_item(state.payoffs, seat, ()))


def break_tie(setting: Setting, state: State, shuffled: Cards, events: list[Event]) -> State:
    """Put back the pay-off pile of the first waiting seat; after the last one, compare the new tops."""
    seat, *waiting = state.waiting
    events.append(Shuffled(f"{seat}p", f"{seat}p", len(shuffled)))
    events.append(Flip(seat, shuffled[-1]))
    state = replace(state, payoffs=with_item(state.payoffs, seat, shuffled), waiting=tuple(waiting))
    return _next_tied(state) if waiting else choose_starter(setting, state, state.tied, events)


def draw_lot(setting: Setting, state: State, order: Sequence[int], events: list[Event]) -> State:
    """Let the first of the shuffled seats begin."""
    return begin_turn(setting, state, state.tied[order[0]], events)
