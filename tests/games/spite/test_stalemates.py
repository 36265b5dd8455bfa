"""Stalemates: what counts as a round of passes, and what follows from it: rule 37."""

import pytest
from msgspec.structs import replace

from malice.referee.games.spite.messages import Draw, Pass, Shuffled, TurnBegins
from malice.referee.rules import Shuffle
from malice.referee.rulesets import load_ruleset

from .tables import (
    FIVE,
    FULL,
    STOCK,
    TWELVE,
    act,
    after,
    cards,
    game,
    list_legal,
    result,
    settle_shuffles,
    table,
    to_act,
)

BOOK = game("book")


def test_two_passes_are_a_stalemate_which_ends_the_game() -> None:
    """rule 37 a, ruling 3.17, `stalemate`, `stalemate_result`."""
    engine = game("book", stalemate="end")
    state = table(engine, "9C", payoffs=["2C 3C", "2C"], sides=FULL * 2)

    over = result(engine, after(engine, state, "pass", "pass"))

    assert (over.places, over.scores, over.reason) == ((2, 1), (0, 1), "stalemate")


def test_a_stalemate_can_be_a_draw() -> None:
    """rule 37, `stalemate_result`."""
    engine = game("book", stalemate="end", stalemate_result="draw")

    over = result(engine, after(engine, table(engine, payoffs=["2C 3C", "2C"]), "pass", "pass"))

    assert (over.places, over.scores) == ((1, 1), (0, 0))


def test_a_turn_with_a_card_played_ends_the_series_of_passes() -> None:
    """rule 37, ruling 3.17, `stalemate`."""
    engine = game("book", stalemate="end")
    state = table(engine, "AC 9C", "5D 6D 7D 8D 9D")

    state = after(engine, state, "hAC-c0", "pass", "pass")
    assert to_act(engine, state) == 0
    state = after(engine, state, "h9C-s0", "pass")
    assert to_act(engine, state) == 0
    assert result(engine, after(engine, state, "pass")).reason == "stalemate"


def test_a_card_ends_the_series_of_passes_even_if_its_seat_leaves_in_the_same_turn() -> None:
    """rule 37, rule 56, correction 6.1, `stock_out_when`."""
    engine = game("skipbo", 3)
    payoffs = ["5X 4X", "5X 6X", "7X 8X"]
    state = table(engine, "", "", "", payoffs=payoffs, sides=[[], ["AX"]], centre=["AX 2X 3X"], stock="")

    state = after(engine, state, "pass", "s0-c1")
    state, _ = engine.withdraw(state, (1,))
    state = after(engine, state, "pass")

    assert to_act(engine, state) == 0
    assert list_legal(engine, state) == ("p-c0", "pass")


def test_a_card_ends_the_series_of_passes_even_if_its_seat_leaves_while_the_stock_is_shuffled() -> None:
    """rule 37, correction 6.1, `stalemate`."""
    engine = game("book", 3, players=(3, 3), payoff_source="mixed", stalemate="end", recycle="shuffle")
    state = table(engine, "9C", "KC 9C", "9C", payoffs=["9C", "9C", "9C"], centre=[TWELVE])

    state = after(engine, state, "pass")
    state, _ = act(engine, state, "hKC-c0")
    assert isinstance(engine.next(state), Shuffle)
    state, _ = settle_shuffles(engine, engine.withdraw(state, (1,))[0])
    state = after(engine, state, "pass")

    assert to_act(engine, state) == 0


def test_a_card_of_a_seat_that_leaves_ends_what_a_stalemate_forces() -> None:
    """rule 37 b, correction 6.1, `stalemate`."""
    engine = game("book", 3, players=(3, 3), payoff_source="mixed", stalemate="must_play")
    state = table(engine, "AC 5C", "9C", "AD 9C", payoffs=["9C", "9C", "9C"])

    state = after(engine, state, "pass", "pass", "pass", "hAC-c0")
    state, _ = engine.withdraw(state, (0,))
    state = after(engine, state, "pass")

    assert {"pass", "h9C-s0"} <= set(list_legal(engine, state))


@pytest.mark.parametrize("stalemate", ["end", "must_play", "redeal"])
def test_the_pass_of_a_seat_that_left_stands_for_nobody(stalemate: str) -> None:
    """rule 37, correction 6.2, `stalemate`, `teams`."""
    engine = game("partners-6", discard="optional", stalemate=stalemate)
    state = after(engine, table(engine, payoffs=["9C"] * 6), "pass", "pass", "pass")

    state, _ = engine.withdraw(state, (3,))
    state = after(engine, state, "pass")

    assert to_act(engine, state) == 5
    assert not state.pressed
    assert state.redeals == 0
    state = after(engine, state, "pass")
    if stalemate == "end":
        assert result(engine, state).reason == "stalemate"
    else:
        assert (state.pressed, state.redeals) == (stalemate == "must_play", int(stalemate == "redeal"))


