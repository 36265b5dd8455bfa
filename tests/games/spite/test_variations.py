"""More seats, partners, and the variations of the main version: rules 15 to 30."""

import pytest
from msgspec.structs import replace

from malice.protocol.cards import HIDDEN
from malice.referee.games.spite.messages import CardMoved, Draw, Flip, Shuffled, TurnBegins

from .tables import FIVE, after, cards, ends, game, list_legal, play_with_events, result, table, to_act

ELEVEN = "AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC"


def test_play_passes_from_seat_to_seat() -> None:
    """rule 15, `players`."""
    engine = game("multi-3")
    state = table(engine, "9C")

    turns = [to_act(engine, state)]
    for _ in range(3):
        state = after(engine, state, f"h{state.hands[state.seat][0]}-s0")
        turns.append(to_act(engine, state))

    assert turns == [0, 1, 2, 0]


@pytest.mark.parametrize(("seats", "deck"), [(3, 156), (4, 208), (8, 416)])
def test_one_pack_and_one_centre_stack_more_than_seats(seats: int, deck: int) -> None:
    """rule 15, rule 16, `decks`, `centre_limit`."""
    engine = game("multi", seats)

    assert len(engine.derived.deck) == deck
    assert engine.derived.centre_slots == seats + 1


@pytest.mark.parametrize("seats", [3, 4])
def test_three_packs_for_three_or_four(seats: int) -> None:
    """rule 19, correction 6.6, `decks`."""
    derived = game("multi-3-decks", seats).derived

    assert (len(derived.deck), derived.payoff_size, derived.centre_slots) == (156, 20, seats + 1)


def test_those_who_lose_rank_by_what_they_have_left() -> None:
    """rule 15, ruling 3.23, `scoring`."""
    engine = game("multi-4")
    state = table(engine, payoffs=["AC", "2C 3C", "2C", "2C 3C"])

    over = result(engine, after(engine, state, "p-c0"))

    assert (over.places, over.scores) == ((1, 3, 2, 3), (10, 0, 0, 0))


@pytest.mark.parametrize(
    ("preset", "teams"), [("partners-4", (0, 1, 0, 1)), ("partners-6", (0, 1, 2, 0, 1, 2)), ("multi-3", (0, 1, 2))]
)
def test_partners_sit_opposite(preset: str, teams: tuple[int, ...]) -> None:
    """rule 17, `teams`."""
    assert game(preset).teams == teams


def test_partners_lend_their_tops_to_the_centre_only() -> None:
    """rule 17, `teams`."""
    engine = game("partners-4")
    sides = [["2C"], ["2H"], ["2S", "5S"], ["2H"]]
    state = table(engine, "9C", payoffs=["2D", "2H", "QC 2S", "2H"], sides=sides, centre=["AC"])

    assert list_legal(engine, state) == ("p-c0", "2p-c0", "2s0-c0", "h9C-s0", "h9C-s1", "s0-c0")
    state, events = play_with_events(engine, state, "2p-c0")
    assert events == (CardMoved(0, "2p", "c0", "2S"), Flip(2, "QC"))
    assert (state.quiet, to_act(engine, state)) == (0, 0)


def test_a_team_wins_when_all_its_pay_off_piles_are_empty() -> None:
    """rule 18, ruling 3.21, `teams`."""
    engine = game("partners-4")
    state = table(engine, "9C", payoffs=["AC", "2H", "2S", "2H 3H"])

    going_on = after(engine, state, "p-c0")
    over = result(engine, after(engine, going_on, "2p-c0"))

    assert (to_act(engine, going_on), engine.view(going_on, 0).seats[0].payoff.left) == (0, 0)
    assert (over.places, over.scores) == ((1, 2, 1, 2), (8, 0, 8, 0))


def test_an_empty_pay_off_pile_goes_on_taking_turns() -> None:
    """ruling 3.21."""
    engine = game("partners-4")
    state = table(engine, "9C", "9D", payoffs=["2C", "", "2S", "2H 3H"])

    assert to_act(engine, after(engine, state, "h9C-s0")) == 1


def test_a_team_that_withdraws_ranks_last_and_the_first_out_lowest() -> None:
    """rule 18, `teams`."""
    engine = game("partners-6")
    state = table(engine)

    state, events = engine.withdraw(state, (3,))
    assert (state.out, events[0]) == ((0, 3), TurnBegins(1))
    over = result(engine, engine.withdraw(state, (1,))[0])

    assert over.places == (3, 2, 1, 3, 2, 1)


