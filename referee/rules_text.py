"""A ruleset in words: every parameter with its value and its meaning, and what differs between two of them."""

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
"""Fewer cards than this in the stock after the deal are worth a remark."""


class ParameterText(Struct, frozen=True):
    """One parameter of a ruleset."""

    name: str
    """As it is written in TOML, `compulsory.hand` for a field of a table."""
    value: str
    """As it is written in TOML."""
    standard: str
    """What the ruleset `standard` has there."""
    differs: bool
    prose: str
    """What it means, in a sentence or two; empty where the source text of the program is not at hand."""


class SeatsText(Struct, frozen=True):
    """What the parameters come to for a number of seats."""

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
    """What to think of before playing so; mostly empty."""


class RulesetText(Struct, frozen=True):
    """Everything that can be said of one ruleset."""

    name: str
    about: str
    source: str
    parameters: tuple[ParameterText, ...]
    seats: tuple[SeatsText, ...]
    """One for each number of seats that it allows and can be played by."""


class Difference(Struct, frozen=True):
    """A parameter that two rulesets set differently, both values as they are written in TOML."""

    name: str
    left: str
    right: str
    prose: str


class RulesetDiff(Struct, frozen=True):
    """Where two rulesets differ; equal parameters are left out."""

    left: str
    right: str
    differences: tuple[Difference, ...]


def describe_ruleset(told: Ruleset) -> RulesetText:
    """Return the text of a ruleset, its parameters in the order of `Parameters`.

    Raises:
        RulesetError: no number of seats that it allows can play it.
    """
    standard = dict(_values(ruleset.load_ruleset(DEFAULT).rules))
    parameters = tuple(
        ParameterText(name, value, standard[name], value != standard[name], prose().get(name, ""))
        for name, value in _values(told.rules)
    )
    seats = tuple(_seats(told.rules)) or (_describe_value(DerivedRules(told.rules, told.rules.players[0])),)
    return RulesetText(told.name, told.about, told.source, parameters, seats)


def compare_rulesets(left: Ruleset, right: Ruleset) -> RulesetDiff:
    """Return where two rulesets differ, in the order of `Parameters`."""
    others = dict(_values(right.rules))
    found = (
        Difference(name, value, others[name], prose().get(name, ""))
        for name, value in _values(left.rules)
        if value != others[name]
    )
    return RulesetDiff(left.name, right.name, tuple(found))


@cache
def prose() -> dict[str, str]:
    """Return the docstring under each field of `Parameters`, by the name of the parameter, on one line each."""
    texts = read_field_docs(ruleset)
    return {name: texts.get((type(table).__name__, field), "") for name, table, field in _fields(Parameters())}


def _fields(table: Struct, prefix: str = "") -> Iterator[tuple[str, Struct, str]]:
    """Name every parameter, with the struct and the field that hold it."""
    for field in table.__struct_fields__:
        value = getattr(table, field)
        if isinstance(value, Struct):
            yield from _fields(value, f"{prefix}{field}.")
        else:
            yield f"{prefix}{field}", table, field


def _values(rules: Parameters) -> Iterator[tuple[str, str]]:
    for name, table, field in _fields(rules):
        yield name, _toml(getattr(table, field))


def _toml(value: Any) -> str:
    """Write a value as TOML: for what parameters hold, this is how JSON writes it."""
    return json.dumps(value)


def _seats(rules: Parameters) -> Iterator[SeatsText]:
    least, most = rules.players
    for seats in range(least, most + 1):
        try:
            yield _describe_value(DerivedRules(rules, seats))
        except RulesetError:
            continue


def _describe_value(setting: DerivedRules) -> SeatsText:
    rules, seats = setting.rules, setting.seats
    cards = len(setting.payoff_pack + setting.deck)
    each = setting.payoff_size + rules.hand_size + rules.side_count * rules.side_initial
    stock = cards - seats * each
    remark = f"only {stock} cards are left in the stock after the deal" if stock < THIN_STOCK else ""
    return SeatsText(seats, cards, setting.payoff_size, setting.centre_slots, stock, remark)
