"""The rules of Klondike behind the interface of every family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from malice.protocol.cards import HIDDEN
from malice.referee.errors import IllegalAction, RulesetError
from malice.referee.games.klondike.messages import Dealt, View
from malice.referee.games.klondike.parameters import Parameters
from malice.referee.games.klondike.plays import list_legal, make_view, name_cards, play_action
from malice.referee.games.klondike.table import PACK, Layout, Table, deal, rank_tables
from malice.referee.rules import Ask, Events, Result, Shuffle

MOST = 8


class State(Struct, frozen=True, gc=False):
    """A position: never changed, only replaced."""

    tables: tuple[Table, ...] = ()
    """By seat; there are none before the deal."""
    turn: int = 0
    out: tuple[tuple[int, ...], ...] = ()
    """The seats that were withdrawn, each group at one moment."""


class Klondike:
    """The game under one set of parameters: every seat plays the same deal, alone and unseen.

    One seat may play alone; then nobody wins or loses.

    Raises:
        RulesetError: the parameters make no game of that many seats.
    """

    def __init__(self, parameters: Parameters, seats: int) -> None:
        _refuse(parameters, seats)
        self.seats = seats
        self.teams = tuple(range(seats))
        self._parameters = parameters
        self._all = Ask(self.teams)

    def start(self) -> State:
        return State()

    def next(self, state: State, /) -> Ask | Shuffle | Result:
        """The shuffle before the deal, then all seats that are not finished."""
        if not state.tables:
            return Shuffle(len(PACK))
        asked = self._list_asked(state)
        if asked and (not state.out or self._count_playing(state) > 1):
            return Ask(asked) if len(asked) < self.seats else self._all
        return rank_tables(state.tables, state.out, forfeit=bool(asked))

    def _list_asked(self, state: State) -> tuple[int, ...]:
        if not state.out:
            return tuple([seat for seat, table in enumerate(state.tables) if table.legal])
        out = {seat for group in state.out for seat in group}
        return tuple([seat for seat, table in enumerate(state.tables) if table.legal and seat not in out])

    def _count_playing(self, state: State) -> int:
        return self.seats - sum(map(len, state.out))

    def legal(self, state: State, seat: int, /) -> tuple[str, ...]:
        if not state.tables or (state.out and self.next(state).__class__ is Result):
            return ()
        if any(seat in group for group in state.out):
            return ()
        return state.tables[seat].legal

    def play(self, state: State, actions: Mapping[int, str], /) -> tuple[State, Events]:
        """Play one action of each seat that is asked.

        Raises:
            IllegalAction: one of them is not legal.
        """
        tables, events = list(state.tables), []
        for seat, action in actions.items():
            if action not in self.legal(state, seat):
                raise IllegalAction(f"expected a legal action of seat {seat}, got: {action!r}")
            tables[seat], happened = play_action(self._parameters, tables[seat], seat, action)
            events += happened
        return State(tuple(tables), state.turn + 1, state.out), tuple(events)

    def shuffled(self, state: State, order: Sequence[int], /) -> tuple[State, Events]:
        """Deal the pack, the same for all seats."""
        layout = deal(tuple(order))
        table = open_table(self._parameters, layout)
        columns = tuple(name_cards(down + up) for down, up in zip(layout.downs, layout.ups, strict=True))
        return State((table,) * self.seats, 1), (Dealt(columns, name_cards(layout.stock)),)

    def withdraw(self, state: State, seats: Sequence[int], /) -> tuple[State, Events]:
        """Take seats out: their tables stay as they are."""
        return State(state.tables, state.turn, (*state.out, tuple(seats))), ()

    def view(self, state: State, seat: int | None, /) -> View:
        """The table of a seat; all tables for a spectator."""
        return make_view(state.tables, state.turn, seat)

    def mask(self, event: Any, seat: int, /) -> Struct | None:
        """The deal without its face-down cards, what the seat did itself, and nothing of the others."""
        if isinstance(event, Dealt):
            return hide_deal(event)
        return event if event.seat == seat else None

    def turn(self, state: State, /) -> int:
        """Count the asks so far: every action is a turn of its own."""
        return state.turn


def open_table(parameters: Parameters, layout: Layout) -> Table:
    seen = sum(1 << card for run in layout.ups for card in run)
    return Table(layout, list_legal(layout, parameters, undoable=False), seen)


def hide_deal(event: Dealt) -> Dealt:
    """A deal as everybody sees it: the last card of each column, and backs."""
    columns = tuple((*(HIDDEN,) * (len(column) - 1), column[-1]) for column in event.columns)
    return Dealt(columns, (HIDDEN,) * len(event.stock))


def _refuse(parameters: Parameters, seats: int) -> None:
    """Accept parameters only if they make a game."""
    least, most = parameters.players
    if not 1 <= least <= most <= MOST:
        raise RulesetError(where="players", expected=f"1 to {MOST}, the least first", got=f"[{least}, {most}]")
    if not 1 <= seats <= MOST:
        raise RulesetError(expected=f"1 to {MOST} seats", got=seats)
    if parameters.redeals != "unlimited" and parameters.redeals < 0:
        raise RulesetError(where="redeals", expected='at least 0, or "unlimited"', got=parameters.redeals)
    for name in ("idle", "max_actions"):
        if (value := getattr(parameters, name)) < 1:
            raise RulesetError(where=name, expected="at least 1", got=value)
