"""Nuts behind the interface of `malice.referee.rules`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from malice.referee.course import list_asked
from malice.referee.errors import IllegalAction
from malice.referee.games.nuts.messages import Deal, Event, Part, SideView, Turned, View
from malice.referee.games.nuts.moves import PACK, WAIT, Moves, Tick, end_tick
from malice.referee.games.nuts.parameters import Parameters, validate
from malice.referee.games.nuts.state import (
    State,
    deal_side,
    hide_below,
    make_result,
    mask_deal,
    show_centre,
    show_side,
    tell_deal,
)
from malice.referee.rules import Ask, Events, Shuffle, Step

TEAMS = 2


class Listed(Struct, frozen=True):
    """What the seats may do in one position."""

    state: State
    step: Ask
    actions: tuple[tuple[str, ...], ...]
    """By seat; none for a seat that is busy, or can only wait."""


class Nuts:
    """The game under one set of parameters and with a fixed number of seats.

    Raises:
        RulesetError: the parameters do not make a game for that many seats.
    """

    def __init__(self, rules: Parameters, seats: int) -> None:
        validate(rules, seats)
        self.parameters = rules
        self.seats = seats
        self.teams = tuple(seat % TEAMS for seat in range(seats))
        self._roles: tuple[Part, ...] = ("both",) if seats == TEAMS else ("nuts", "cards")
        """The parts of the seats of each team."""
        self.parts = tuple(self._roles[seat // TEAMS] for seat in range(seats))
        self._moves = Moves(rules)
        self._listed: Listed | None = None
        self._shown: tuple[State | None, tuple[SideView, ...]] = (None, ())

    def start(self) -> State:
        return State(busy=(0,) * self.seats)

    def next(self, state: State, /) -> Step:
        """Who acts: all seats that can do more than wait, chance, or nobody."""
        if state.reason:
            return make_result(self.parameters, self.teams, state)
        if not state.sides:
            return Shuffle(len(PACK))
        return Shuffle(len(state.pending)) if state.pending else self._list(state).step

    def _list(self, state: State) -> Listed:
        """List what all seats may do; keep the lists, since `legal` and `play` ask for them again."""
        listed = self._listed
        if listed is None or listed.state is not state:
            listed = self._listed = self._list_anew(state)
        return listed

    def _list_anew(self, state: State) -> Listed:
        parts, heights = self._roles, state.heights
        by_team = [self._moves.list_all(side, heights, parts) for side in state.sides]
        actions = tuple(
            [
                () if state.busy[seat] > state.tick else by_team[team][seat // TEAMS]
                for seat, team in enumerate(self.teams)
            ]
        )
        return Listed(state, Ask(tuple([seat for seat, own in enumerate(actions) if own])), actions)

    def legal(self, state: State, seat: int, /) -> tuple[str, ...]:
        """List the legal actions of a seat."""
        if state.reason or state.pending or not state.sides:
            return ()
        return self._list(state).actions[seat]

    def play(self, state: State, actions: Mapping[int, str], /) -> tuple[State, Events]:
        """Play an action of each asked seat; if several do more than wait, chance draws their order first.

        Raises:
            IllegalAction: an action is not in the legal list.
        """
        for seat in {*actions, *list_asked(self.next(state))}:
            if actions.get(seat, "") not in self.legal(state, seat):
                raise IllegalAction(f"expected a legal action of seat {seat}, got: {actions.get(seat)!r}")
        pending = tuple((seat, action) for seat, action in sorted(actions.items()) if action != WAIT)
        if len(pending) > 1:
            return replace(state, pending=pending), ()
        return self._play_tick(state, pending)

    def shuffled(self, state: State, order: Sequence[int], /) -> tuple[State, Events]:
        """Play the waiting actions in `order`, or take a shuffled pack; deal when there is one for each team."""
        if state.pending:
            return self._play_tick(state, [state.pending[place] for place in order])
        packs = (*state.packs, tuple(PACK[place] for place in order))
        if len(packs) < TEAMS:
            return replace(state, packs=packs), ()
        sides = tuple(deal_side(self.parameters, pack) for pack in packs)
        return replace(state, packs=(), sides=sides, tick=1), (tell_deal(sides),)

    def _play_tick(self, state: State, actions: Sequence[tuple[int, str]]) -> tuple[State, Events]:
        tick = Tick(self.parameters, self._moves, self.teams, self.parts, state)
        for seat, action in actions:
            tick.play(seat, action)
        state = replace(state, sides=tuple(tick.sides), heights=tuple(tick.heights), busy=tuple(tick.busy))
        state = end_tick(self.parameters, state, tick.progress, self._can_act, tick.events)
        return state, tuple(tick.events)

    def _can_act(self, state: State) -> bool:
        return bool(self._list(state).step.seats)

    def withdraw(self, state: State, seats: Sequence[int], /) -> tuple[State, Events]:
        """Take seats out with their partners, which ends the hand."""
        out = tuple(sorted({self.teams[seat] for seat in seats}))
        return replace(state, out=out, pending=(), reason="forfeit"), ()

    def view(self, state: State, seat: int | None, /) -> View:
        """The table as `seat` sees it; a spectator sees no more than they all do."""
        if seat is None:
            seat = next(iter(list_asked(self.next(state))), 0)
        return View(
            state.tick,
            state.idle,
            seat,
            self.teams[seat],
            self.parts[seat],
            tuple([max(0, until - state.tick) for until in state.busy]),
            show_centre(state),
            self._show_sides(state),
        )

    def _show_sides(self, state: State) -> tuple[SideView, ...]:
        shown, sides = self._shown
        if shown is not state:
            sides = tuple([show_side(self.parameters, side) for side in state.sides])
            self._shown = (state, sides)
        return sides

    def mask(self, event: Event, seat: int, /) -> Event:
        """An event as every seat may see it: without the cards that lie face down."""
        if isinstance(event, Deal):
            return mask_deal(event)
        if isinstance(event, Turned) and self.parameters.waste_visible == "top":
            return Turned(event.seat, hide_below(event.cards))
        return event

    def turn(self, state: State, /) -> int:
        """Count the ticks begun so far."""
        return state.tick
