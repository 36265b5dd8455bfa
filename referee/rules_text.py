"""Describes a ruleset: every parameter with its value and its meaning, and the differences between two rulesets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from msgspec import Struct

from protocol.field_docs import read_field_docs
from referee import ruleset
from referee.errors import RulesetError
from referee.ruleset import DEFAULT, Parameters, Ruleset
from referee.spite.derived import DerivedRules

THIN_STOCK = 12
"""Fewer cards than this in the stock after the deal deserve a remark."""


class ParameterText(Struct, frozen=True):
    """One parameter of a ruleset."""

    name: str
    """As in TOML; `compulsory.hand` for a field of a table."""
    value: str
    """As in TOML."""
    standard: str
    """The value in the ruleset `standard`."""
    differs: bool
    prose: str
    """Its meaning, in a sentence or two; empty if the source text of the program is unavailable."""


class SeatsText(Struct, frozen=True):
    """The numbers of cards that follow from the parameters for a number of seats."""

    seats: int
    cards: int
    """All cards in play."""
    payoff: int
    """Cards in each pay-off pile."""
    centre: int | None
    """Centre stacks at a time; None for any number."""
    stock: int
    """Cards in the stock after the deal."""
    remark: str
    """A warning before such a game; usually empty."""


class RulesetText(Struct, frozen=True):
    """The whole description of one ruleset."""

    name: str
    about: str
    source: str
    parameters: tuple[ParameterText, ...]
    seats: tuple[SeatsText, ...]
    """One for each number of seats that it allows and that can play it."""


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


def describe_ruleset(described: Ruleset) -> RulesetText:
    """Return the text of a ruleset, its parameters in the order of `Parameters`.

    Raises:
        RulesetError: no number of seats that it allows can play it.
    """
    standard = dict(_list_values(ruleset.load_ruleset(DEFAULT).rules))
    parameters = tuple(
        ParameterText(name, value, standard[name], value != standard[name], prose().get(name, ""))
        for name, value in _list_values(described.rules)
    )
    seats = tuple(_list_seats(described.rules)) or (
        _describe_seats(DerivedRules(described.rules, described.rules.players[0])),
    )
    return RulesetText(described.name, described.about, described.source, parameters, seats)


def compare_rulesets(left: Ruleset, right: Ruleset) -> RulesetDiff:
    """Return the differences between two rulesets, in the order of `Parameters`."""
    others = dict(_list_values(right.rules))
    differences = (
        Difference(name, value, others[name], prose().get(name, ""))
        for name, value in _list_values(left.rules)
        if value != others[name]
    )
    return RulesetDiff(left.name, right.name, tuple(differences))


@cache
def prose() -> dict[str, str]:
    """Return the docstring of each field of `Parameters`, on one line, by the name of the parameter."""
    texts = read_field_docs(ruleset)
    return {name: texts.get((type(table).__name__, field), "") for name, table, field in _list_fields(Parameters())}


def _list_fields(table: Struct, prefix: str = "") -> Iterator[tuple[str, Struct, str]]:
    """Yield the name of every parameter, with the struct and the field that hold it."""
    for field in table.__struct_fields__:
        value = getattr(table, field)
        if isinstance(value, Struct):
            yield from _list_fields(value, f"{prefix}{field}.")
        else:
            yield f"{prefix}{field}", table, field


def _list_values(rules: Parameters) -> Iterator[tuple[str, str]]:
    for name, table, field in _list_fields(rules):
        yield name, _format_toml(getattr(table, field))


def _format_toml(value: Any) -> str:
    """Return a value as TOML; for the types of parameters, JSON is the same."""
    return json.dumps(value)


def _list_seats(rules: Parameters) -> Iterator[SeatsText]:
    least, most = rules.players
    for seats in range(least, most + 1):
        try:
            yield _describe_seats(DerivedRules(rules, seats))
        except RulesetError:
            continue


def _describe_seats(derived: DerivedRules) -> SeatsText:
    rules, seats = derived.rules, derived.seats
    cards = len(derived.payoff_pack + derived.deck)
    each = derived.payoff_size + rules.hand_size + rules.side_count * rules.side_initial
    stock = cards - seats * each
    left = "1 card is" if stock == 1 else f"{stock} cards are"
    remark = f"only {left} left in the stock after the deal" if stock < THIN_STOCK else ""
    return SeatsText(seats, cards, derived.payoff_size, derived.centre_slots, stock, remark)
