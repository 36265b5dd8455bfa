"""What seats may do in a tick, and what becomes of actions that collide."""

from __future__ import annotations

import pytest

from malice.referee.errors import IllegalAction
from malice.referee.games.nuts.messages import CardsMoved, Flip, Lapse, Redeal, Turned
from malice.referee.rules import Ask, Result, Shuffle

from .tables import act, game, side, table

FULL = side("9C 2H", ["8D | 7S 6H", "7C", "8H"], stock="AD 2D 3D 4D", waste="KD 6D")
"""Face up: Nuts 2H, a run from 7S and two columns, the waste's 6D."""


def test_a_nuts_player_plays_nuts_and_columns_and_a_cards_player_waste_columns_and_turns() -> None:
    engine = game()
    state = table(engine, FULL, centre="AH 6C")

    shared = ("7S-t2", "7C-f", "7C-t2")
    assert engine.next(state) == Ask((0, 2))
    assert engine.legal(state, 0) == ("2H-f", "6H-t1", *shared, "wait")
    assert engine.legal(state, 2) == ("6D-t1", "6H-t1", *shared, "turn", "wait")
    assert engine.legal(state, 1) == engine.legal(state, 3) == ()


def test_in_a_game_of_two_a_seat_plays_both_parts() -> None:
    """`players`"""
    engine = game("nuts-2")
    state = table(engine, FULL, centre="AH 6C")

    assert engine.legal(state, 0) == ("2H-f", "6D-t1", "6H-t1", "7S-t2", "7C-f", "7C-t2", "turn", "wait")


def test_seats_are_refused_what_only_their_partner_may_play() -> None:
    engine = game()
    state = table(engine, FULL, centre="AH")

    for seat, action in ((0, "turn"), (0, "6D-t1"), (2, "2H-f"), (0, "8D-t0"), (0, ""), (1, "wait")):
        with pytest.raises(IllegalAction):
            engine.play(state, {0: "wait", 2: "wait"} | {seat: action})


def test_everybody_plays_on_the_foundations_of_both_packs() -> None:
    engine = game()
    state = table(engine, side("KC 2H"), side("KD 2H"), centre="AH AH")

    state, events = act(engine, state, {0: "2H-f", 1: "2H-f"}, first=1)

    assert [event for event in events if isinstance(event, CardsMoved)] == [
        CardsMoved(1, "1n", "f4", ("2H",)),
        CardsMoved(0, "0n", "f5", ("2H",)),
    ]
    assert [side.centre for side in state.sides] == [1, 1]


def test_of_two_cards_for_one_foundation_that_drawn_first_counts_and_the_other_lapses() -> None:
    engine = game()
    state = table(engine, side("KC 2H", stock="9S"), side("KC 2H"), centre="AH")

    for first in (0, 1):
        after, events = act(engine, state, {0: "2H-f", 1: "2H-f"}, first=first)
        moved = CardsMoved(first, f"{first}n", "f4", ("2H",))
        assert events == (moved, Flip(f"{first}n", "KC"), Lapse(1 - first, "2H-f"))
        assert after.sides[1 - first] == state.sides[1 - first]


def test_a_card_that_a_partner_has_moved_moves_again_only_if_it_still_can() -> None:
    engine = game()
    state = table(engine, side("KC", ["6H", "7C", "7S"], stock="9S"))
    moved = CardsMoved(2, "0t0", "0t2", ("6H",))

    assert act(engine, state, {0: "6H-t2", 2: "6H-t2"}, first=2)[1] == (moved, Lapse(0, "6H-t2"))
    again = CardsMoved(0, "0t2", "0t1", ("6H",))
    assert act(engine, state, {0: "6H-t1", 2: "6H-t2"}, first=2)[1] == (moved, again)


def test_a_seat_alone_needs_no_lot_and_waits_count_for_none() -> None:
    engine = game()
    state = table(engine, side("KC 2H", ["3S"], stock="AD"), centre="AH")

    after, _ = engine.play(state, {0: "2H-f", 2: "wait"})
    assert after.tick == 2
    both, events = engine.play(state, {0: "2H-f", 2: "turn"})
    assert (engine.next(both), events) == (Shuffle(2), ())


@pytest.mark.parametrize(("how", "cards"), [("any", ["KC", "QS", "KD"]), ("king", ["KC", "KD"])])
def test_an_empty_column_takes_any_card_or_a_king_but_no_whole_column(how: str, cards: list[str]) -> None:
    """`empty_column`"""
    engine = game(empty_column=how)
    state = table(engine, side("KC", ["8H | KD QS", "9S", ""]))

    assert [action[:2] for action in engine.legal(state, 0) if action.endswith("t2")] == cards


