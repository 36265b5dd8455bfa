"""The numbers of cards that follow from the parameters for a number of seats."""

from __future__ import annotations

from collections.abc import Mapping

from malice.referee.games.spite.derived import DerivedRules
from malice.referee.games.spite.parameters import Parameters

THIN_STOCK = 12
"""Fewer cards than this in the stock after the deal deserve a remark."""


def list_figures(rules: Parameters, seats: int) -> Mapping[str, str]:
    """Return the figures by caption.

    Raises:
        RulesetError: that many seats cannot play.
    """
    derived = DerivedRules(rules, seats)
    cards = len(derived.payoff_pack + derived.deck)
    each = derived.payoff_size + rules.hand_size + rules.side_count * rules.side_initial
    stock = cards - seats * each
    return {
        "cards": str(cards),
        "in each pay-off pile": str(derived.payoff_size),
        "centre stacks": "unlimited" if derived.centre_slots is None else str(derived.centre_slots),
        "in the stock after the deal": f"only {stock}" if stock < THIN_STOCK else str(stock),
    }
