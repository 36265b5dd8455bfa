"""Spite & Malice behind the interface of `referee.rules`, from the deal and the choice of the first player on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from malice.protocol.cards import ORDER, VALUE, Cards
from malice.referee.errors import IllegalAction
from malice.referee.games.spite import plays
from malice.referee.games.spite.actions import Actions
from malice.referee.games.spite.messages import Deal, Event, Flip, Shuffled, View, mask_event
from malice.referee.games.spite.parameters import DerivedRules, Parameters
from malice.referee.games.spite.plays import begin_turn
from malice.referee.games.spite.state import State, list_playing_seats, make_view, replace_item
from malice.referee.rules import Ask, Events, Shuffle, Step

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


def start(derived: DerivedRules) -> State:
    """The position before the first shuffle: of the pay-off piles' own pack, if they have one."""
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


AFTER_SHUFFLE: dict[str, Callable[[DerivedRules, State, Cards, list[Event]], State]] = {
    "payoffs": deal_payoffs,
    "deal": deal,
    "tie": finish_own_reshuffle,
    "tie_together": finish_joint_redeal,
    "recycle": plays.finish_recycling,
    "refill": plays.finish_refill,
    "refill_last": plays.finish_last_refill,
    "redeal": plays.finish_redeal,
}
"""By the phase that waits for a shuffle: how the game continues with the shuffled cards."""


class SpiteAndMalice:
    """The game under one set of parameters and with a fixed number of seats.

    Raises:
        RulesetError: the parameters do not make a game for that many seats.
    """

    def __init__(self, rules: Parameters, seats: int) -> None:
        self.derived = DerivedRules(rules, seats)
        self._actions = Actions(self.derived)
        self._asks = tuple(Ask((seat,)) for seat in range(seats))
        self._listed: tuple[State | None, tuple[str, ...]] = (None, ())

    @property
    def seats(self) -> int:
        """How many seats play."""
        return self.derived.seats

    @property
    def teams(self) -> tuple[int, ...]:
        """The team of each seat; without partners, the seat itself."""
        return self.derived.teams

    def start(self) -> State:
        return start(self.derived)

    def next(self, state: State, /) -> Step:
        """Who acts: one seat, chance, or nobody."""
        if state.phase == "turn":
            return self._asks[state.seat]
        if state.result is not None:
            return state.result
        return Shuffle(len(state.tied) if state.phase == "lot" else len(state.mixing))

    def legal(self, state: State, seat: int, /) -> tuple[str, ...]:
        """List the legal actions of a seat; keep the list, since `play` checks its action against it."""
        if seat != state.seat:
            return ()
        listed, actions = self._listed
        if listed is not state:
            actions = self._actions.legal(state)
            self._listed = (state, actions)
        return actions

    def play(self, state: State, actions: Mapping[int, str], /) -> tuple[State, Events]:
        """Play one legal action of the seat to act.

        Raises:
            IllegalAction: it is not in the legal list.
        """
        seat = state.seat
        action = actions.get(seat, "")
        if action not in self.legal(state, seat):
            raise IllegalAction(f"expected a legal action of seat {seat}, got: {action!r}")
        events: list[Event] = []
        return plays.play(self.derived, state, action, events), tuple(events)

    def shuffled(self, state: State, order: Sequence[int], /) -> tuple[State, Events]:
        """Put the waiting pile in `order` and continue; skip a seat that was withdrawn meanwhile."""
        events: list[Event] = []
        if state.phase == "lot":
            state = draw_lot(self.derived, state, order, events)
        else:
            pile = tuple(state.mixing[place] for place in order)
            resume = AFTER_SHUFFLE[state.phase]
            state = resume(self.derived, replace(state, phase="turn", mixing=()), pile, events)
        if state.phase == "turn" and state.seat in state.out:
            state = plays.skip_turn(self.derived, state, events)
        return state, tuple(events)

    def withdraw(self, state: State, seats: Sequence[int], /) -> tuple[State, Events]:
        """Take a seat and its partner out: their cards stay, their turns are skipped; the last team left wins."""
        (seat,) = seats  # no more than one is ever asked at a time
        events: list[Event] = []
        return plays.withdraw(self.derived, state, seat, events), tuple(events)

    def view(self, state: State, seat: int | None, /) -> View:
        return make_view(self.derived, state, seat)

    def mask(self, event: Struct, seat: int, /) -> Struct:
        """An event as `seat` may see it: cards in other hands become `??`."""
        return mask_event(event, seat)

    def turn(self, state: State, /) -> int:
        """Count the turns begun so far."""
        return state.turn
