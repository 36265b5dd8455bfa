"""Hands in which nothing happens any more."""

from __future__ import annotations

import pytest

from malice.referee.games.nuts import Nuts
from malice.referee.games.nuts.messages import Burned
from malice.referee.games.nuts.state import State
from malice.referee.rules import Ask, Events, Result

from .tables import act, game, side, table

BARREN = side("KC", ["KD"], stock="2D 3D 4D 5D 6D")


def idle(engine: Nuts, state: State, ticks: int) -> tuple[State, Events]:
    """Let everybody wait for some ticks, or until the hand is over."""
    events: Events = ()
    for _ in range(ticks):
        if not isinstance(engine.next(state), Ask):
            break
        state, more = act(engine, state, {})
        events += more
    return state, events


def test_after_idle_ticks_each_stock_is_burned_and_after_as_many_more_the_hand_ends() -> None:
    """`idle_ticks`"""
    engine = game(idle_ticks=4)
    state, events = idle(engine, table(engine, BARREN, BARREN), 3)
    assert (state.idle, events) == (3, ())

    state, events = idle(engine, state, 1)
    assert events == (Burned(()),)
    assert [each.stock for each in state.sides] == [("6D", "2D", "3D", "4D", "5D")] * 2

    state, events = idle(engine, state, 99)
    assert events == ()
    assert state.tick == 8
    assert engine.next(state) == Result((1, 1, 1, 1), (-2, -2, -2, -2), "idle")


def test_a_stock_of_one_card_takes_in_the_waste_before_it_is_burned() -> None:
    engine = game(idle_ticks=1)
    thin = side("KC", ["KD"], stock="2D", waste="3D 4D 5D")

    state, events = idle(engine, table(engine, thin, BARREN), 1)

    assert events == (Burned((0,)),)
    assert (state.sides[0].stock, state.sides[0].waste) == (("2D", "5D", "4D", "3D"), ())


@pytest.mark.parametrize(("how", "burns"), [("never", 0), ("once", 1), ("each", 2)])
def test_stocks_are_burned_once_in_each_row_of_idle_ticks_or_in_a_hand(how: str, burns: int) -> None:
    """`burn`"""
    engine = game(burn=how, idle_ticks=2)
    state = table(engine, side("KC 2S AS", ["KD"], stock="2D 3D 4D 5D 6D"), BARREN)
    found: Events = ()
    for actions in ({0: "AS-f"}, {}, {}, {0: "2S-f"}, {}, {}, {}, {}):
        if isinstance(engine.next(state), Ask):
            state, events = act(engine, state, actions)
            found += tuple(event for event in events if isinstance(event, Burned))

    assert len(found) == burns
    assert isinstance(engine.next(state), Result)


def test_a_hand_in_which_nobody_can_do_anything_ends_by_itself() -> None:
    engine = game()
    state = table(engine, side("KC AS", ["KD"]), side("KC", ["KD"]))

    state, events = act(engine, state, {0: "AS-f"})

    assert events[-1] == Burned(())
    assert engine.next(state) == Result((1, 2, 1, 2), (-1, -2, -1, -2), "idle")
    assert state.tick == 41


def test_a_hand_ends_after_a_number_of_ticks() -> None:
    """`max_ticks`"""
    engine = game(max_ticks=3)

    state, _ = idle(engine, table(engine, BARREN, BARREN), 99)

    assert state.tick == 3
    assert isinstance(step := engine.next(state), Result)
    assert step.reason == "max_ticks"


@pytest.mark.parametrize(
    ("seats", "places", "points"),
    [
        ((0,), (2, 1, 2, 1), (-2, 5, -2, 5)),
        ((1, 3), (1, 2, 1, 2), (0, 0, 0, 0)),
        ((1, 2), (1, 1, 1, 1), (-2, 0, -2, 0)),
    ],
)
def test_a_seat_leaves_with_its_partner_and_keeps_no_points(
    seats: tuple[int, ...], places: tuple[int, ...], points: tuple[int, ...]
) -> None:
    engine = game()
    state = table(engine, BARREN, side("KC", ["KD"], centre=7))

    state, events = engine.withdraw(state, seats)

    assert events == ()
    assert engine.next(state) == Result(places, points, "forfeit")
