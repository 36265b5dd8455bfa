"""The legal list: one string per distinct card and place, in canonical order."""

from __future__ import annotations

from functools import lru_cache

from malice.referee.games.spite.amendments import select_amendments
from malice.referee.games.spite.derived import DerivedRules
from malice.referee.games.spite.state import State
from malice.referee.games.spite.targets import Targets, list_loading_targets, make_centre_lister, make_side_lister


class Actions:
    """Lists the legal actions under one ruleset, and skips the work for rules that the ruleset does not have."""

    def __init__(self, derived: DerivedRules) -> None:
        self._derived = derived
        self._list_centre = make_centre_lister(derived)
        self._list_sides = make_side_lister(derived)
        self._loads = derived.rules.loading != "none"
        self._has_partners = any(derived.partners)
        self._amendments = select_amendments(derived.rules)

    def legal(self, state: State) -> tuple[str, ...]:
        """List the actions of the seat to act, by source: pay-off top, partners' tops, hand, side tops."""
        if state.phase != "turn":
            return ()
        derived, seat = self._derived, state.seat
        sides = state.sides[seat]
        centre = self._list_centre(state.heights)
        loads = list_loading_targets(derived, state) if self._loads else ()
        actions: list[str] = []
        payoff = state.payoffs[seat]
        if payoff:
            actions += ["p" + target for target in _cache_ends(centre + loads)[payoff[-1]]]
        if self._has_partners:
            actions += _list_partners_plays(derived, state, centre)
        plays, discards = _cache_hand_actions(centre), _cache_hand_actions(self._list_sides(sides))
        previous = ""
        for card in state.hands[seat]:
            if card != previous:
                actions += plays[card]
                actions += discards[card]
                if loads:
                    actions += _cache_hand_actions(loads)[card]
                previous = card
        ends = _cache_ends(centre)
        for index, pile in enumerate(sides):
            if pile:
                actions += [f"s{index}{target}" for target in ends[pile[-1]]]
        for amend in self._amendments:
            actions = amend(derived, state, actions)
        return tuple(actions)


class Ends(dict[str, tuple[str, ...]]):
    """Card -> the targets, out of a fixed list, that accept it; the first look-up of a card works them out."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets

    def __missing__(self, card: str) -> tuple[str, ...]:
        self[card] = ends = self._list_targets(card)
        return ends

    def _list_targets(self, card: str) -> tuple[str, ...]:
        return tuple([target for target, accepted in self._targets if card in accepted])


class HandActions(Ends):
    """Hand card -> its actions on a fixed list of targets."""

    def _list_targets(self, card: str) -> tuple[str, ...]:
        return tuple([f"h{card}{target}" for target in super()._list_targets(card)])


# The same targets come back turn by turn and game by game.
_cache_ends = lru_cache(maxsize=4096)(Ends)
_cache_hand_actions = lru_cache(maxsize=4096)(HandActions)


def _list_partners_plays(derived: DerivedRules, state: State, centre: Targets) -> list[str]:
    """List the plays of the partners' pay-off and side tops, which go to the centre only."""
    tops = [
        (f"{seat}{name}", pile[-1])
        for seat in derived.partners[state.seat]
        for name, pile in (("p", state.payoffs[seat]), *((f"s{i}", p) for i, p in enumerate(state.sides[seat])))
        if pile
    ]
    ends = _cache_ends(centre)
    return [source + target for source, top in tops for target in ends[top]]
