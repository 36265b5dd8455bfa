"""The main version: rules 1 to 14, the rulings on them, and the guards against endless games."""

from collections import Counter

import pytest
from msgspec.structs import replace

from malice.referee.errors import IllegalAction
from malice.referee.games.spite.engine import choose_first_player
from malice.referee.games.spite.messages import CardMoved, Draw, Flip, Shuffled, TurnBegins
from malice.referee.rules import Shuffle

from .tables import act, after, cards, ends, game, list_legal, play_with_events, result, settle_shuffles, table, to_act

ENGINE = game()


def test_two_packs_without_jokers() -> None:
    """rule 1, `decks`, `jokers`, `players`."""
    deck = Counter(ENGINE.derived.deck)

    assert ENGINE.seats == 2
    assert (len(deck), set(deck.values())) == (52, {2})
    assert not any(card[0] == "W" for card in deck)


def test_suits_are_irrelevant() -> None:
    """rule 1."""
    state = table(ENGINE, "2C 2D 2H 2S 9C", centre=["AC"])

    assert [ends(list_legal(ENGINE, state), f"h2{suit}")[0] for suit in "CDHS"] == ["c0"] * 4


@pytest.mark.parametrize(("height", "needs"), list(enumerate("A23456789TJQ")))
def test_a_centre_stack_takes_the_next_rank_or_a_king(height: int, needs: str) -> None:
    """rule 2, rule 7, ruling 3.4, `wild_kings`, `wild_ban`."""
    stack = " ".join(f"{rank}C" for rank in "A23456789TJQ"[:height])
    every = [f"{rank}D" for rank in "A23456789TJQK"]
    state = table(ENGINE, " ".join(every), centre=[stack])

    fitting = [card for card in every if "c0" in ends(list_legal(ENGINE, state), f"h{card}")]

    assert fitting == [f"{needs}D", "KD"]


def test_the_deal() -> None:
    """rule 3, rule 5, `payoff_size`, `hand_size`, `centre_limit`, `side_count`."""
    state, events = ENGINE.shuffled(ENGINE.start(), range(104))
    deck = ENGINE.derived.deck

    assert [len(pile) for pile in state.payoffs] == [20, 20]
    assert [len(hand) for hand in state.hands] == [5, 5]
    assert state.stock == deck[:54]
    assert state.payoffs[0] == deck[:-21:-1]
    assert state.centre == ((), (), ())
    assert state.sides == (((), (), (), ()),) * 2
    assert events[1:3] == (Flip(0, state.payoffs[0][-1]), Flip(1, state.payoffs[1][-1]))


def test_the_next_pay_off_card_is_turned_up_at_once() -> None:
    """rule 3."""
    state = table(ENGINE, payoffs=["9C 2D AC", "QC"])

    state, events = play_with_events(ENGINE, state, "p-c0")

    assert events == (CardMoved(0, "0p", "c0", "AC"), Flip(0, "2D"))
    assert ENGINE.view(state, 1).seats[0].payoff.top == "2D"


@pytest.mark.parametrize(("rule", "starter"), [("high_payoff", 1), ("low_payoff", 0)])
def test_the_first_pay_off_cards_decide_who_starts(rule: str, starter: int) -> None:
    """rule 4, ruling 3.5, `first_player`."""
    engine = game(first_player=rule, payoff_size=1)
    order = _order_with_tops(engine.derived.deck, "QC", "KD")

    state, events = engine.shuffled(engine.start(), order)

    assert to_act(engine, state) == starter
    assert events[-1] == TurnBegins(starter)


def _order_with_tops(deck: tuple[str, ...], *tops: str) -> list[int]:
    """Return an order that deals `tops` as pay-off piles of one card."""
    places = [deck.index(top, 52 * number) for number, top in enumerate(tops)]
    rest = [place for place in range(len(deck)) if place not in places]
    return rest + places[::-1]


def test_equal_first_cards_are_shuffled_into_their_own_piles() -> None:
    """rule 4, `first_tie`."""
    state = table(ENGINE, payoffs=["2C 9C", "3D 9D"])

    state = choose_first_player(ENGINE.derived, state, [])
    assert state.mixing == cards("2C 9C")
    state, _ = ENGINE.shuffled(state, [1, 0])
    assert state.mixing == cards("3D 9D")
    state, events = ENGINE.shuffled(state, [1, 0])

    assert state.payoffs == (cards("9C 2C"), cards("9D 3D"))
    assert to_act(ENGINE, state) == 1
    assert events[:2] == (Shuffled("1p", "1p", 2), Flip(1, "3D"))


def test_after_too_many_ties_the_lot_decides() -> None:
    """ruling 3.5, `tie_cap`."""
    engine = game(payoff_size=1, tie_cap=3)
    state, _ = engine.shuffled(engine.start(), _order_with_tops(engine.derived.deck, "QC", "QC"))
    shuffles = 0
    while state.phase == "tie":
        state, _ = engine.shuffled(state, [0])
        shuffles += 1

    assert shuffles == 6
    assert engine.next(state) == Shuffle(2)
    assert to_act(engine, engine.shuffled(state, [1, 0])[0]) == 1


