"""The rules, play by play, on tables laid by hand; docstrings name the parameters that a test is about."""

import ast
from pathlib import Path
from typing import Any

import pytest

from malice.referee.errors import RulesetError
from malice.referee.games.double_solitaire import DoubleSolitaire
from malice.referee.games.double_solitaire.messages import CardsMoved, Deal, Draw, End, Exchanged, TurnedOver
from malice.referee.games.double_solitaire.parameters import Parameters
from malice.referee.rules import Result

from .tables import act, cards, game, lay


def test_four_cards_lie_open_and_the_others_are_dealt_alternately() -> None:
    """`table_piles`"""
    engine = game()
    state, (dealt, drawn) = engine.shuffled(engine.start(), range(52))

    assert dealt == Deal((("KS",), ("QS",), ("JS",), ("TS",)), (24, 24))
    assert drawn == Draw(0, "2C")
    assert state.stocks[0][:3] == cards("9S 7S 5S")
    assert state.stocks[1][-3:] == cards("5C 3C AC")


@pytest.mark.parametrize(("choice", "drawn"), [("keep", "2C"), ("exchange", "AC")])
def test_the_stocks_may_be_exchanged_unseen_before_the_first_card_is_taken(choice: str, drawn: str) -> None:
    """`exchange`"""
    engine = game(exchange=True)
    state, events = engine.shuffled(engine.start(), range(52))

    assert [type(event) for event in events] == [Deal]
    assert (engine.view(state, 0).turn, engine.view(state, 0).card) == (0, None)
    assert (engine.legal(state, 0), engine.legal(state, 1)) == (("exchange", "keep"), ())
    after, events = act(engine, state, choice)
    assert events == (*([Exchanged(0)] if choice == "exchange" else []), Draw(0, drawn))
    assert (after.turn, len(after.stocks[0]), len(after.stocks[1])) == (1, 23, 24)
    over, _ = engine.withdraw(state, (0,))
    assert isinstance(over.result, Result)
    assert over.result.places == (2, 1)


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"table_piles": 3}, "table_piles"), ({"table_piles": 0}, "table_piles"), ({"passes": 0}, "passes")],
)
def test_parameters_that_make_no_game_are_refused(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(RulesetError, match=field):
        game(**changes)


def test_it_is_a_game_for_two() -> None:
    with pytest.raises(RulesetError, match="2 seats, got 3"):
        DoubleSolitaire(Parameters(), 3)


@pytest.mark.parametrize(
    ("card", "legal"),
    [
        ("AS", "h-f d-o t2-t1"),  # an ace begins its foundation
        ("4C", "h-f h-t0 d-o t2-t1"),  # which goes up in suit
        ("4S", "h-t0 d-o t2-t1"),  # one rank lower, other colour
        ("4D", "h-o d-o t2-t1"),  # the opponent's pile: in suit, one rank lower
        ("6D", "h-o d-o t2-t1"),  # or higher
        ("KH", "d-o t2-t1"),
    ],
)
def test_the_card_in_hand_goes_where_it_fits(card: str, legal: str) -> None:
    """`loading`"""
    state = lay("5H", "8C", "7D", "JD", card=card, discards=("6D", "5D"), heights=(3, 0, 0, 0))

    assert [*game().legal(state, 0)] == [*legal.split(), "h-d"]


@pytest.mark.parametrize(("loading", "legal"), [("all", "d-o t0-o h-d"), ("pack", "d-o h-d"), ("none", "h-d")])
def test_what_may_be_loaded_is_a_parameter(loading: str, legal: str) -> None:
    """`loading`"""
    state = lay("4S", "KH", "KC", "KD", card="9C", discards=("QS 6S", "5S"))

    assert [*game(loading=loading).legal(state, 0)] == legal.split()


def test_nothing_is_loaded_on_an_empty_pile_and_no_ace_on_a_king() -> None:
    """`loading`"""
    assert game().legal(lay("8S", "8C", "TS", "TC", card="KD"), 0) == ("h-d",)
    ace = lay("8S", "8C", "TS", "TC", card="AD", discards=("", "KD"), heights=(0, 1, 0, 0))
    assert game().legal(ace, 0) == ("h-d",)


@pytest.mark.parametrize(
    ("moves", "legal"),
    [
        ("top", "t0-t2 t2-t3 t3-t1"),
        ("top_or_pile", "t0x3-t1 t0-t2 t2-t3 t3-t1"),
        ("run", "t0x3-t1 t0-t2 t0x2-t3 t2-t3 t3-t1"),
    ],
)
def test_what_moves_on_the_table_is_a_parameter(moves: str, legal: str) -> None:
    """`table_moves`"""
    state = lay("8H 7S 6H", "9S", "7C", "8D", card="KS")

    assert [*game(table_moves=moves).legal(state, 0)] == [*legal.split(), "h-d"]


@pytest.mark.parametrize(
    ("empty", "legal"), [("any", "h-t2 d-t2 t0x2-t1 t0-t2"), ("king", "d-t2 t0x2-t1"), ("none", "t0x2-t1")]
)
def test_what_an_empty_pile_takes_is_a_parameter_and_a_whole_pile_stays(empty: str, legal: str) -> None:
    """`empty_pile`"""
    state = lay("8H 7S", "9C", card="3D", discards=("KD", ""))

    assert [*game(empty_pile=empty).legal(state, 0)] == [*legal.split(), "h-d"]


def test_a_foundation_may_be_compulsory() -> None:
    """`compulsory`"""
    state = lay("2D", "KC", "KD", "KS", card="AD", discards=("AS", ""), heights=(0, 0, 0, 0))

    assert game(compulsory="foundation").legal(state, 0) == ("h-f", "d-f")
    assert len(game().legal(state, 0)) > 2


def test_a_turn_ends_by_a_discard_or_once_the_card_was_played() -> None:
    engine = game()
    start = lay("6S", "KC", "KD", "KS", card="5D")
    state, events = act(engine, start, "h-d")
    assert events == (CardsMoved(0, "h", "0d", ("5D",)), Draw(1, "QD"))
    assert (state.seat, state.turn, state.discards) == (1, 2, (("5D",), ()))

    state, events = act(engine, start, "h-t0")
    assert (state.seat, state.card, events) == (0, None, (CardsMoved(0, "h", "t0", ("5D",)),))
    assert engine.legal(state, 0)[-1] == "end"
    state, events = act(engine, state, "end")
    assert events == (End(0), Draw(1, "QD"))


def test_no_position_recurs_within_a_turn() -> None:
    engine = game()
    state = lay("6S 5D", "6C", "KD", "KS", card="9H")
    state, _ = act(engine, state, "t0-t1")
    assert "t1-t0" not in engine.legal(state, 0)

    state, _ = act(engine, state, "h-d", "h-d")
    assert "t1-t0" in engine.legal(state, 0), "in another turn it may"


def test_places_of_piles_do_not_tell_positions_apart() -> None:
    engine = game()
    state, _ = act(engine, lay("6S 5D", "", "KD", "KS", card="9H"), "t0-t1")

    assert state.table[:2] == (("6S",), ("5D",))
    assert engine.legal(state, 0) == ("h-d",) or "t1-t0" not in engine.legal(state, 0)


def test_a_play_that_nothing_undoes_begins_anew() -> None:
    engine = game()
    state, _ = act(engine, lay("6S 5D", "6C", "KD", "KS", card="AS"), "t0-t1", "h-f")

    assert "t1-t0" in engine.legal(state, 0)


def test_a_seat_without_stock_turns_its_discard_pile_over_unshuffled() -> None:
    engine = game()
    state, events = act(engine, lay("6S", stocks=("KC", ""), discards=("", "2S 9S 4S")), "h-d")

    assert events[1:] == (TurnedOver(1, 3), Draw(1, "2S"))
    assert state.stocks[1] == cards("4S 9S")


@pytest.mark.parametrize("action", ["h-f", "h-t0", "h-o"])
def test_a_seat_without_stock_discard_and_card_wins_at_once(action: str) -> None:
    engine = game()
    state = lay("2D", "KC", "KD", "KS", card="AS", stocks=("", "9C"), discards=("", "2S"))
    state, _ = act(engine, state, action)

    assert engine.next(state) == Result((1, 2), (1, 0), "pack_empty")


def test_two_passes_of_both_packs_without_a_play_end_the_game() -> None:
    """`passes` `stuck_result`"""
    for passes, result, places in ((2, "fewest", (1, 2)), (1, "draw", (1, 1))):
        engine = game(passes=passes, stuck_result=result, loading="none")
        state = lay("6S", "6C", "KD", "KS", card="9H", stocks=("9D", "9C 9S TS"))
        turns = 0
        while not isinstance(step := engine.next(state), Result):
            state, _ = act(engine, state, "h-d")
            turns += 1
        # Two cards and three: the third of the larger pack comes in the sixth turn.
        assert (step.reason, step.places, turns) == ("stuck", places, 6 * passes)


def test_a_play_of_anybody_begins_the_count_of_passes_anew() -> None:
    """`passes`"""
    engine = game()
    state, _ = act(engine, lay("6S 5D", "6C", "KD", "KS", card="9H", quiet=(3, 4)), "t0-t1", "h-d")

    assert state.quiet == (0, 0)


@pytest.mark.parametrize("cap", ["no_progress", "max_turns"])
def test_caps_end_games_of_bots_that_only_move_cards_around(cap: str) -> None:
    """`no_progress` `max_turns`"""
    engine = game(**{cap: 3})
    state = lay("6S 5D", "6C", "KD", "KS", card="9H", stocks=("2C 2D 2H", "3S 4H QC"))
    for turn in range(1, 7):
        assert not state.result
        back = f"t{1 - turn % 2}-t{turn % 2}"
        state, _ = act(engine, state, back, "h-d")

    assert engine.next(state) == Result((2, 1), (0, 1), cap)


def test_a_card_on_a_foundation_is_progress() -> None:
    """`no_progress`"""
    engine = game(no_progress=1)
    state, _ = act(engine, lay("6S", card="AS", discards=("2S", ""), barren=1), "h-f", "end")

    assert state.barren == 0
    assert state.result is None


def test_every_parameter_has_a_test() -> None:
    docstrings = " ".join(
        ast.get_docstring(node) or ""
        for node in ast.parse(Path(__file__).read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
    )

    assert [field for field in Parameters.__struct_fields__ if f"`{field}`" not in docstrings] == []
