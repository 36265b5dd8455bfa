"""Spite & Malice behind the interface of `referee.rules`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from protocol.messages import Cards, Event, View
from referee.errors import IllegalAction
from referee.rules import Events, Result, Shuffle, Turn
from referee.ruleset import Parameters
from referee.spite import dealing, first_player, plays, stalemates, turns, views
from referee.spite.actions import Actions
from referee.spite.derived import DerivedRules
from referee.spite.state import State

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

    def next(self, state: State, /) -> Turn | Shuffle | Result:
        """Return who acts: one seat, chance, or nobody."""
        if state.phase == "turn":
            return Turn(state.seat)
        if state.result is not None:
            return state.result
        return Shuffle(len(state.tied) if state.phase == "lot" else len(state.mixing))

    def legal(self, state: State, /) -> tuple[str, ...]:
        """List the legal actions; keep the list, since `play` checks its action against it."""
        listed, actions = self._listed
        if listed is not state:
            actions = self._actions.legal(state)
            self._listed = (state, actions)
        return actions

    def play(self, state: State, action: str, /) -> tuple[State, Events]:
        """Play one legal action.

        Raises:
            IllegalAction: it is not in the legal list.
        """
        if action not in self.legal(state):
            raise IllegalAction(f"expected a legal action of seat {state.seat}, got: {action!r}")
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
            state = turns.next_turn(self.derived, state, events)
        return state, tuple(events)

    def withdraw(self, state: State, seat: int, /) -> tuple[State, Events]:
        """Take `seat` and its partner out: their cards stay, their turns are skipped; the last team left wins."""
        events: list[Event] = []
        return turns.withdraw(self.derived, state, seat, events), tuple(events)

    def view(self, state: State, seat: int | None, /) -> View:
        """Return the table as `seat`, or a spectator, sees it."""
        return views.make_view(self.derived, state, seat)
