"""Where a card of the hand may be discarded: own side stacks, and what they accept."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from protocol.cards import CARDS, RANKS, VALUE
from protocol.messages import Cards
from referee.spite.derived import DerivedRules
from referee.spite.packs import is_wild
from referee.spite.state import Piles

Targets = tuple[tuple[str, frozenset[str]], ...]
"""Ends of actions, such as `-s0`, each with the cards that may go there."""

ANY_CARD = frozenset(CARDS)


def side_targets(setting: DerivedRules) -> Callable[[Piles], Targets]:
    """Return the function that lists a seat's side stacks with the cards that they accept."""
    return {"any": _free, "equal_or_one_lower": _descending}[setting.rules.side_rule](setting)


def _list_open_stacks(sides: Piles) -> list[int]:
    """Return the side stacks that can be named; of empty ones only the first."""
    first_empty = sides.index(()) if () in sides else None
    return [index for index, pile in enumerate(sides) if pile or index == first_empty]


def _free(setting: DerivedRules) -> Callable[[Piles], Targets]:
    """Accept any card."""

    @lru_cache(maxsize=1024)
    def targets(occupied: tuple[bool, ...]) -> Targets:
        piles = tuple(("?",) if pile else () for pile in occupied)
        return tuple((f"-s{index}", ANY_CARD) for index in _list_open_stacks(piles))

    return lambda sides: targets(tuple(map(bool, sides)))


def _descending(setting: DerivedRules) -> Callable[[Piles], Targets]:
    """Accept equal rank or one lower; a wild card keeps every rank that it can have in the order of the pile.

    A set of ranks is an int with bit r set for rank r. What may lie on a top of ranks T is T itself and all of T one
    lower. A nine and two jokers: {9}, {8, 9}, {7, 8, 9}; so six to nine may follow.
    """
    rules = setting.rules
    wilds = sum(1 << rank for rank in range(1, rules.stack_top + 1) if RANKS[rank - 1] not in rules.wild_ban)
    ranks = {card: wilds if is_wild(rules, card) else 1 << VALUE[card] for card in CARDS}

    @lru_cache(maxsize=4096)
    def accepted(pile: Cards) -> frozenset[str]:
        following = ~0
        for card in pile:
            top = following & ranks[card] or ranks[card]  # the deal may have put any card on any
            following = top | top >> 1
        return frozenset(card for card in CARDS if ranks[card] & following)

    return lambda sides: tuple((f"-s{index}", accepted(sides[index])) for index in _list_open_stacks(sides))
