"""Rulesets as the journal keeps them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from msgspec import ValidationError, convert, json
from msgspec.structs import fields

from malice.referee.errors import FamilyError
from malice.referee.families import Family, has_family, load_family, parse_parameters
from malice.referee.rulesets import Ruleset
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.journal import StoredRuleset


def store_ruleset(ruleset: Ruleset) -> StoredRuleset:
    """Return a ruleset as the journal keeps it."""
    family = load_family(ruleset.family)
    rules = json.decode(json.encode(ruleset.rules))  # as it is read back, lists for tuples
    name, about, source = ruleset.name, ruleset.about, ruleset.source
    return StoredRuleset(name, ruleset.family, family.package, about, source, rules, family.revision)


def restore_ruleset(stored: StoredRuleset) -> Ruleset:
    """Return a ruleset that the journal keeps; of one of another revision, what today's parameters know of it.

    Raises:
        LeagueError: its game comes from a package that is not installed, or that has changed.
        ValueError: its parameters are not those of its game.
    """
    if stored.package and not has_family(stored.family):
        raise LeagueError(
            f"the game {stored.family!r} comes from the package {stored.package!r}, which is not installed"
        )
    try:
        family = load_family(stored.family)
        known = stored.rules if stored.revision == family.revision else _choose_known(family, stored.rules)
        rules = parse_parameters(stored.family, known)
    except FamilyError as error:
        raise (LeagueError if stored.package else ValueError)(str(error)) from None
    except ValidationError as error:
        raise ValueError(str(error)) from None
    return Ruleset(stored.name, stored.family, stored.about, stored.source, rules)


def _choose_known(family: Family, rules: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that a family still has, as far as it knows their values."""
    known = {}
    for field in fields(family.parameters):
        if field.encode_name in rules:
            with suppress(ValidationError):
                convert(rules[field.encode_name], field.type)
                known[field.encode_name] = rules[field.encode_name]
    return known
