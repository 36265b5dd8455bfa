"""Formats: each is a pure function that says which part a tournament creates next."""

from __future__ import annotations

from collections.abc import Callable

from tournaments.league.formats.comparison import decide_comparison
from tournaments.league.formats.round_robin import decide_round_robin
from tournaments.league.formats.situation import Decision, Situation

FORMATS: dict[str, Callable[[Situation], Decision]] = {
    "round-robin": decide_round_robin,
    "comparison": decide_comparison,
}
"""By the name in the tournament file."""


def decide(situation: Situation) -> Decision:
    """Return the next part of a tournament, by its format.

    Raises:
        DataError: its file asks for tables that cannot be formed.
    """
    return FORMATS[situation.tournament.config.format](situation)
