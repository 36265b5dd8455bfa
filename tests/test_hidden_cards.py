"""A seat learns nothing of cards that it may not see: its lines are the same whatever they are."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from malice.protocol.codec import encode
from malice.protocol.messages import GameEnd, Move
from malice.referee.clock import MS
from malice.referee.course import Dealer
from malice.referee.families import make_rules
from malice.referee.game_runner import GameRunner
from malice.referee.games import DEFAULT_FAMILY
from malice.referee.games.spite.messages import Deal, Draw
from malice.referee.games.spite.state import State
from malice.referee.records import Player
from malice.referee.rules import Ask, Events, Rules, Shuffle
from malice.referee.seat import Seat
from malice.referee.verdicts import Verdict
from tests.tables import RULES, Script, batch


class Scripted(Dealer):
    """Deals as `Dealer` does, but the first shuffle is given."""

    def __init__(self, seed: bytes, first: Sequence[int]) -> None:
        super().__init__(seed)
        self._first: Sequence[int] | None = first

    def order(self, size: int) -> list[int]:
        found = super().order(size)
        if self._first is not None:
            found, self._first = list(self._first), None
        return found


SEED = b"\x05" * 32


def settled(rules: Rules[State], state: State, events: Events, dealer: Dealer) -> tuple[State, Events]:
    while isinstance(step := rules.next(state), Shuffle):
        state, more = rules.shuffled(state, dealer.order(step.size))
        events += more
    return state, events


def visible(state: State, events: Events, seat: int) -> tuple[object, ...]:
    """What anybody at `seat` can see, said apart from the views and masks that are tested."""
    return (
        state.phase,
        state.seat,
        state.turn,
        state.hands[seat],
        [len(hand) for hand in state.hands],
        [(pile[-1:], len(pile)) for pile in state.payoffs],
        state.sides,
        state.centre,
        len(state.stock),
        len(state.aside),
        state.result,
        [event.hands[seat] for event in events if isinstance(event, Deal)],
        [event.cards for event in events if isinstance(event, Draw) and event.seat == seat],
    )


def same_for(seat: int, orders: tuple[list[int], list[int]], choose: random.Random) -> list[tuple[int, str]]:
    """Play both deals alike while `seat` cannot tell them apart; return the actions, the one that tells included."""
    rules = make_rules(DEFAULT_FAMILY, RULES, 2)
    dealers = [Scripted(SEED, order) for order in orders]
    tables = [settled(rules, rules.start(), (), dealer) for dealer in dealers]
    actions: list[tuple[int, str]] = []
    while visible(*tables[0], seat) == visible(*tables[1], seat):
        states = [state for state, _ in tables]
        step = rules.next(states[0])
        if not isinstance(step, Ask):
            break
        (asked,) = step.seats
        legal = [rules.legal(state, asked) for state in states]
        action = choose.choice([action for action in legal[0] if "-c" in action] or legal[0])
        actions.append((asked, action))
        if action not in legal[1]:
            break
        tables = [
            settled(rules, *rules.play(state, {asked: action}), dealer)
            for state, dealer in zip(states, dealers, strict=True)
        ]
    return actions


def lines(seat: int, order: list[int], actions: list[tuple[int, str]]) -> list[bytes]:
    """Play these actions on this deal; return what `seat` was sent."""

    def follow(number: int) -> Callable[[Move], str]:
        own = iter([action for owner, action in actions if owner == number])

        def choose(request: Move) -> str:
            found = next(own, None)
            if found is None:
                raise Verdict("timeout", "no answer", wall=7 * MS, cpu=2 * MS)
            return found

        return choose

    seats = [Script(follow(number)) for number in range(2)]
    told = batch(Player("a", "00", ()), Player("b", "00", ()))
    GameRunner(told, told.games[0], list[Seat](seats), Scripted(SEED, order)).play()
    asked = sum(owner == seat for owner, _ in actions)
    return [encode(request) for request in seats[seat].requests if not isinstance(request, GameEnd)][: asked + 1]


@pytest.mark.slow
@pytest.mark.parametrize("seat", [0, 1])
def test_a_seat_cannot_tell_deals_apart_that_differ_in_what_it_cannot_see(seat: int) -> None:
    compared = 0
    for number in range(50):
        choose = random.Random(number)
        order = list(range(104))
        choose.shuffle(order)
        other = list(order)
        one, two = choose.sample(range(104), 2)
        other[one], other[two] = order[two], order[one]
        actions = same_for(seat, (order, other), choose)

        found = lines(seat, order, actions), lines(seat, other, actions)

        assert found[0] == found[1], f"deal {number}, places {one} and {two}"
        compared += len(found[0])
    assert compared > 1000, "most pairs differ in plain view: nothing was tested"
