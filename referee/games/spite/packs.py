"""The cards of a game: its packs, the size of a pay-off pile, and what a card stands for."""

from __future__ import annotations

from malice.protocol.cards import CARDS, JOKER, RANKS, VALUE, Cards, make_french_pack, make_skipbo_pack
from malice.referee.games.spite.parameters import Parameters

FRENCH = 52


def list_packs(rules: Parameters, seats: int) -> tuple[Cards, Cards]:
    """Return the pay-off piles' own pack, which may be empty, and the pack of everything else."""
    count = seats if rules.decks == "players" else rules.decks
    pack = make_skipbo_pack() if rules.deck_kind == "skipbo" else make_french_pack()
    separate = count_payoff_packs(rules, seats)
    return pack * separate, pack * (count - separate) + (JOKER,) * rules.jokers


def count_payoff_packs(rules: Parameters, seats: int) -> int:
    """Return how many packs belong to the pay-off piles alone."""
    if rules.payoff_source == "mixed" or not isinstance(rules.payoff_size, int):
        return 0
    return seats * rules.payoff_size // FRENCH


def count_payoff_cards(rules: Parameters, cards: int, seats: int) -> int:
    """Return the size of each pay-off pile: the parameter itself, or as a share of all cards, rounded down."""
    if isinstance(rules.payoff_size, int):
        return rules.payoff_size
    return int(rules.payoff_size * cards / seats)


def is_wild(rules: Parameters, card: str) -> bool:
    """Tell whether `card` can stand for others in the centre."""
    return card == JOKER or (rules.wild_kings and card[0] == "K")


def list_fitting_cards(rules: Parameters, height: int) -> frozenset[str]:
    """Return the cards that may be played on a centre stack of that height."""
    natural = {card for card in CARDS if VALUE[card] == height + 1}
    if RANKS[height] in rules.wild_ban:
        return frozenset(natural)
    return frozenset(natural | {card for card in CARDS if is_wild(rules, card)})