def test_three_centre_stacks_at_most() -> None:
    """rule 5, `centre_limit`."""
    full = table(ENGINE, "AD", centre=["AC", "AC 2C", "AC 2C 3C"])
    two = table(ENGINE, "AD", centre=["AC", "", ""])

    assert "c0" not in " ".join(ends(list_legal(ENGINE, full), "hAD"))
    assert [end for end in ends(list_legal(ENGINE, two), "hAD") if end[0] == "c"] == ["c1"]


def test_a_turn_begins_with_a_full_hand() -> None:
    """rule 6, `hand_size`, `refill_at`."""
    state = table(ENGINE, "9C", "TC JC", stock="2C 3C 4C 5C 6C 7C")

    state, events = play_with_events(ENGINE, state, "h9C-s0")

    assert events[1:] == (TurnBegins(1), Draw(1, cards("7C 6C 5C")))
    assert state.hands[1] == cards("5C 6C 7C TC JC")
    assert state.stock == cards("2C 3C 4C")


def test_hand_side_tops_and_pay_off_top_go_to_the_centre_in_any_order() -> None:
    """rule 7."""
    state = table(ENGINE, "AC 3C 9C", payoffs=["QC 2D", "QC"], sides=[["9D 4C"]])

    state = after(ENGINE, state, "hAC-c0", "p-c0", "h3C-c0", "s0-c0")

    assert state.centre[0] == cards("AC 2D 3C 4C")
    assert state.sides[0][0] == cards("9D")
    assert to_act(ENGINE, state) == 0


def test_a_discard_goes_on_any_side_stack_and_ends_the_turn() -> None:
    """rule 8, ruling 3.9, `side_rule`, `discard`."""
    state = table(ENGINE, "9C", sides=[["2C", "KC", "", ""]])

    assert ends(list_legal(ENGINE, state), "h9C") == ["s0", "s1", "s2"]
    assert "pass" not in list_legal(ENGINE, state)
    assert to_act(ENGINE, after(ENGINE, state, "h9C-s1")) == 1


@pytest.mark.parametrize(
    "action", ["p-s0", "s0-s1", "c0-s0", "c0-c1", "s0-1p", "p-1p", "1p-c0", "1s0-c0", "pass", "count", ""]
)
def test_what_is_forbidden_is_refused(action: str) -> None:
    """rule 9."""
    state = table(ENGINE, "9C", payoffs=["3C 2C", "3D 2D"], sides=[["2C"], ["2C"]], centre=["AC"])

    with pytest.raises(IllegalAction, match="expected a legal action of seat 0"):
        act(ENGINE, state, action)


def test_a_king_takes_the_next_value_in_the_centre_and_none_on_a_side_stack() -> None:
    """rule 10, ruling 3.3."""
    state = table(ENGINE, "KC 3C KD", centre=["AC"], sides=[["9C"]])

    state = after(ENGINE, state, "hKC-c0", "h3C-c0", "hKD-s0")

    assert state.heights[0] == 3
    assert state.centre[0] == cards("AC KC 3C")
    assert state.sides[0][0] == cards("9C KD")


def test_a_hand_played_out_is_filled_and_the_turn_goes_on() -> None:
    """rule 11."""
    state = table(ENGINE, "AC", stock="2C 3C 4C 5C 6C 7C")

    state, events = play_with_events(ENGINE, state, "hAC-c0")

    assert events[-1] == Draw(0, cards("7C 6C 5C 4C 3C"))
    assert (to_act(ENGINE, state), state.turn) == (0, 1)


ELEVEN = "AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC"


@pytest.mark.parametrize("last", ["QD", "KD"])
def test_a_completed_stack_is_shuffled_into_the_stock(last: str) -> None:
    """rule 12, rulings 3.1 to 3.3, `recycle`, `stack_top`."""
    state = table(ENGINE, f"{last} 9D", centre=[ELEVEN], stock="2D 3D")

    waiting, events = act(ENGINE, state, f"h{last}-c0")
    state, _ = ENGINE.shuffled(waiting, range(13, -1, -1))

    assert ENGINE.next(waiting) == Shuffle(14)
    assert events[-1] == Shuffled("c0", "stock", 12)
    assert state.stock == cards(f"{last} JC TC 9C 8C 7C 6C 5C 4C 3C 2C AC 3D 2D")
    assert (state.centre[0], to_act(ENGINE, state)) == ((), 0)


def test_gamerules_puts_a_completed_stack_under_the_stock() -> None:
    """rule 12, `recycle`."""
    engine = game("gamerules")
    state = table(engine, "QD 9D", centre=[ELEVEN], stock="2D 3D")

    state = after(engine, state, "hQD-c0")

    assert state.stock == cards(f"{ELEVEN} QD 2D 3D")


def test_the_last_pay_off_card_wins() -> None:
    """rule 13, `scoring`."""
    state = table(ENGINE, payoffs=["AC", "2C 3C 4C"])

    won = result(ENGINE, after(ENGINE, state, "p-c0"))

    assert (won.places, won.scores, won.reason) == ((1, 2), (8, 0), "payoff_empty")