@pytest.mark.parametrize(
    ("preset", "hands", "actions", "reason"),
    [
        ("skipbo", ["", "9X", ""], ["pass", "h9X-s0", "pass", "pass"], "stock_out"),
        ("multi-3", [FIVE] * 3, ["h6D-s0", "h6D-s0", "pass", "pass"], "stalemate"),
    ],
)
def test_a_round_of_passes_is_complete_once_the_seat_whose_pass_was_missing_leaves(
    preset: str, hands: list[str], actions: list[str], reason: str
) -> None:
    """rule 37, correction 6.10, `stalemate`, `stock_out_when`."""
    engine = game(preset, 3, **({"discard": "optional"} if preset == "multi-3" else {}))
    payoffs = ["5X 4X", "5X 6X", "7X 8X"] if preset == "skipbo" else ["9C"] * 3
    state = after(engine, table(engine, *hands, payoffs=payoffs, stock="" if preset == "skipbo" else STOCK), *actions)
    assert to_act(engine, state) == 1, "seats 2 and 0 have passed since"

    state, _ = engine.withdraw(state, (1,))

    over = result(engine, state)
    assert (over.reason, over.places[1]) == (reason, 3)


@pytest.mark.parametrize("stalemate", ["must_play", "redeal"])
def test_what_follows_a_stalemate_begins_with_the_seat_after_the_one_that_left(stalemate: str) -> None:
    """rule 37, correction 6.10, `stalemate`, `refill_at`."""
    engine = game("multi-3", discard="optional", stalemate=stalemate, refill_at="turn_end")
    state = after(engine, table(engine, "AC 9C", "AD", payoffs=["9C"] * 3), "pass", "pass")

    state, _ = settle_shuffles(engine, engine.withdraw(state, (2,))[0])

    assert (to_act(engine, state), state.pressed, state.redeals) == (
        (0, True, 0) if stalemate == "must_play" else (0, False, 1)
    )
    assert state.hands[2] == cards(FIVE), "a seat that left draws no cards"


def test_a_stalemate_can_force_aces_and_twos_out_of_the_hands() -> None:
    """rule 37 b, `stalemate`."""
    engine = game("book", stalemate="must_play")
    state = table(engine, "5D 6D 7D 8D 9D", "AC AD 5C 6C 7C", payoffs=["9C", "9D"])

    state = after(engine, state, "pass", "pass")
    assert to_act(engine, state) == 0, "seat 0 holds none: its turn is free"
    state = after(engine, state, "pass")
    assert list_legal(engine, state) == ("hAC-c0", "hAD-c0")
    state = after(engine, state, "hAC-c0")
    assert {"hAD-c1", "pass", "h5C-s0"} <= set(list_legal(engine, state)), "one such card is enough"


def test_a_round_of_passes_with_nothing_to_force_ends_the_game() -> None:
    """rule 37 b, `stalemate`."""
    engine = game("book", stalemate="must_play")
    state = table(engine, payoffs=["9C", "9D"])

    state = after(engine, state, "pass", "pass", "pass")

    assert result(engine, after(engine, state, "pass")).reason == "stalemate"


def test_a_stalemate_can_lead_to_a_new_deal() -> None:
    """rule 37, ruling 3.17, `stalemate`, `redeals`."""
    state = table(BOOK, payoffs=["9C TC", "9D"], sides=[["5C 4C"]], centre=["AC"], stock="2H 3H", aside=("4H",))

    waiting, events = act(BOOK, after(BOOK, state, "pass"), "pass")
    assert BOOK.next(waiting) == Shuffle(5 + 5 + 2 + 1 + 2 + 1)
    assert events == (
        *(Pass(1), Shuffled("0h", "stock", 5), Shuffled("1h", "stock", 5), Shuffled("0s0", "stock", 2)),
        *(Shuffled("c0", "stock", 1), Shuffled("aside", "stock", 1)),
    )
    state, events = settle_shuffles(BOOK, waiting)
    assert [type(event) for event in events] == [Draw, Draw, TurnBegins]
    assert (state.centre, state.heights, state.sides[0]) == (((),) * 4, (0,) * 4, ((),) * 4)
    assert [len(pile) for pile in (*state.hands, state.stock, *state.payoffs)] == [5, 5, 6, 2, 1]
    assert (to_act(BOOK, state), state.redeals, state.passed) == (0, 1, ())


def test_a_redeal_leaves_the_cards_of_a_seat_that_was_withdrawn() -> None:
    """ruling 3.17, correction 6.7, `stalemate`."""
    engine = game("book", 3, players=(3, 3), payoff_source="mixed")
    state = table(engine, payoffs=["9C"] * 3, sides=[["5C"], ["6C"], ["7C"]])

    state, _ = engine.withdraw(state, (1,))
    state = after(engine, state, "pass", "pass")

    assert state.redeals == 1
    assert (state.hands[1], state.sides[1][0]) == (cards(FIVE), ("6C",))
    assert (state.sides[0][0], state.sides[2][0]) == ((), ())


@pytest.mark.parametrize(("preset", "stalemate"), [("book-end", "end"), ("book-must-play", "must_play")])
def test_the_other_endings_of_the_book_have_rulesets(preset: str, stalemate: str) -> None:
    """rule 37, correction 6.6, `stalemate`."""
    assert load_ruleset(preset).rules == replace(load_ruleset("book").rules, stalemate=stalemate)


def test_after_so_many_redeals_a_stalemate_ends_the_game() -> None:
    """ruling 3.17, `redeals`."""
    state = table(BOOK, payoffs=["9C TC", "9D"], redeals=3)

    assert result(BOOK, after(BOOK, state, "pass", "pass")).places == (2, 1)
