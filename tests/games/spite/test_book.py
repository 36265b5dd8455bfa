"""The book version and the one of catsatcards: rules 31 to 36 and 38 to 48."""

from collections import Counter

import pytest
from msgspec.structs import replace

from malice.protocol.cards import make_french_pack
from malice.referee.games.spite import FAMILY, SpiteAndMalice
from malice.referee.games.spite.engine import choose_first_player
from malice.referee.games.spite.messages import Count, Draw, Flip, Pass, Shuffled, TurnBegins
from malice.referee.games.spite.parameters import Compulsory
from malice.referee.games.spite.state import State
from malice.referee.rules import Shuffle
from malice.referee.rulesets import load_ruleset

from .tables import FULL, TWELVE, after, cards, ends, game, list_legal, play_with_events, result, table, to_act

BOOK = game("book")
CATS = game("catsatcards")
HIDDEN_COUNTS = [None, None]


def test_two_packs_that_are_dealt_apart() -> None:
    """rule 31, rule 39, `payoff_source`, `payoff_size`, `jokers`."""
    start = BOOK.start()
    between, _ = BOOK.shuffled(start, [1, 0, *range(2, 52)])
    state, events = BOOK.shuffled(between, range(56))

    assert (BOOK.seats, BOOK.next(start), BOOK.next(between)) == (2, Shuffle(52), Shuffle(56))
    assert sorted(state.payoffs[0] + state.payoffs[1]) == sorted(make_french_pack())
    assert Counter(state.hands[0] + state.hands[1] + state.stock)["WX"] == 4
    assert events[1:3] == (Flip(0, state.payoffs[0][-1]), Flip(1, state.payoffs[1][-1]))


def test_only_jokers_are_wild_and_never_an_ace() -> None:
    """rule 32, rule 42, `wild_kings`, `wild_ban`, `stack_top`."""
    state = table(BOOK, "WX KC", payoffs=["9C", "9C"], centre=["AC", TWELVE])

    assert ends(list_legal(BOOK, state), "hWX") == ["c0", "c1", "s0"]
    assert ends(list_legal(BOOK, state), "hKC") == ["c1", "s0"]


@pytest.mark.parametrize(
    ("pile", "accepted"),
    [
        ("", "A23456789TJQKW"),
        ("7C", "67W"),
        ("9C WX", "789W"),
        ("9C WX WX", "6789W"),
        ("9C WX WX 7D", "67W"),
        ("WX", "A23456789TJQKW"),
        ("WX 5C", "45W"),
        ("3C WX WX WX", "A23W"),
        ("2C WX", "A2W"),
        ("AC", "A"),
        ("KC", "QKW"),
    ],
)
def test_what_a_side_stack_accepts(pile: str, accepted: str) -> None:
    """rule 33, rulings 3.18 and 2 a, `side_rule`."""
    every = [f"{rank}{'X' if rank == 'W' else 'D'}" for rank in "A23456789TJQKW"]
    state = table(BOOK, " ".join(every), sides=[[pile, "TH", "TH", "TH"]], centre=[TWELVE] * 4)

    fitting = "".join(card[0] for card in every if "s0" in ends(list_legal(BOOK, state), f"h{card}"))

    assert fitting == accepted


def test_an_uncovered_joker_takes_its_ranks_from_the_pile_below() -> None:
    """ruling 3.18, `side_rule`."""
    state = table(BOOK, "9D 6D QC", sides=[["9C WX 8C", "KD", "KD", "KD"]], centre=["AC 2C 3C 4C 5C 6C 7C"])

    before, later = list_legal(BOOK, state), list_legal(BOOK, after(BOOK, state, "s0-c0"))

    assert "h9D-s0" not in before
    assert "h9D-s0" in later