def test_the_wiki_deals_a_share_of_all_cards() -> None:
    """rule 19, `payoff_size`, `wild_ban`."""
    assert game("wiki").derived.payoff_size == 22
    assert game("wiki-4").derived.payoff_size == 16
    assert "KC" not in game("wiki").derived.fits[0]


def test_centre_stacks_without_limit() -> None:
    """rule 20, ruling 3.20, `centre_limit`, `recycle`."""
    engine = game("unlimited")
    state = table(engine, "AC AD AH QC 9C", centre=[ELEVEN])

    state, events = play_with_events(engine, state, "hQC-c0")
    assert (events[-1], state.aside) == (Shuffled("c0", "aside", 12), cards(f"{ELEVEN} QC"))
    state = after(engine, state, "hAC-c0", "hAD-c1", "hAH-c2")

    assert state.centre == (("AC",), ("AD",), ("AH",))


def test_a_stock_that_is_short_is_made_anew_from_what_lies_aside() -> None:
    """rule 20, rule 44, `recycle`."""
    engine = game("unlimited")
    state = table(engine, "9C", "8D 9D", stock="2C", aside=cards("AC 3C 4C"))

    state, events = play_with_events(engine, state, "h9C-s0")

    assert events[1:] == (TurnBegins(1), Shuffled("aside", "stock", 3), Draw(1, cards("2C 4C 3C")))
    assert (state.stock, state.aside) == (("AC",), ())


def test_four_centre_stacks() -> None:
    """rule 21, `centre_limit`."""
    engine = game("four-stacks")
    state = table(engine, "AC", centre=["AC", "AC", "AC"])

    assert ends(list_legal(engine, state), "hAC")[0] == "c3"


@pytest.mark.parametrize(("hand", "payoff"), [("AC 9C", "QC"), ("9C", "AC"), ("AC 9C", "AD")])
def test_aces_must_be_played_at_once(hand: str, payoff: str) -> None:
    """rule 22, ruling 3.14, `compulsory.hand`, `compulsory.payoff`."""
    engine = game("aces")
    state = table(engine, hand, payoffs=[f"2C {payoff}"], sides=[["AH"]], centre=["AS"])

    forced = [f"h{card}-c1" for card in hand.split() if card[0] == "A"]

    assert list_legal(engine, state) == (*["p-c1"] * (payoff[0] == "A"), *forced)


def test_what_cannot_be_played_is_not_forced_and_a_wild_card_never() -> None:
    """rule 22, ruling 3.14, `compulsory.hand`."""
    engine = game("aces", centre_limit=1)
    full = table(engine, "AC KC 9C", centre=["AS"])
    free = table(game("aces"), "KC 9C")

    assert "hAC-s0" in list_legal(engine, full)
    assert {"hKC-c0", "hKC-s0"} <= set(list_legal(game("aces"), free))


def test_the_opponent_is_loaded_in_suit_from_hand_and_pay_off_pile() -> None:
    """rule 23, `loading`."""
    engine = game("loading")
    state = table(engine, "7C 9C 9D KC", payoffs=["3C 7C", "QC 8C"], sides=[["9C"], ["7C"]])

    loads = [action for action in list_legal(engine, state) if action.endswith("-1p")]
    state, events = play_with_events(engine, state, "p-1p")

    assert loads == ["p-1p", "h7C-1p", "h9C-1p"]
    assert state.payoffs == (("3C",), cards("QC 8C 7C"))
    assert events == (CardMoved(0, "0p", "1p", "7C"), Flip(0, "3C"))
    assert to_act(engine, state) == 0
    assert state.quiet == 1, "a load is no progress"
    state, events = play_with_events(engine, table(engine, "7C 9C", payoffs=["QC", "8C"]), "h7C-1p")
    assert events == (CardMoved(0, "0h", "1p", "7C"),), "it is the top without a flip"
    assert engine.view(state, 0).seats[1].payoff.top == "7C"


@pytest.mark.parametrize(("top", "loads"), [("QD", "JD KD"), ("KD", "QD"), ("AD", "2D"), ("WX", "")])
def test_a_king_is_a_thirteen_and_a_joker_nothing(top: str, loads: str) -> None:
    """rule 23, ruling 3.15, `loading`."""
    engine = game("loading", jokers=2, compulsory=game().derived.rules.compulsory)
    state = table(engine, "AD 2D JD QD KD WX", payoffs=["QC", top])

    assert tuple(action[1:3] for action in list_legal(engine, state) if action.endswith("-1p")) == cards(loads)


