"""The relatives of the book version, Skip-Bo among them: rules 49 to 53 and 56."""

from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from malice.referee.games.spite.messages import Draw, Shuffled
from malice.referee.games.spite.parameters import Compulsory
from malice.referee.rulesets import load_ruleset

from .tables import TWELVE, after, cards, game, list_legal, play_with_events, result, table, to_act


def test_three_decks() -> None:
    """rule 49, `decks`."""
    engine = game("three-deck")

    assert (len(engine.derived.deck), engine.derived.payoff_size, engine.derived.centre_slots) == (156, 26, 4)


def test_two_decks() -> None:
    """rule 50, `payoff_size`, `centre_limit`."""
    engine = game("two-deck")

    assert (len(engine.derived.deck), engine.derived.payoff_size, engine.derived.centre_slots) == (104, 20, 3)


@pytest.mark.parametrize("seats", [3, 4])
def test_catsatcards_for_three_or_four(seats: int) -> None:
    """rule 51, `players`."""
    engine = game("cats-multi", seats)

    assert (len(engine.derived.deck), engine.derived.payoff_size, engine.derived.centre_slots) == (156, 20, seats + 1)


def test_catsatcards_without_limit() -> None:
    """rule 52, `centre_limit`."""
    engine = game("cats-unlimited")
    state = table(engine, "KC AC 9C", payoffs=["2C"], centre=[TWELVE])

    assert list_legal(engine, state)[0] == "hAC-c1"
    assert after(engine, state, "hAC-c1", "hKC-c0").aside == cards(f"{TWELVE} KC")


def test_cat_and_mouse_is_another_name() -> None:
    """rule 53, correction 6.4."""
    assert load_ruleset("cat-and-mouse").rules == load_ruleset("catsatcards").rules


@pytest.mark.parametrize(
    ("preset", "changes"),
    [
        ("three-deck", {"decks": 3}),
        ("two-deck", {"payoff_size": 20, "centre_limit": 3}),
        ("cats-multi", {"players": (3, 4), "decks": 3, "payoff_size": 20, "centre_limit": "players+1"}),
    ],
)
def test_its_relatives_are_like_catsatcards_but_for_packs_wild_cards_and_discards(
    preset: str, changes: dict[str, Any]
) -> None:
    """rule 49, rule 50, rule 51, correction 6.4."""
    mixed = {"payoff_source": "mixed", "jokers": 0, "wild_kings": True, "stack_top": 12}
    free = {"side_rule": "any", "discard": "mandatory", "compulsory": Compulsory()}

    assert load_ruleset(preset).rules == replace(load_ruleset("catsatcards").rules, **mixed, **free, **changes)


def test_three_packs_are_played_with_wild_kings_and_free_discards_that_must_be_made() -> None:
    """rule 49, correction 6.4, `wild_kings`, `discard`, `last_resort_recycle`, `first_tie`, `payoff_count`."""
    engine = game("three-deck")
    state = table(engine, "AD KC 9C", payoffs=["QC", "9C"], sides=[["5C"]], centre=[TWELVE.removesuffix(" QC")])

    assert list_legal(engine, state) == (
        *("p-c0", "hAD-c1", "hAD-s0", "hAD-s1", "h9C-s0", "h9C-s1"),
        *("hKC-c0", "hKC-s0", "hKC-s1", "count"),
    )
    rules = engine.derived.rules
    assert (rules.first_tie, rules.payoff_count, rules.recycle) == ("redeal_together", "on_request", "aside")
    assert (rules.last_resort_recycle, rules.stock_out_result) == (True, "fewest")


def test_the_deck_of_skipbo() -> None:
    """rule 56, `deck_kind`."""
    engine = game("skipbo", 4)
    deck = Counter(engine.derived.deck)

    assert (len(engine.derived.deck), deck["WX"], deck["7X"], len(deck)) == (162, 18, 12, 13)
    assert engine.derived.payoff_size == 30
    assert (game("skipbo-20", 6).derived.payoff_size, game("skipbo-short").derived.payoff_size) == (20, 10)


def test_skipbo_has_partners() -> None:
    """rule 56, section 2 g, correction 6.6, `teams`."""
    engine = game("skipbo-partners")

    assert (engine.teams, engine.derived.payoff_size, engine.derived.centre_slots) == ((0, 1, 0, 1), 30, 4)


def test_skipbos_wild_card_is_any_card() -> None:
    """rule 56, section 2 g, `deck_kind`."""
    engine = game("skipbo")
    state = table(engine, "WX 5X", payoffs=["9X"], centre=["AX 2X"])

    assert list_legal(engine, state) == ("h5X-s0", "hWX-c0", "hWX-c1", "hWX-s0")


def test_skipbo_plays_on_without_stock_until_nobody_can_move() -> None:
    """rule 56, rulings 3.6 and 3.8, `stock_out_when`."""
    engine = game("skipbo")
    state = table(engine, "2X", "", payoffs=["9X 2X 3X", "9X"], sides=[["4X"]], stock="", centre=["AX"])

    state = after(engine, state, "h2X-c0")
    assert (state.hands[0], list_legal(engine, state)) == ((), ("p-c0", "pass"))
    state = after(engine, state, "p-c0")
    assert list_legal(engine, state) == ("s0-c0", "pass")
    state = after(engine, state, "pass", "pass")
    assert to_act(engine, state) == 0, "seat 0 has played in its last turn"
    over = result(engine, after(engine, state, "pass"))
    assert (over.reason, over.places) == ("stock_out", (1, 1))


def test_skipbo_draws_what_there_is() -> None:
    """rule 56, ruling 3.6, `stock_out_when`, `recycle`."""
    engine = game("skipbo")
    state = table(engine, "2X", "9X", stock="3X", aside=cards("5X"))

    state, events = play_with_events(engine, state, "h2X-s0")

    assert events[2:] == (Shuffled("aside", "stock", 1), Draw(1, cards("3X 5X")))


def test_skipbo_redeals_instead_where_a_ruleset_says_so() -> None:
    """`stalemate`, `stock_out_when`: nobody has a card left, so the cards on the table are dealt."""
    engine = game("skipbo", stalemate="redeal")
    state = table(engine, "", "", payoffs=["9X", "9X"], sides=[["2X " * 12]], stock="")

    assert len(after(engine, state, "pass", "pass").hands[1]) == 5