def test_wild_kings_keep_their_ranks_open_too() -> None:
    """ruling 3.18, `side_rule`, `wild_kings`: a king on an eight may be an eight or a seven, but no banned seven."""
    engine, banned = (game(side_rule="equal_or_one_lower", wild_ban=ban) for ban in ("", "7"))
    hand, sides = "6D 7D 8D 9D", [["8C KC", "2C", "2C", "2C"]]

    assert list_legal(engine, table(engine, hand, sides=sides)) == ("h6D-s0", "h7D-s0", "h8D-s0", "s0-c0")
    assert list_legal(banned, table(banned, hand, sides=sides)) == ("h7D-s0", "h8D-s0", "s0-c0")


def test_a_turn_may_end_without_a_discard() -> None:
    """rule 34, rule 45, ruling 3.9, `discard`."""
    state = table(BOOK, "9C")

    state, events = play_with_events(BOOK, state, "pass")

    assert events[:2] == (Pass(0), TurnBegins(1))


def test_who_can_discard_nothing_passes_even_where_discards_are_mandatory() -> None:
    """rule 34, `discard`, `side_rule`."""
    engine = game("book", discard="mandatory", stalemate="end")

    assert list_legal(BOOK, table(BOOK, "9C", sides=FULL)) == ("pass",)
    assert list_legal(engine, table(engine, "9C", sides=FULL)) == ("pass",)
    assert "pass" not in list_legal(engine, table(engine, "9C 2C", sides=FULL))


def test_aces_and_twos_in_sight_go_to_the_centre() -> None:
    """rule 35, ruling 3.14, `compulsory.payoff`, `compulsory.side`."""
    state = table(BOOK, "AD 2D", payoffs=["2H", "9C"], sides=[["2S", "9C AS", "2C WX"]], centre=["AC"])

    assert list_legal(BOOK, state) == ("p-c0", "s0-c0", "s1-c1")


@pytest.mark.parametrize(("preset", "limit"), [("book", 4), ("book-unlimited", None), ("catsatcards", 4)])
def test_four_centre_stacks_or_any_number(preset: str, limit: int | None) -> None:
    """rule 36, rule 42, `centre_limit`."""
    assert game(preset).derived.centre_slots == limit


def test_the_score_of_the_book() -> None:
    """rule 38, `scoring`."""
    assert load_ruleset("book").rules.scoring == "five_plus"


def test_equal_first_cards_are_shuffled_together_and_dealt_again() -> None:
    """rule 41, `first_tie`."""
    engine = game("catsatcards")
    tops = table(engine, payoffs=["2C " * 25 + "9C", "3D " * 25 + "9D"])
    state = choose_first_player(engine.derived, tops, [])

    assert engine.next(state) == Shuffle(52)
    state, events = engine.shuffled(state, range(52))

    assert state.payoffs == (cards("9D " + "3D " * 25), cards("9C " + "2C " * 25))
    assert to_act(engine, state) == 0
    assert events[:4] == (Shuffled("1p", "0p", 26), Shuffled("0p", "1p", 26), Flip(0, "3D"), Flip(1, "2C"))
    sentences = [FAMILY.describe_event(event, ("ada", "bob"), None) for event in events[:2]]
    assert sentences == [
        "26 cards of bob’s pay-off pile are shuffled into ada’s pay-off pile",
        "26 cards of ada’s pay-off pile are dealt to bob’s pay-off pile",
    ]


def test_the_dealer_does_not_matter() -> None:
    """rule 40, `first_player`: the first pay-off cards decide, and a deal is played in both rotations."""
    assert load_ruleset("catsatcards").rules.first_player == "high_payoff"


def test_aces_and_twos_may_not_stay_in_the_hand() -> None:
    """rule 43, `compulsory.hand`."""
    state = table(CATS, "AC 2D 9C", payoffs=["2H"], sides=[["2S"]], centre=["AC"])

    assert list_legal(CATS, state) == ("hAC-c1", "h2D-c0", "count")


