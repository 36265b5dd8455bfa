"""The round-robin: every set of entries meets at a table, or as many as the file asks to draw."""

from __future__ import annotations

from malice.tournaments.league.formats.growing import decide_growing
from malice.tournaments.league.formats.situation import Decision, FormatInput


def decide_round_robin(situation: FormatInput) -> Decision:
    """Return the next part; raise DataError if a ruleset does not allow as many seats as there are."""
    return decide_growing(situation, lambda entrants: True)
