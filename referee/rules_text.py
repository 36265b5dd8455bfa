"""Describes a ruleset: every parameter with its value and its meaning, and the differences between two rulesets."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from msgspec import Struct

from malice.referee.errors import RulesetError
from malice.referee.families import Family, load_family, make_rules
from malice.referee.games import DEFAULT_FAMILY, DEFAULT_RULESET
from malice.referee.rulesets import Ruleset, load_ruleset
from malice.referee.schema import read_field_docs


class ParameterText(Struct, frozen=True):
    """One parameter of a ruleset."""

    name: str
    """As in TOML; `compulsory.hand` for a field of a table."""
    value: str
    """As in TOML."""
    standard: str
    """The usual value: that in the ruleset `standard`, or in other games the default."""
    differs: bool
    prose: str
    """Its meaning, in a sentence or two; empty if the source text of the program is unavailable."""


class SeatsText(Struct, frozen=True):
    """What follows from the parameters for a number of seats."""

    seats: int
    figures: Mapping[str, str]
    """By caption, such as "cards", what the family counts."""


class RulesetText(Struct, frozen=True):
    """The whole description of one ruleset."""

    name: str
    family: str
    about: str
    source: str
    usual: str
    """Where the usual values stand: the name of a ruleset, or "default" for those of the family's `Parameters`."""
    parameters: tuple[ParameterText, ...]
    seats: tuple[SeatsText, ...]
    """One for each number of seats that it allows and that can play it."""

    def group_seats(self) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Yield what follows from the parameters, once for numbers of seats in a row that have the same figures."""
        placed = ((line.seats - place, line) for place, line in enumerate(self.seats))
        for (_, figures), same in groupby(placed, lambda each: (each[0], each[1].figures)):
            numbers = [line.seats for _, line in same]
            yield str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}", figures


class Difference(Struct, frozen=True):
    """A parameter that two rulesets set differently; both values as in TOML."""

    name: str
    left: str
    right: str
    prose: str


class RulesetDiff(Struct, frozen=True):
    """The differences between two rulesets."""

    left: str
    right: str
    differences: tuple[Difference, ...]


def make_ruleset_text(described: Ruleset) -> RulesetText:
    """Describe a ruleset, its parameters in the order of the family's `Parameters`.

    Raises:
        RulesetError: no number of seats that it allows can play it.
    """
    family = load_family(described.family)
    texts = read_parameter_texts(family)
    usual = dict(_list_values(_find_usual(family)))
    parameters = tuple(
        ParameterText(name, value, usual[name], value != usual[name], texts.get(name, ""))
        for name, value in _list_values(described.rules)
    )
    seats = tuple(_list_seats(described))
    where = DEFAULT_RULESET if family.name == DEFAULT_FAMILY else "default"
    return RulesetText(described.name, family.name, described.about, described.source, where, parameters, seats)


def compare_rulesets(left: Ruleset, right: Ruleset) -> RulesetDiff:
    """Compare two rulesets of a family, in the order of its `Parameters`.

    Raises:
        RulesetError: they belong to different games.
    """
    if left.family != right.family:
        raise RulesetError(f"{left.name} is a ruleset of the game {left.family}, {right.name} of {right.family}")
    texts, others = read_parameter_texts(load_family(left.family)), dict(_list_values(right.rules))
    differences = (
        Difference(name, value, others[name], texts.get(name, ""))
        for name, value in _list_values(left.rules)
        if value != others[name]
    )
    return RulesetDiff(left.name, right.name, tuple(differences))


def read_parameter_texts(family: Family) -> dict[str, str]:
    """Read the docstring of each parameter of a family, on one line, by the parameter's name."""
    texts = read_field_docs(sys.modules[family.parameters.__module__])
    fields = _list_fields(family.parameters())
    return {name: texts.get((type(table).__name__, field), "") for name, table, field in fields}


def _find_usual(family: Family) -> Struct:
    if family.name != DEFAULT_FAMILY:
        return family.parameters()
    usual: Struct = load_ruleset(DEFAULT_RULESET).rules
    return usual


def _list_fields(table: Struct, prefix: str = "") -> Iterator[tuple[str, Struct, str]]:
    """Yield the name of every parameter, with the struct and the field that hold it."""
    for field in table.__struct_fields__:
        value = getattr(table, field)
        if isinstance(value, Struct):
            yield from _list_fields(value, f"{prefix}{field}.")
        else:
            yield f"{prefix}{field}", table, field


def _list_values(rules: Struct) -> Iterator[tuple[str, str]]:
    for name, table, field in _list_fields(rules):
        yield name, _format_toml(getattr(table, field))


def _format_toml(value: Any) -> str:
    """Format a value as TOML; for the types of parameters, JSON is the same."""
    return json.dumps(value)


def _list_seats(described: Ruleset) -> Iterator[SeatsText]:
    least, most = described.match.players
    playable = 0
    for seats in range(least, most + 1):
        try:
            make_rules(described.family, described.rules, seats)
        except RulesetError:
            if seats == most and not playable:
                raise
            continue
        playable += 1
        yield SeatsText(seats, load_family(described.family).figures(described.rules, seats))