def test_a_completed_stack_is_set_aside() -> None:
    """rule 44, `recycle`."""
    state = table(CATS, "KC 9C", centre=[TWELVE])

    assert after(CATS, state, "hKC-c0").aside == cards(f"{TWELVE} KC")


def test_hands_are_filled_in_play_at_once_and_otherwise_at_the_next_turn() -> None:
    """rule 46, ruling 3.11."""
    in_play = after(CATS, table(CATS, "AC"), "hAC-c0")
    discarded = after(CATS, table(CATS, "9C"), "h9C-s0")

    assert (len(in_play.hands[0]), to_act(CATS, in_play)) == (5, 0)
    assert len(discarded.hands[0]) == 0


def test_counts_are_revealed_on_request_once_a_turn() -> None:
    """rule 47, ruling 3.22, `payoff_count`."""
    state = table(CATS, "9C", payoffs=["2C 3C", "4C"])

    assert [left(CATS, state, seat) for seat in (0, 1, None)] == [HIDDEN_COUNTS, HIDDEN_COUNTS, [2, 1]]
    assert list_legal(CATS, state)[-1] == "count"
    state, events = play_with_events(CATS, state, "count")
    assert (events, to_act(CATS, state)) == ((Count(0, (2, 1)),), 0)
    assert "count" not in list_legal(CATS, state)
    assert list_legal(CATS, after(CATS, state, "h9C-s0"))[-1] == "count", "the next seat may ask as well"


def left(engine: SpiteAndMalice, state: State, seat: int | None) -> list[int | None]:
    """What a seat sees of the counts."""
    return [shown.payoff.left for shown in engine.view(state, seat).seats]


def test_a_count_is_heard_by_all_seats_until_a_pay_off_card_moves() -> None:
    """rule 47, correction 6.3, `payoff_count`."""
    state = table(CATS, "6D 9C", payoffs=["QC 6C 4C", "4C"], sides=[["5C"]], centre=["AC 2C 3C"])

    state = after(CATS, state, "count")
    assert left(CATS, state, 0) == left(CATS, state, 1) == [3, 1]
    later = after(CATS, state, "h9C-s1", "pass", "h6D-s2")
    assert left(CATS, later, 0) == left(CATS, later, 1) == [3, 1], "over turns in which none moves"
    state = after(CATS, state, "p-c0")
    assert left(CATS, state, 0) == left(CATS, state, 1) == HIDDEN_COUNTS
    state = after(CATS, state, "s0-c0")
    assert left(CATS, state, 0) == HIDDEN_COUNTS


def test_a_count_is_asked_once_a_turn_and_again_when_a_pay_off_card_has_moved() -> None:
    """rule 47, correction 6.12, `payoff_count`."""
    state = table(CATS, "6D 9C", payoffs=["QC 6C 4C", "4C"], sides=[["5C"]], centre=["AC 2C 3C"])

    state = after(CATS, state, "count")
    assert "count" not in list_legal(CATS, state)
    state = after(CATS, state, "p-c0")
    assert "count" in list_legal(CATS, state)
    state = after(CATS, state, "count", "s0-c0")
    assert left(CATS, state, 1) == [2, 1]
    assert "count" not in list_legal(CATS, state), "no pay-off card has moved since"


@pytest.mark.parametrize("load", ["p-1p", "h9C-1p"])
def test_a_count_no_longer_holds_when_a_pay_off_pile_was_loaded(load: str) -> None:
    """rule 47, correction 6.3, `payoff_count`, `loading`."""
    engine = game("loading", payoff_count="on_request")
    state = table(engine, "9C 4D", payoffs=["QC 7C", "8C"])

    state = after(engine, state, "count", load)

    assert left(engine, state, 0) == left(engine, state, 1) == HIDDEN_COUNTS


