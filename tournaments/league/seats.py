"""How many entries sit at a table of each ruleset."""

from __future__ import annotations

from malice.referee.errors import DataError
from malice.referee.families import make_rules
from malice.referee.rulesets import Ruleset
from malice.tournaments.league.config import Config


def find_seats(config: Config, ruleset: Ruleset) -> int:
    """Return the number of seats at the tables of a ruleset: what the file says, or else the fewest it allows."""
    return config.seats or ruleset.match.players[0]


def require_seats(config: Config, ruleset: Ruleset, entries: int) -> tuple[int, ...]:
    """Return the team of each seat at the tables of a ruleset.

    Raises:
        DataError: the ruleset does not allow the number of seats, or there are too few entries for a table.
    """
    seats = find_seats(config, ruleset)
    least, most = ruleset.match.players
    if not least <= seats <= most:
        raise DataError(describe_misfit(ruleset, seats))
    if entries < seats:
        raise DataError(f"entries: expected at least {seats} for a table of {ruleset.name}, got {entries}")
    return make_rules(ruleset.family, ruleset.rules, seats).teams


def describe_misfit(ruleset: Ruleset, seats: int) -> str:
    """Say that a ruleset does not allow a number of seats."""
    least, most = ruleset.match.players
    allowed = str(least) if least == most else f"{least} to {most}"
    return f"{ruleset.name}: is played by {allowed}, not by {seats}"