@pytest.mark.parametrize(("how", "moves"), [("any", ["6D-f", "6D-t3", "7C-t2", "8H-t1"]), ("whole", ["6D-f", "8H-t1"])])
def test_runs_move_in_part_or_whole(how: str, moves: list[str]) -> None:
    """`runs`"""
    engine = game(runs=how)
    state = table(engine, side("KC", ["2D | 8H 7C 6D", "9S", "8D", "7S"]), centre="5D")

    assert [action for action in engine.legal(state, 0) if action[:2] in ("8H", "7C", "6D")] == moves


def test_a_run_moves_with_all_that_lies_on_it_and_uncovers_a_card() -> None:
    engine = game()
    state = table(engine, side("KC", ["2D | 8H 7C 6D", "9S"], stock="9S"))

    after, events = act(engine, state, {0: "8H-t1"})

    assert events == (CardsMoved(0, "0t0", "0t1", ("8H", "7C", "6D")), Flip("0t0", "2D"))
    assert after.sides[0].columns == (("2D",), ("9S", "8H", "7C", "6D"))
    assert after.idle == 0


def test_a_turn_brings_three_cards_and_the_last_of_a_pass_may_bring_fewer() -> None:
    """`turned`"""
    engine = game()
    state = table(engine, side(stock="AD 2D 3D 4D"))

    state, events = act(engine, state, {2: "turn"})
    assert events == (Turned(2, ("4D", "3D", "2D")),)
    state, events = act(engine, state, {2: "turn"})
    assert events == (Turned(2, ("AD",)),)
    state, events = act(engine, state, {2: "turn"})
    assert events == (Redeal(2, 4), Turned(2, ("4D", "3D", "2D")))
    assert state.sides[0].waste == ("4D", "3D", "2D")


def test_a_turn_that_would_change_nothing_is_not_listed() -> None:
    engine = game()

    assert "turn" not in engine.legal(table(engine, side(columns=["6H", "7C"], waste="2D 3D 4D")), 2)
    assert "turn" in engine.legal(table(engine, side(columns=["6H", "7C"], waste="2D 3D 4D 5D")), 2)


def test_a_seat_is_busy_while_a_turn_takes_its_ticks() -> None:
    """`turn_ticks` `redeal_ticks`"""
    engine = game(turn_ticks=2, redeal_ticks=1)
    state = table(engine, side("KC", ["6H", "7C", "7S"], stock="2D", waste="9D"))

    state, _ = act(engine, state, {2: "turn"})
    assert (engine.next(state), engine.view(state, 0).busy) == (Ask((0,)), (0, 0, 1, 0))
    state, _ = act(engine, state, {0: "6H-t1"})
    assert engine.next(state) == Ask((0, 2))
    state, _ = act(engine, table(engine, side("KC", ["6H", "7C", "7S"], waste="2D 3D 4D 5D")), {2: "turn"})
    assert engine.view(state, 0).busy == (0, 0, 2, 0)


def test_a_tick_in_which_all_are_busy_passes_by_itself() -> None:
    engine = game("nuts-2", turn_ticks=5)
    state = table(engine, side("KC", ["KD"], stock="2D 3D 4D 5D"))

    state, _ = act(engine, state, {0: "turn"})

    assert (state.tick, state.idle) == (6, 5)


@pytest.mark.parametrize(("how", "centre"), [("tick", [1, 1]), ("at_once", [1, 0])])
def test_the_tick_in_which_a_nuts_pile_empties_is_finished(how: str, centre: list[int]) -> None:
    """`nuts_out` `penalty`"""
    engine = game(nuts_out=how, penalty=3)
    state = table(engine, side("2H"), side("KD 2S"), centre="AH AS")

    state, events = act(engine, state, {0: "2H-f", 1: "2S-f"}, first=0)

    assert [side.centre for side in state.sides] == centre
    assert [event for event in events if isinstance(event, Lapse)] == [Lapse(1, "2S-f")] * (how == "at_once")
    points = [1, centre[1] - 3 * len(state.sides[1].nuts)]
    assert engine.next(state) == Result((1, 2, 1, 2), (*points, *points), "nuts")


def test_who_empties_the_nuts_pile_may_still_have_fewer_points() -> None:
    engine = game("nuts-2")
    state = table(engine, side("2H"), side("KD", centre=9), centre="AH")

    state, _ = act(engine, state, {0: "2H-f"})

    assert engine.next(state) == Result((2, 1), (1, 7), "nuts")
