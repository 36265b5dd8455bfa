"""Cards that must go to the centre as soon as they fit: while there is one, nothing else is legal."""

from __future__ import annotations

from referee.ruleset import Compulsory
from referee.spite.derived import DerivedRules
from referee.spite.state import State

STALEMATE = Compulsory(hand="A2")


def only_compulsory(setting: DerivedRules, state: State, found: list[str]) -> list[str]:
    """Keep the compulsory plays, if there are any."""
    return _list_forced_plays(setting.rules.compulsory, state, found) or found


def only_breaking(setting: DerivedRules, state: State, found: list[str]) -> list[str]:
    """After a stalemate, until a card has moved, keep the plays of aces and twos in hand, if there are any."""
    return (state.pressed and _list_forced_plays(STALEMATE, state, found)) or found


def _list_forced_plays(ranks: Compulsory, state: State, found: list[str]) -> list[str]:
    """List the plays to the centre of cards that `ranks` names, from the seat's own zones."""
    payoff = state.payoffs[state.seat]
    sides = state.sides[state.seat]
    ends = [f"h{card}-c" for card in state.hands[state.seat] if card[0] in ranks.hand]
    if payoff and payoff[-1][0] in ranks.payoff:
        ends.append("p-c")
    ends += [f"s{index}-c" for index, pile in enumerate(sides) if pile and pile[-1][0] in ranks.side]
    return [action for action in found if action.startswith(tuple(ends))] if ends else []