def test_an_unfillable_hand_is_a_draw() -> None:
    """rule 14, rulings 3.6 and 3.7, `stock_out_when`, `stock_out_result`."""
    state = table(ENGINE, "9C", "", payoffs=["AC", "2C 3C"], stock="2C 3C 4C 5C")

    drawn = result(ENGINE, after(ENGINE, state, "h9C-s0"))

    assert (drawn.places, drawn.scores, drawn.reason) == ((1, 1), (0, 0), "stock_out")


def test_the_stock_is_out_when_a_hand_played_out_cannot_be_filled() -> None:
    """ruling 3.8."""
    state = table(ENGINE, "AC", payoffs=["3C 2C", "4C"], stock="2C 3C 4C 5C")

    assert result(ENGINE, after(ENGINE, state, "hAC-c0")).reason == "stock_out"


def test_a_player_may_stop_although_plays_exist() -> None:
    """ruling 3.10, ruling 3.12."""
    state = table(ENGINE, "AC 9C", payoffs=["2C AD", "4C"])

    assert {"p-c0", "hAC-c0", "h9C-s0", "hAC-s0"} <= set(list_legal(ENGINE, state))


def test_the_last_hand_card_discarded_is_replaced_at_the_next_own_turn() -> None:
    """ruling 3.11."""
    state = table(ENGINE, "9C")

    assert after(ENGINE, state, "h9C-s0").hands[0] == ()


def test_the_last_pay_off_card_wins_before_a_draw() -> None:
    """ruling 3.24."""
    state = table(ENGINE, "AC", payoffs=["2C", "3C"], stock="", centre=["AD"])

    assert result(ENGINE, after(ENGINE, state, "p-c0")).reason == "payoff_empty"


def test_a_stack_completed_by_the_last_hand_card_feeds_the_draw() -> None:
    """ruling 3.24."""
    state = table(ENGINE, "QD", centre=[ELEVEN], stock="")

    state, events = play_with_events(ENGINE, state, "hQD-c0")

    assert [type(event) for event in events] == [CardMoved, Shuffled, Draw]
    assert len(state.hands[0]) == 5


def test_standard_differs_from_classic_in_who_wins_when_the_stock_is_out() -> None:
    """rule 26, ruling 3.7, `stock_out_result`."""
    engine = game("standard")
    state = table(engine, "9C", "", payoffs=["AC", "2C 3C"], stock="2C 3C 4C 5C")

    won = result(engine, after(engine, state, "h9C-s0"))

    assert (won.places, won.scores, won.reason) == ((1, 2), (1, 0), "stock_out")


def test_the_game_ends_after_so_many_turns() -> None:
    """Termination, `max_turns`."""
    engine = game(max_turns=2)
    state = table(engine, "9C", payoffs=["AC", "2C 3C"], turn=4)

    over = result(engine, after(engine, state, "h9C-s0"))

    assert (over.places, over.reason) == ((1, 2), "max_turns")
    assert to_act(engine, after(engine, replace(state, turn=3), "h9C-s0")) == 1


def test_the_game_ends_without_progress() -> None:
    """Termination, `no_progress`."""
    engine = game(no_progress=2)
    state = table(engine, "9C 8C", payoffs=["2C AC", "2C 3C"], quiet=4)

    over = result(engine, after(engine, state, "h9C-s0"))

    assert (over.places, over.reason) == ((1, 1), "no_progress")
    assert after(engine, state, "p-c0", "h9C-s0").quiet == 1


def test_a_withdrawn_seat_loses_and_the_other_scores_what_it_left() -> None:
    """ruling 3.25."""
    state = table(ENGINE, payoffs=["2C", "2C 3C 4C"])

    over = result(ENGINE, ENGINE.withdraw(state, (0,))[0])

    assert (over.places, over.scores, over.reason) == ((2, 1), (0, 6), "forfeit")


def test_a_seat_may_withdraw_before_the_deal() -> None:
    engine = game("multi-3", first_player="seat")

    state, _ = settle_shuffles(engine, engine.withdraw(engine.start(), (0,))[0])

    assert to_act(engine, state) == 1


def test_one_string_for_equal_cards_and_for_equal_empty_places() -> None:
    state = table(ENGINE, "AC AC 9C", sides=[["", "9D"]])

    assert list_legal(ENGINE, state) == ("hAC-c0", "hAC-s0", "hAC-s1", "h9C-s0", "h9C-s1")


def test_actions_are_listed_by_source_then_target() -> None:
    state = table(ENGINE, "2S 3H 2C", payoffs=["9C 2H", "QC"], centre=["AC", "AC 2C"], sides=[["2D"]])

    assert list_legal(ENGINE, state) == (
        *("p-c0", "h2C-c0", "h2C-s0", "h2C-s1", "h2S-c0", "h2S-s0", "h2S-s1"),
        *("h3H-c1", "h3H-s0", "h3H-s1", "s0-c0"),
    )