def test_a_pay_off_pile_emptied_by_loading_wins() -> None:
    """ruling 3.15, `loading`."""
    engine = game("loading")
    state = table(engine, payoffs=["9C", "8C"])

    assert result(engine, after(engine, state, "p-1p")).places == (1, 2)


def test_a_hand_emptied_by_loading_is_filled() -> None:
    """ruling 3.15, `loading`."""
    engine = game("loading")
    state = table(engine, "9C", payoffs=["QC", "8C"])

    assert len(after(engine, state, "h9C-1p").hands[0]) == 5


def test_any_opponent_may_be_loaded_but_neither_partners_nor_who_left() -> None:
    """ruling 3.15, `loading`, `teams`."""
    engine = game("partners-6", loading="suit_adjacent")
    state = replace(table(engine, "9C", payoffs=["8C"] * 6), out=(2, 5))

    assert ends(list_legal(engine, state), "h9C") == ["s0", "1p", "4p"]


@pytest.mark.parametrize("size", [21, 25])
def test_larger_pay_off_piles(size: int) -> None:
    """rule 24, `payoff_size`."""
    assert game(f"payoff-{size}").derived.payoff_size == size


def test_squared_side_stacks_show_their_tops_only() -> None:
    """rule 25, ruling 3.22, `side_visible`."""
    squared, spread = game("squared"), game("spread")
    state = table(squared, sides=[["9C 8C 7C"], ["2D", ""]])

    assert squared.view(state, 0).seats[0].side[0] == (HIDDEN, HIDDEN, "7C")
    assert squared.view(state, 1).seats[1].side[:2] == (("2D",), ())
    assert squared.view(state, None).seats[0].side[0] == cards("9C 8C 7C")
    assert spread.view(state, 1).seats[0].side[0] == cards("9C 8C 7C")


@pytest.mark.parametrize(("preset", "wild", "top"), [("jokers-kings", "KC WX", 12), ("jokers-only", "WX", 13)])
def test_jokers_are_wild(preset: str, wild: str, top: int) -> None:
    """rule 27, `jokers`, `wild_kings`, `stack_top`."""
    engine = game(preset)
    state = table(engine, "KC WX 9C", centre=["AC"])

    assert engine.derived.deck.count("WX") == 4
    assert tuple(action[1:3] for action in list_legal(engine, state) if action.endswith("-c0")) == cards(wild)
    assert engine.derived.stack_top == top


def test_a_recycled_joker_is_a_joker_again() -> None:
    """ruling 3.3, `jokers`."""
    engine = game("jokers-only")
    state = table(engine, "WX 9C", centre=[f"{ELEVEN} QC"], stock="")

    assert "WX" in after(engine, state, "hWX-c0").stock


@pytest.mark.parametrize(("preset", "banned"), [("no-ace", "A"), ("no-ace-seven", "A7")])
def test_ranks_that_no_wild_card_stands_for(preset: str, banned: str) -> None:
    """rule 28, ruling 3.4, `wild_ban`."""
    fits = game(preset).derived.fits

    assert [rank for rank, fitting in zip("A23456789TJQ", fits, strict=True) if "KC" not in fitting] == list(banned)


@pytest.mark.parametrize(
    ("scoring", "win", "stalemate"),
    [("five_plus", 11, 3), ("remain_only", 6, 3), ("win_only", 1, 1), ("skipbo", 55, 15)],
)
def test_what_a_win_and_a_stalemate_score(scoring: str, win: int, stalemate: int) -> None:
    """rule 29, rule 38, `scoring`."""
    engine = game("standard", scoring=scoring)
    opponent = "2C 3C 4C 5C 6C 7C"
    win_table = table(engine, payoffs=["AC", opponent])
    out_table = table(engine, "9C", "", payoffs=["2C 3C 4C", opponent], stock="")

    assert result(engine, after(engine, win_table, "p-c0")).scores == (win, 0)
    assert result(engine, after(engine, out_table, "h9C-s0")).scores == (stalemate, 0)


def test_a_series_has_a_target() -> None:
    """rule 29, `match_target`."""
    assert game("g4a").derived.rules.match_target == 50
    assert game().derived.rules.match_target == 0


