"""The legal list: one string per distinct card and place, in canonical order."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from referee.ruleset import Compulsory, Parameters
from referee.spite.counts import with_count
from referee.spite.derived import DerivedRules
from referee.spite.fills import only_fills
from referee.spite.forced_plays import only_breaking, only_compulsory
from referee.spite.loading import load_targets
from referee.spite.sides import Targets, side_targets
from referee.spite.stalemates import can_pass, with_pass
from referee.spite.state import State

Amendment = Callable[[DerivedRules, State, list[str]], list[str]]
"""What a rule does to the list of all plays: it strikes some out, or adds one that moves no card."""

AMENDMENTS: tuple[tuple[Amendment, Callable[[Parameters], bool]], ...] = (
    (only_fills, lambda rules: rules.fill_empty_sides),
    (with_pass, can_pass),
    (only_compulsory, lambda rules: rules.compulsory != Compulsory()),
    (only_breaking, lambda rules: rules.stalemate == "must_play"),
    (with_count, lambda rules: rules.payoff_count != "public"),
)
"""In the order in which they apply, each with the rules that have it."""


class Actions:
    """Lists the legal actions under one ruleset; what it does not have is not asked for."""

    def __init__(self, setting: DerivedRules) -> None:
        self._setting = setting
        self._centre_targets = _centre_targets(setting)
        self._side_targets = side_targets(setting)
        self._loads = setting.rules.loading != "none"
        self._partners = any(setting.partners)
        self._amendments = tuple(amend for amend, applies in AMENDMENTS if applies(setting.rules))

    def legal(self, state: State) -> tuple[str, ...]:
        """List the actions of the seat to act, by source: pay-off top, partners' tops, hand, side tops."""
        if state.phase != "turn":
            return ()
        setting, seat = self._setting, state.seat
        sides = state.sides[seat]
        centre = self._centre_targets(state.heights)
        loads = load_targets(setting, state) if self._loads else ()
        found: list[str] = []
        payoff = state.payoffs[seat]
        if payoff:
            found += ["p" + target for target in _ends(centre + loads)[payoff[-1]]]
        if self._partners:
            found += _partners_plays(setting, state, centre)
        plays, discards = _from_hand(centre), _from_hand(self._side_targets(sides))
        previous = ""
        for card in state.hands[seat]:
            if card != previous:
                found += plays[card]
                found += discards[card]
                if loads:
                    found += _from_hand(loads)[card]
                previous = card
        ends = _ends(centre)
        for index, pile in enumerate(sides):
            if pile:
                found += [f"s{index}{target}" for target in ends[pile[-1]]]
        for amend in self._amendments:
            found = amend(setting, state, found)
        return tuple(found)


class Ends(dict[str, tuple[str, ...]]):
    """Card -> those of certain targets that accept it, worked out when a card is first asked for."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets

    def __missing__(self, card: str) -> tuple[str, ...]:
        self[card] = found = self._list_targets(card)
        return found

    def _list_targets(self, card: str) -> tuple[str, ...]:
        return tuple([target for target, accepted in self._targets if card in accepted])


class FromHand(Ends):
    """Hand card -> its actions on certain targets."""

    def _list_targets(self, card: str) -> tuple[str, ...]:
        return tuple([f"h{card}{target}" for target in super()._list_targets(card)])


# The same targets come back again and again, turn by turn and game by game.
_ends = lru_cache(maxsize=4096)(Ends)
_from_hand = lru_cache(maxsize=4096)(FromHand)


def _centre_targets(setting: DerivedRules) -> Callable[[tuple[int, ...]], Targets]:
    """Return the function that lists centre stacks by their heights, with the cards that fit.

    Of empty slots only the first is listed, or a new one where there is no limit.
    """

    @lru_cache(maxsize=4096)
    def targets(heights: tuple[int, ...]) -> Targets:
        slots = heights if 0 in heights or setting.centre_slots is not None else (*heights, 0)
        first_empty = slots.index(0) if 0 in slots else None
        return tuple(
            (f"-c{slot}", setting.fits[height]) for slot, height in enumerate(slots) if height or slot == first_empty
        )

    return targets


def _partners_plays(setting: DerivedRules, state: State, centre: Targets) -> list[str]:
    """List what the partners' pay-off and side tops can do: go to the centre."""
    tops = [
        (f"{seat}{name}", pile[-1])
        for seat in setting.partners[state.seat]
        for name, pile in (("p", state.payoffs[seat]), *((f"s{i}", p) for i, p in enumerate(state.sides[seat])))
        if pile
    ]
    ends = _ends(centre)
    return [source + target for source, top in tops for target in ends[top]]
