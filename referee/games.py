"""Finds the game that plays a ruleset."""

from __future__ import annotations

from functools import cache

from referee.ruleset import Parameters
from referee.spite import SpiteAndMalice


@cache
def make_rules(rules: Parameters, seats: int) -> SpiteAndMalice:
    """Return the game under `rules` with that many seats.

    Raises:
        RulesetError: the parameters do not make a game of that many seats.
    """
    return SpiteAndMalice(rules, seats)