def test_a_count_can_be_for_the_seat_that_asks_alone() -> None:
    """correction 6.3, `payoff_count`."""
    engine = game("catsatcards", payoff_count="on_request_own")
    state = table(engine, "9C", payoffs=["QC 3C 4C", "4C"], centre=["AC 2C 3C"])

    state, events = play_with_events(engine, state, "count")
    assert events == (Count(0, None),)
    assert (left(engine, state, 0), left(engine, state, 1)) == ([3, 1], HIDDEN_COUNTS)
    state = after(engine, state, "p-c0")
    assert (left(engine, state, 0), left(engine, state, 1)) == ([2, 1], HIDDEN_COUNTS)
    state = after(engine, state, "h9C-s0")
    assert (left(engine, state, 0), left(engine, state, 1)) == (HIDDEN_COUNTS, HIDDEN_COUNTS)
    assert list_legal(engine, state)[-1] == "count"


@pytest.mark.parametrize("payoff_count", ["on_request", "on_request_own"])
def test_what_must_be_played_does_not_keep_from_counting(payoff_count: str) -> None:
    """rule 43, rule 47, correction 6.7, `compulsory.hand`, `stalemate`, `payoff_count`."""
    forced = game("catsatcards", payoff_count=payoff_count)
    pressed = game("book", stalemate="must_play", payoff_count=payoff_count)
    state = after(pressed, table(pressed, "AC 9C", payoffs=["QC", "QC"]), "pass", "pass")

    assert list_legal(forced, table(forced, "AC 9C")) == ("hAC-c0", "count")
    assert list_legal(pressed, state) == ("hAC-c0", "count")


def test_open_stacks_feed_the_stock_when_nothing_lies_aside() -> None:
    """rule 48, ruling 3.19, `last_resort_recycle`."""
    centre = ["AC 2C 3C", "AD 2D", "AH"]
    state = table(CATS, "9C", "8D 9D", payoffs=["QC"], centre=centre, stock="KC")

    state, events = play_with_events(CATS, state, "h9C-s0")

    assert events[2:] == (Shuffled("c0", "stock", 2), Shuffled("c1", "stock", 1), Draw(1, cards("KC AD 2C")))
    assert (state.centre[:3], state.heights[:3]) == ((("3C",), ("2D",), ("AH",)), (3, 2, 1))
    view = CATS.view(state, 1).centre[0]
    assert (view.cards, view.height, view.needs) == (("3C",), 3, "4")


def test_a_stack_that_gave_up_cards_is_complete_at_its_height() -> None:
    """ruling 3.19, `last_resort_recycle`."""
    state = replace(table(CATS, "KC 9C", centre=["QC"]), heights=(12, 0, 0, 0))

    state, events = play_with_events(CATS, state, "hKC-c0")

    assert (events[-1], state.aside, state.heights[0]) == (Shuffled("c0", "aside", 2), cards("QC KC"), 0)


def test_too_few_cards_for_a_stock_end_the_game() -> None:
    """rule 48, ruling 3.19, `stock_out_result`, `last_resort_recycle`."""
    state = table(CATS, "9C", "8D 9D", payoffs=["2C 3C", "4C"], centre=["AC 2C"], stock="KC")

    over = result(CATS, after(CATS, state, "h9C-s0"))

    assert (over.places, over.scores, over.reason) == ((2, 1), (0, 1), "stock_out")


def test_open_stacks_feed_the_stock_where_play_goes_on_without_it_too() -> None:
    """ruling 3.19, correction 6.7, `last_resort_recycle`, `stock_out_when`."""
    engine = game("skipbo", last_resort_recycle=True)
    state = table(engine, "9X", "8X", centre=["AX 2X"], stock="")

    state, events = play_with_events(engine, state, "h9X-s0")

    assert events[2:] == (Shuffled("c0", "stock", 1), Draw(1, cards("AX"))), "one card is enough"


def test_compulsory_ranks_are_off_by_default() -> None:
    """rule 35, `compulsory`."""
    assert load_ruleset("standard").rules.compulsory == Compulsory()
    assert ends(list_legal(game(), table(game(), "AC 9C")), "h9C") == ["s0"]