def test_a_series_to_fifty_scores_a_win_and_a_stock_that_runs_out() -> None:
    """rule 29, correction 6.6, `match_target`, `scoring`."""
    engine = game("match-50")
    win = table(engine, payoffs=["AC", "2C 3C"])
    out = table(engine, "9C", "", payoffs=["2C 3C 4C", "2C"], stock="")

    assert engine.derived.rules == replace(game("standard").derived.rules, match_target=50)
    assert result(engine, after(engine, win, "p-c0")).scores == (7, 0)
    assert result(engine, after(engine, out, "h9C-s0")).scores == (0, 2)


def test_massachusetts_deals_a_card_to_each_side_stack() -> None:
    """rule 30, `side_initial`."""
    engine = game("massachusetts")
    state, _ = engine.shuffled(engine.start(), range(104))

    assert [len(pile) for own in state.sides for pile in own] == [1] * 8
    assert len(state.payoffs[0]) == 14
    assert len(state.stock) == 104 - 2 * (14 + 5 + 4)


def test_massachusetts_fills_empty_side_stacks_before_the_discard() -> None:
    """rule 30, ruling 3.16, `fill_empty_sides`."""
    engine = game("massachusetts")
    state = table(engine, "2C 7C 8C 9C", payoffs=["AC QC"], sides=[["2C", "", "3C", ""]], centre=["AC"])

    assert ends(list_legal(engine, state), "h9C") == ["s1"]
    state = after(engine, state, "h9C-s1")
    assert list_legal(engine, state) == ("h2C-s3", "h7C-s3", "h8C-s3"), "once begun, nothing goes to the centre"
    state = after(engine, state, "h8C-s3")
    assert ends(list_legal(engine, state), "h7C") == ["s0", "s1", "s2", "s3"]
    assert to_act(engine, after(engine, state, "h7C-s1")) == 1


def test_massachusetts_begins_a_new_turn_when_the_hand_is_too_short() -> None:
    """rule 30, ruling 3.16, `fill_empty_sides`."""
    engine = game("massachusetts")
    state = table(engine, "9C", sides=[["2C", "", "", ""]])

    state, events = play_with_events(engine, state, "h9C-s1")

    assert [type(event) for event in events] == [CardMoved, TurnBegins, Draw]
    assert (to_act(engine, state), state.turn, len(state.hands[0])) == (0, 2, 5)
    assert not state.filling


def test_hands_can_be_filled_as_a_turn_ends() -> None:
    """section 2 i, `refill_at`."""
    engine = game(refill_at="turn_end")
    state = table(engine, "8C 9C", FIVE)

    state, events = play_with_events(engine, state, "h9C-s0")

    assert [type(event) for event in events] == [CardMoved, Draw, TurnBegins]
    assert [len(hand) for hand in state.hands] == [5, 5]


def test_a_draw_at_the_end_of_a_turn_may_need_new_stock() -> None:
    """section 2 i, `refill_at`, `recycle`."""
    engine = game("unlimited", refill_at="turn_end")
    state = table(engine, "8C 9C", FIVE, stock="", aside=cards("AC 2C 3C 4C 5C 6C"))

    state, events = play_with_events(engine, state, "h9C-s0")

    assert [type(event) for event in events] == [CardMoved, Shuffled, Draw, TurnBegins]
    assert (to_act(engine, state), len(state.hands[0]), len(state.stock)) == (1, 5, 2)


@pytest.mark.parametrize(
    ("when", "stock", "drawn"),
    [("need", "2C 3C", None), ("none", "2C 3C", 2), ("none", "", None), ("empty", "2C 3C", None), ("play_on", "", 0)],
)
def test_when_the_stock_is_out(when: str, stock: str, drawn: int | None) -> None:
    """ruling 3.6, `stock_out_when`: how many cards are drawn of four, None for the end of the game."""
    engine = game(stock_out_when=when)
    state = table(engine, "9C", "8D", stock=stock)

    state = after(engine, state, "h9C-s0")

    if drawn is None:
        assert result(engine, state).reason == "stock_out"
    else:
        assert len(state.hands[1]) == 1 + drawn


def test_the_start_can_be_given_to_a_seat_or_to_the_lot() -> None:
    """rule 40, ruling 3.5, `first_player`."""
    first, lot = game(first_player="seat"), game(first_player="random")

    assert to_act(first, first.shuffled(first.start(), range(104))[0]) == 0
    state, _ = lot.shuffled(lot.start(), range(104))
    assert lot.next(state).size == 2  # type: ignore[union-attr]
    assert to_act(lot, lot.shuffled(state, [1, 0])[0]) == 1
