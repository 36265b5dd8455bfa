"""Loading: a card of the hand or of the own pay-off pile goes onto an opponent's pay-off pile."""

from __future__ import annotations

from msgspec.structs import replace

from protocol.cards import CARDS, JOKER, VALUE
from referee.spite.derived import DerivedRules
from referee.spite.sides import Targets
from referee.spite.state import State, with_item


def _adjacent(one: str, other: str) -> bool:
    """Tell whether two cards are of one suit and neighbours in rank; a king is a thirteen, a joker is nothing."""
    return one[1] == other[1] and abs(VALUE[one] - VALUE[other]) == 1 and JOKER not in (one, other)


ADJACENT = {top: frozenset(card for card in CARDS if _adjacent(card, top)) for top in CARDS}
"""For each pay-off top the cards that may be loaded onto it."""


def load_targets(setting: DerivedRules, state: State) -> Targets:
    """List the pay-off piles of the opponents who play on, with the cards that they can be loaded with."""
    own = setting.allies[state.seat]
    return tuple(
        (f"-{seat}p", ADJACENT[pile[-1]])
        for seat, pile in enumerate(state.payoffs)
        if pile and seat not in own and seat not in state.out
    )


def load(state: State, card: str, target: int) -> State:
    """Put `card` on top of the pay-off pile of `target`: it is the new top, without a flip."""
    payoffs = with_item(state.payoffs, target, (*state.payoffs[target], card))
    return replace(state, payoffs=payoffs, announced=False)
