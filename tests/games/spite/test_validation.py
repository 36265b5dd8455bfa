"""The engine refuses parameters that cannot be played together, and names them."""

from typing import Any

import pytest
from msgspec.structs import replace

from malice.referee.errors import RulesetError
from malice.referee.games.spite import SpiteAndMalice
from malice.referee.games.spite.parameters import Compulsory
from malice.referee.rulesets import list_rulesets, load_ruleset

from .tables import game


@pytest.mark.parametrize(
    ("preset", "seats", "changes", "message"),
    [
        ("classic", 3, {}, "players = [2, 2]: expected 2 seats, got 3"),
        ("multi", 9, {}, "players = [3, 8]: expected 3 to 8 seats, got 9"),
        ("classic", 2, {"players": (2, 9)}, "players = [2, 9]: expected a range within 2 to 8"),
        ("classic", 2, {"players": (3, 2)}, "players = [3, 2]: expected a range within 2 to 8"),
        ("classic", 2, {"decks": 0}, "decks = 0: expected 1 or more"),
        ("classic", 2, {"hand_size": 0, "jokers": -1}, "jokers = -1: expected 0 or more; hand_size = 0: expected 1 or"),
        ("classic", 2, {"payoff_size": 0}, "payoff_size = 0: expected 1 or more"),
        ("classic", 2, {"payoff_size": 1.5}, "payoff_size = 1.5: expected a whole number, or a share between 0 and 1"),
        ("classic", 2, {"payoff_size": 0.001}, "payoff_size = 0.001 leaves no card for each of 2 seats"),
        ("classic", 2, {"stack_top": 14}, "stack_top = 14: expected 2 to 13"),
        ("classic", 2, {"wild_ban": "AK"}, "wild_ban = 'AK': expected ranks out of 'A23456789TJQ', got 'K'"),
        ("classic", 2, {"wild_ban": "AA"}, "wild_ban = 'AA': expected each rank once"),
        ("aces", 2, {"compulsory": Compulsory(side="10")}, "compulsory.side = '10': expected ranks out of"),
        (
            *("classic", 2, {"stack_top": 13, "compulsory": Compulsory(hand="K")}),
            "compulsory.hand = 'K' contradicts wild_kings = true: a wild card is never forced",
        ),
        ("partners-4", 3, {"players": (3, 4)}, "teams = '2x2' contradicts a game of 3 seats: it needs 4"),
        ("partners-6", 4, {"players": (4, 6)}, "teams = '3x2' contradicts a game of 4 seats: it needs 6"),
        ("skipbo", 2, {"wild_kings": True}, "wild_kings = true contradicts deck_kind = 'skipbo': there are no kings"),
        ("skipbo", 2, {"loading": "suit_adjacent"}, "loading = 'suit_adjacent' contradicts deck_kind = 'skipbo'"),
        ("skipbo", 2, {"payoff_source": "separate_pack"}, "payoff_source = 'separate_pack' contradicts deck_kind"),
        (
            "book",
            2,
            {"payoff_size": 0.4},
            "payoff_size = 0.4 contradicts payoff_source = 'separate_pack': expected",
        ),
        ("book", 2, {"payoff_size": 20}, "2 piles do not use up whole packs of 52"),
        ("book", 2, {"decks": 1}, "decks = 1 contradicts payoff_source = 'separate_pack': the pay-off piles use up 1"),
        ("book", 2, {"hand_size": 29}, "the deal needs 110 cards, but 2 seats play with 108"),
        ("classic", 2, {"payoff_size": 48}, "the deal needs 106 cards, but 2 seats play with 104"),
        ("classic", 2, {"wild_kings": False}, "stack_top = 12: cards of rank K could never be played to the centre"),
        ("skipbo", 2, {"wild_ban": "A", "stack_top": 10}, "stack_top = 10: cards of rank J, Q could never be played"),
        (
            "classic",
            2,
            {"wild_kings": False, "wild_ban": "A", "stack_top": 13},
            "wild_ban = 'A' has no effect: there",
        ),
        ("classic", 2, {"first_player": "seat", "tie_cap": 3}, "tie_cap = 3 has no effect: the first pay-off cards do"),
        (
            *("classic", 2, {"first_player": "random", "first_tie": "redeal_together"}),
            "first_tie = 'redeal_together' has no effect",
        ),
        ("classic", 2, {"stalemate": "redeal"}, "stalemate = 'redeal' has no effect: nobody who holds cards can pass"),
        ("skipbo", 2, {"stalemate": "must_play"}, "stalemate = 'must_play' has no effect"),
        ("classic", 2, {"stalemate_result": "draw"}, "stalemate_result = 'draw' has no effect"),
        ("catsatcards", 2, {"redeals": 5}, "redeals = 5 has no effect: stalemate is not 'redeal'"),
    ],
)
def test_a_contradiction_is_named(preset: str, seats: int, changes: dict[str, Any], message: str) -> None:
    """All parameters: `players`, `decks`, `teams`, `deck_kind`, and the others in the table."""
    with pytest.raises(RulesetError) as refusal:
        SpiteAndMalice(replace(load_ruleset(preset).rules, **changes), seats)

    assert message in str(refusal.value)


def test_a_skipbo_pack_lacks_what_only_wild_cards_reach() -> None:
    with pytest.raises(RulesetError, match="stack_top = 13: no card could be played as K"):
        game("skipbo", wild_ban="K", stack_top=13)


@pytest.mark.parametrize("name", list_rulesets("spite"))
def test_no_ruleset_that_ships_contradicts_itself(name: str) -> None:
    rules = load_ruleset(name).rules

    for seats in range(rules.players[0], rules.players[1] + 1):
        assert SpiteAndMalice(rules, seats).seats == seats
