"""The legal list: where each card may go, which rules strike or add actions, in canonical order."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from malice.protocol.cards import CARDS, JOKER, RANKS, VALUE, Cards
from malice.referee.games.spite.parameters import Compulsory, DerivedRules, Parameters, is_wild
from malice.referee.games.spite.state import State

Targets = tuple[tuple[str, frozenset[str]], ...]
"""Ends of actions, such as `-s0`, each with the cards that may go there."""

ANY_CARD = frozenset(CARDS)


def list_centre_targets(derived: DerivedRules, state: State) -> Targets:
    """List the centre stacks with the cards that fit; of empty slots only the first, or a new one without a limit."""
    heights = state.heights
    slots = heights if 0 in heights or derived.centre_slots is not None else (*heights, 0)
    first_empty = slots.index(0) if 0 in slots else None
    return tuple(
        (f"-c{slot}", derived.fits[height]) for slot, height in enumerate(slots) if height or slot == first_empty
    )


def list_side_targets(derived: DerivedRules, state: State) -> Targets:
    """List the seat's side stacks with the cards that they accept; of empty ones only the first."""
    accept = ACCEPTED[derived.rules.side_rule]
    sides = state.sides[state.seat]
    first_empty = sides.index(()) if () in sides else None
    return tuple(
        (f"-s{index}", accept(derived, pile)) for index, pile in enumerate(sides) if pile or index == first_empty
    )


def _accept_any(derived: DerivedRules, pile: Cards) -> frozenset[str]:
    return ANY_CARD


@lru_cache(maxsize=4096)  # a long pile would be gone through at each action
def _accept_descending(derived: DerivedRules, pile: Cards) -> frozenset[str]:
    """Accept equal rank or one lower; a wild card keeps every rank that it can have in the order of the pile.

    A set of ranks is an int with bit r set for rank r. On a top of ranks T may lie T itself and all of T one lower.
    A nine and two jokers are {9}, {8, 9}, {7, 8, 9}; so six to nine may follow.
    """
    rules = derived.rules
    wilds = sum(1 << rank for rank in range(1, rules.stack_top + 1) if RANKS[rank - 1] not in rules.wild_ban)
    ranks = {card: wilds if is_wild(rules, card) else 1 << VALUE[card] for card in CARDS}
    following = ~0
    for card in pile:
        top = following & ranks[card] or ranks[card]  # the deal may have put any card on any
        following = top | top >> 1
    return frozenset(card for card in CARDS if ranks[card] & following)


ACCEPTED: dict[str, Callable[[DerivedRules, Cards], frozenset[str]]] = {
    "any": _accept_any,
    "equal_or_one_lower": _accept_descending,
}
"""By `side_rule`: the cards that a side stack accepts."""


def _are_neighbours(one: str, other: str) -> bool:
    """Tell whether two cards have one suit and neighbouring ranks; a king counts 13, a joker has no neighbour."""
    return one[1] == other[1] and abs(VALUE[one] - VALUE[other]) == 1 and JOKER not in (one, other)


NEIGHBOURS = {top: frozenset(card for card in CARDS if _are_neighbours(card, top)) for top in CARDS}
"""For each pay-off top the cards that may be loaded onto it."""


def list_loading_targets(derived: DerivedRules, state: State) -> Targets:
    """List the pay-off piles of the opponents still in the game, with the cards that may be loaded onto each."""
    own = derived.allies[state.seat]
    return tuple(
        (f"-{seat}p", NEIGHBOURS[pile[-1]])
        for seat, pile in enumerate(state.payoffs)
        if pile and seat not in own and seat not in state.out
    )


Amendment = Callable[[DerivedRules, State, list[str]], list[str]]
"""Takes the list so far and returns it amended."""

STALEMATE_BREAKERS = Compulsory(hand="A2")


def select_amendments(rules: Parameters) -> tuple[Amendment, ...]:
    """The amendments that a ruleset has, in the order in which they apply."""
    return tuple(amend for amend, applies in AMENDMENTS if applies(rules))


def keep_fills(derived: DerivedRules, state: State, actions: list[str]) -> list[str]:
    """While a side stack is empty, discards go there; after the first fill, no card goes to the centre."""
    if state.filling:
        actions = [action for action in actions if "-s" in action]
    for index, pile in enumerate(state.sides[state.seat]):
        if not pile:
            return [action for action in actions if "-s" not in action or action.endswith(f"-s{index}")]
    return actions


