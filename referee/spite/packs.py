"""The cards of a game: which packs there are, how many cards a pay-off pile has, and what a card stands for."""

from __future__ import annotations

from protocol.cards import CARDS, JOKER, RANKS, VALUE, french_pack, skipbo_pack
from protocol.messages import Cards
from referee.ruleset import Parameters

FRENCH = 52


def packs(rules: Parameters, seats: int) -> tuple[Cards, Cards]:
    """Return the cards that only the pay-off piles are dealt from, and those that the rest, or all, is dealt from."""
    count = seats if rules.decks == "players" else rules.decks
    pack = skipbo_pack() if rules.deck_kind == "skipbo" else french_pack()
    apart = payoff_packs(rules, seats)
    return pack * apart, pack * (count - apart) + (JOKER,) * rules.jokers


def payoff_packs(rules: Parameters, seats: int) -> int:
    """Return how many packs the pay-off piles have to themselves."""
    if rules.payoff_source == "mixed" or not isinstance(rules.payoff_size, int):
        return 0
    return seats * rules.payoff_size // FRENCH


def payoff_size(rules: Parameters, cards: int, seats: int) -> int:
    """Return the cards in each pay-off pile: the number itself, or its share of all cards, rounded down."""
    if isinstance(rules.payoff_size, int):
        return rules.payoff_size
    return int(rules.payoff_size * cards / seats)


def is_wild(rules: Parameters, card: str) -> bool:
    """Tell whether `card` can stand for others in the centre."""
    return card == JOKER or (rules.wild_kings and card[0] == "K")


def fitting(rules: Parameters, height: int) -> frozenset[str]:
    """Return the cards that may be played on a centre stack of that height."""
    natural = {card for card in CARDS if VALUE[card] == height + 1}
    if RANKS[height] in rules.wild_ban:
        return frozenset(natural)
    return frozenset(natural | {card for card in CARDS if is_wild(rules, card)})
