"""The rules that strike actions from the list of all plays, or add one that moves no card."""

from __future__ import annotations

from collections.abc import Callable

from malice.referee.games.spite.derived import DerivedRules
from malice.referee.games.spite.parameters import Compulsory, Parameters
from malice.referee.games.spite.state import State

Amendment = Callable[[DerivedRules, State, list[str]], list[str]]
"""Takes the list so far and returns it amended."""

STALEMATE_BREAKERS = Compulsory(hand="A2")


def select_amendments(rules: Parameters) -> tuple[Amendment, ...]:
    """Return the amendments that a ruleset has, in the order in which they apply."""
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
