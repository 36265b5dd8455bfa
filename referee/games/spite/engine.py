"""Spite & Malice behind the interface of `malice.referee.rules`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from malice.protocol.cards import Cards
from malice.referee.errors import IllegalAction
from malice.referee.games.spite import dealing, first_player, plays, stalemates, turns, views
from malice.referee.games.spite.actions import Actions
from malice.referee.games.spite.derived import DerivedRules
from malice.referee.games.spite.masks import mask_event
from malice.referee.games.spite.messages import Event, View
from malice.referee.games.spite.parameters import Parameters
from malice.referee.games.spite.state import State
from malice.referee.rules import Ask, Events, Shuffle, Step

AFTER_SHUFFLE: dict[str, Callable[[DerivedRules, State, Cards, list[Event]], State]] = {
    "payoffs": dealing.deal_payoffs,
    "deal": dealing.deal,
    "tie": first_player.finish_own_reshuffle,
    "tie_together": first_player.finish_joint_redeal,
    "recycle": plays.finish_recycling,
    "refill": turns.finish_refill,
    "refill_last": turns.finish_last_refill,
    "redeal": stalemates.finish_redeal,
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
        """Return the position before the first shuffle."""
        return dealing.start(self.derived)

    def next(self, state: State, /) -> Step:
        """Return who acts: one seat, chance, or nobody."""
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
            state = first_player.draw_lot(self.derived, state, order, events)
        else:
            pile = tuple(state.mixing[place] for place in order)
            resume = AFTER_SHUFFLE[state.phase]
            state = resume(self.derived, replace(state, phase="turn", mixing=()), pile, events)
        if state.phase == "turn" and state.seat in state.out:
            state = stalemates.skip_turn(self.derived, state, events)
        return state, tuple(events)

    def withdraw(self, state: State, seats: Sequence[int], /) -> tuple[State, Events]:
        """Take a seat and its partner out: their cards stay, their turns are skipped; the last team left wins."""
        (seat,) = seats  # no more than one is ever asked at a time
        events: list[Event] = []
        return stalemates.withdraw(self.derived, state, seat, events), tuple(events)

    def view(self, state: State, seat: int | None, /) -> View:
        """Return the table as `seat`, or a spectator, sees it."""
        return views.make_view(self.derived, state, seat)

    def mask(self, event: Struct, seat: int, /) -> Struct:
        """Return an event as `seat` may see it: cards in other hands become `??`."""
        return mask_event(event, seat)

    def turn(self, state: State, /) -> int:
        """Count the turns begun so far."""
        return state.turn
