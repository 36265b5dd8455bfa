"""What stays fixed for a whole game: the parameters, worked out for a number of seats."""

from __future__ import annotations

from protocol.cards import CARDS, JOKER, RANKS, VALUE, french_pack, skipbo_pack
from protocol.messages import Cards
from referee.errors import RulesetError
from referee.ruleset import Parameters


class Setting:
    """The parameters as the engine asks for them.

    Raises:
        RulesetError: the parameters contradict each other, need more cards than there are, or ask for
            a rule that is not played.
    """

    def __init__(self, rules: Parameters, seats: int) -> None:
        least, most = rules.players
        if not least <= seats <= most:
            raise RulesetError(f"expected {least} to {most} seats, got {seats}")
        self.rules = rules
        self.seats = seats
        self.teams = tuple(range(seats))
        self.deck = _deck(rules, seats)
        self.payoff_size = _payoff_size(rules, len(self.deck), seats)
        self.centre_slots = _centre_slots(rules, seats)
        self.fits = tuple(_fitting(rules, height) for height in range(rules.stack_top))
        """For each height of a centre stack the cards that may be played on it."""
        _refuse_unplayed(rules)
        needed = seats * (self.payoff_size + rules.hand_size + rules.side_count * rules.side_initial)
        if needed > len(self.deck):
            raise RulesetError(f"the deal needs {needed} cards, but {seats} seats play with {len(self.deck)}")


def _deck(rules: Parameters, seats: int) -> Cards:
    if rules.deck_kind == "skipbo":
        return skipbo_pack()
    decks = seats if rules.decks == "players" else rules.decks
    return french_pack() * decks + (JOKER,) * rules.jokers


def _payoff_size(rules: Parameters, cards: int, seats: int) -> int:
    if isinstance(rules.payoff_size, int):
        return rules.payoff_size
    return int(rules.payoff_size * cards / seats)


def _centre_slots(rules: Parameters, seats: int) -> int | None:
    """Return how many centre stacks there may be, None for any number."""
    if rules.centre_limit == "unlimited":
        return None
    return seats + 1 if rules.centre_limit == "players+1" else rules.centre_limit


def _fitting(rules: Parameters, height: int) -> frozenset[str]:
    rank = RANKS[height]
    natural = {card for card in CARDS if VALUE[card] == height + 1}
    if rank in rules.wild_ban:
        return frozenset(natural)
    return frozenset(natural | {card for card in CARDS if is_wild(rules, card)})


def is_wild(rules: Parameters, card: str) -> bool:
    """Tell whether `card` can stand for others in the centre."""
    return card == JOKER or (rules.wild_kings and card[0] == "K")


def _refuse_unplayed(rules: Parameters) -> None:
    """Refuse the values that the engine does not play yet, all of them in one message."""
    default = Parameters()
    played: dict[str, tuple[object, ...]] = {
        "players": ((2, 2),),
        "stock_out_result": ("draw", "fewest"),
        "stock_out_when": ("need", "empty", "none"),
        "recycle": ("shuffle", "bottom", "aside"),
        "first_player": ("high_payoff", "low_payoff", "random", "seat"),
        "scoring": ("win_only", "five_plus", "remain_only", "skipbo"),
    }
    free = {"decks", "jokers", "payoff_size", "hand_size", "wild_kings", "wild_ban", "stack_top"}
    free |= {"centre_limit", "side_count", "side_initial", "max_turns", "no_progress", "tie_cap", "redeals"}
    refused = [
        f"{field} = {getattr(rules, field)!r}"
        for field in rules.__struct_fields__
        if field not in free and getattr(rules, field) not in played.get(field, (getattr(default, field),))
    ]
    if refused:
        raise RulesetError(f"not played yet: {', '.join(refused)}")
