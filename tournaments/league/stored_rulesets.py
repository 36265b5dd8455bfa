"""Rulesets as the journal keeps them."""

from __future__ import annotations

from msgspec import ValidationError, json

from referee.errors import FamilyError
from referee.families import has_family, load_family, parse_parameters
from referee.rulesets import Ruleset
from tournaments.errors import LeagueError
from tournaments.league.journal import StoredRuleset


def store_ruleset(ruleset: Ruleset) -> StoredRuleset:
    """Return a ruleset as the journal keeps it."""
    package = load_family(ruleset.family).package
    rules = json.decode(json.encode(ruleset.rules))  # as it is read back, lists for tuples
    return StoredRuleset(ruleset.name, ruleset.family, package, ruleset.about, ruleset.source, rules)


def load_ruleset(stored: StoredRuleset) -> Ruleset:
    """Return a ruleset that the journal keeps.

    Raises:
        LeagueError: its game comes from a package that is not installed, or that has changed.
        ValueError: its parameters are not those of its game.
    """
    if stored.package and not has_family(stored.family):
        raise LeagueError(
            f"the game {stored.family!r} comes from the package {stored.package!r}, which is not installed"
        )
    try:
        rules = parse_parameters(stored.family, stored.rules)
    except FamilyError as error:
        raise (LeagueError if stored.package else ValueError)(str(error)) from None
    except ValidationError as error:
        raise ValueError(str(error)) from None
    return Ruleset(stored.name, stored.family, stored.about, stored.source, rules)
