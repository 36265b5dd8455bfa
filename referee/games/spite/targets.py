"""Where a card may go: centre stacks, own side stacks, opponents' pay-off piles, with the cards that each accepts."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from malice.protocol.cards import CARDS, JOKER, RANKS, VALUE, Cards
from malice.referee.games.spite.derived import DerivedRules
from malice.referee.games.spite.packs import is_wild
from malice.referee.games.spite.state import Piles, State

Targets = tuple[tuple[str, frozenset[str]], ...]
"""Ends of actions, such as `-s0`, each with the cards that may go there."""

ANY_CARD = frozenset(CARDS)


def make_centre_lister(derived: DerivedRules) -> Callable[[tuple[int, ...]], Targets]:
    """Return the function that lists centre stacks by their heights, with the cards that fit.

    Of empty slots it lists only the first, or a new one where there is no limit.
    """

    @lru_cache(maxsize=4096)
    def list_targets(heights: tuple[int, ...]) -> Targets:
        slots = heights if 0 in heights or derived.centre_slots is not None else (*heights, 0)
        first_empty = slots.index(0) if 0 in slots else None
        return tuple(
            (f"-c{slot}", derived.fits[height]) for slot, height in enumerate(slots) if height or slot == first_empty
        )

    return list_targets


def make_side_lister(derived: DerivedRules) -> Callable[[Piles], Targets]:
    """Return the function that lists a seat's side stacks with the cards that they accept."""
    return {"any": _accept_any, "equal_or_one_lower": _accept_descending}[derived.rules.side_rule](derived)


def _list_open_stacks(sides: Piles) -> list[int]:
    """Return the side stacks that an action can name: the first of the empty ones, and all others."""
    first_empty = sides.index(()) if () in sides else None
    return [index for index, pile in enumerate(sides) if pile or index == first_empty]


def _accept_any(derived: DerivedRules) -> Callable[[Piles], Targets]:
    """Accept any card."""

    @lru_cache(maxsize=1024)
    def list_targets(occupied: tuple[bool, ...]) -> Targets:
        piles = tuple(("?",) if pile else () for pile in occupied)
        return tuple((f"-s{index}", ANY_CARD) for index in _list_open_stacks(piles))

    return lambda sides: list_targets(tuple(map(bool, sides)))


def _accept_descending(derived: DerivedRules) -> Callable[[Piles], Targets]:
    """Accept equal rank or one lower; a wild card keeps every rank that it can have in the order of the pile.

    A set of ranks is an int with bit r set for rank r. On a top of ranks T may lie T itself and all of T one lower.
    A nine and two jokers are {9}, {8, 9}, {7, 8, 9}; so six to nine may follow.
    """
    rules = derived.rules
    wilds = sum(1 << rank for rank in range(1, rules.stack_top + 1) if RANKS[rank - 1] not in rules.wild_ban)
    ranks = {card: wilds if is_wild(rules, card) else 1 << VALUE[card] for card in CARDS}

    @lru_cache(maxsize=4096)
    def list_accepted(pile: Cards) -> frozenset[str]:
        following = ~0
        for card in pile:
            top = following & ranks[card] or ranks[card]  # the deal may have put any card on any
            following = top | top >> 1
        return frozenset(card for card in CARDS if ranks[card] & following)

    return lambda sides: tuple((f"-s{index}", list_accepted(sides[index])) for index in _list_open_stacks(sides))


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