def can_pass(rules: Parameters) -> bool:
    """Tell whether a turn can end without a discard: at will, or for lack of a card that fits or of any card."""
    return rules.discard == "optional" or rules.side_rule != "any" or rules.stock_out_when == "play_on"


def add_pass(derived: DerivedRules, state: State, actions: list[str]) -> list[str]:
    """Offer a pass where the discard is optional, or where no card can be discarded."""
    stuck = not any("-s" in action for action in actions)
    return [*actions, "pass"] if stuck or derived.rules.discard == "optional" else actions


def keep_compulsory(derived: DerivedRules, state: State, actions: list[str]) -> list[str]:
    """Keep only the plays that are compulsory, if there are any."""
    return _list_forced_plays(derived.rules.compulsory, state, actions) or actions


def keep_stalemate_breakers(derived: DerivedRules, state: State, actions: list[str]) -> list[str]:
    """After a stalemate, until a card moves, keep only the plays of aces and twos in hand, if there are any."""
    return (state.pressed and _list_forced_plays(STALEMATE_BREAKERS, state, actions)) or actions


def add_count(derived: DerivedRules, state: State, actions: list[str]) -> list[str]:
    """Offer the request for counts, once a turn, and again when a pay-off card has moved that all had counted."""
    return actions if state.counted else [*actions, "count"]


AMENDMENTS: tuple[tuple[Amendment, Callable[[Parameters], bool]], ...] = (
    (keep_fills, lambda rules: rules.fill_empty_sides),
    (add_pass, can_pass),
    (keep_compulsory, lambda rules: rules.compulsory != Compulsory()),
    (keep_stalemate_breakers, lambda rules: rules.stalemate == "must_play"),
    (add_count, lambda rules: rules.payoff_count != "public"),
)
"""Each with the rulesets that have it, in the order in which they apply."""


def _list_forced_plays(ranks: Compulsory, state: State, actions: list[str]) -> list[str]:
    """List the plays to the centre of the cards that `ranks` names, from the seat's own zones."""
    payoff = state.payoffs[state.seat]
    sides = state.sides[state.seat]
    prefixes = [f"h{card}-c" for card in state.hands[state.seat] if card[0] in ranks.hand]
    if payoff and payoff[-1][0] in ranks.payoff:
        prefixes.append("p-c")
    prefixes += [f"s{index}-c" for index, pile in enumerate(sides) if pile and pile[-1][0] in ranks.side]
    return [action for action in actions if action.startswith(tuple(prefixes))] if prefixes else []


class Actions:
    """Lists the legal actions under one ruleset, and skips the work for rules that the ruleset does not have."""

    def __init__(self, derived: DerivedRules) -> None:
        self._derived = derived
        self._amendments = select_amendments(derived.rules)

    def legal(self, state: State) -> tuple[str, ...]:
        """List the actions of the seat to act, by source: pay-off top, partners' tops, hand, side tops."""
        if state.phase != "turn":
            return ()
        derived, seat = self._derived, state.seat
        centre, sides = list_centre_targets(derived, state), list_side_targets(derived, state)
        loads = list_loading_targets(derived, state) if derived.rules.loading != "none" else ()
        actions = _list_moves("p", state.payoffs[seat][-1:], (*centre, *loads))
        for partner in derived.partners[seat]:
            actions += _list_moves(f"{partner}p", state.payoffs[partner][-1:], centre)
            for index, pile in enumerate(state.sides[partner]):
                actions += _list_moves(f"{partner}s{index}", pile[-1:], centre)
        for card in dict.fromkeys(state.hands[seat]):
            actions += _list_moves(f"h{card}", (card,), (*centre, *sides, *loads))
        for index, pile in enumerate(state.sides[seat]):
            actions += _list_moves(f"s{index}", pile[-1:], centre)
        for amend in self._amendments:
            actions = amend(derived, state, actions)
        return tuple(actions)


def _list_moves(source: str, top: Cards, targets: Targets) -> list[str]:
    """List the actions of a source to where its top card may go; none without a card."""
    return [source + target for card in top for target, accepted in targets if card in accepted]
