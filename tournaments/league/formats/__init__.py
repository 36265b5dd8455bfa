"""Formats: each is a pure function that says which part a tournament creates next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from malice.referee.errors import DataError
from malice.referee.rulesets import Ruleset
from malice.tournaments.league.config import Config
from malice.tournaments.league.formats.comparison import decide_comparison
from malice.tournaments.league.formats.gauntlet import decide_gauntlet, refuse_gauntlet
from malice.tournaments.league.formats.knockout import decide_knockout, refuse_knockout
from malice.tournaments.league.formats.round_robin import decide_round_robin
from malice.tournaments.league.formats.situation import Decision, FormatInput
from malice.tournaments.league.formats.swiss import decide_swiss, refuse_swiss
from malice.tournaments.league.seats import find_seats

Refuse = Callable[[Config, Sequence[str]], None]


class Format(NamedTuple):
    """A format."""

    decide: Callable[[FormatInput], Decision]
    """Returns the next part."""
    refuse: Refuse = lambda config, labels: None
    """Refuses a file that does not describe such a tournament: its configuration, and the labels of its entries."""
    grows: bool = True
    """Whether its games have no rounds: they wait for absent entries, may have more seats and several rulesets."""
    takes_late_entries: bool = True
    revision: int = 1
    """One more whenever it may ask for other parts than before: a league plays no part on of another revision."""


FORMATS = {
    "round-robin": Format(decide_round_robin),
    "gauntlet": Format(decide_gauntlet, refuse_gauntlet),
    "swiss": Format(decide_swiss, refuse_swiss, grows=False),
    "knockout": Format(decide_knockout, refuse_knockout, grows=False, takes_late_entries=False),
    "comparison": Format(decide_comparison, takes_late_entries=False),
}
"""By the name in the tournament file."""


def decide(situation: FormatInput) -> Decision:
    """Return the next part of a tournament, by its format; raise DataError if its tables cannot be formed."""
    return FORMATS[situation.tournament.config.format].decide(situation)


def refuse_misfit(config: Config, labels: Sequence[str], rulesets: Sequence[Ruleset]) -> None:
    """Make sure that a format can play what a file describes.

    Raises:
        DataError: it cannot; the message names the field.
    """
    name = config.format
    _refuse_strange_fields(config)
    if name != "round-robin":
        for ruleset in rulesets:
            if (seats := find_seats(config, ruleset)) != 2:
                raise DataError(f'format = "{name}": expected tables of two seats, got {seats} under {ruleset.name}')
    if not FORMATS[name].grows and len(rulesets) > 1:
        raise DataError(f'format = "{name}": expected one ruleset, got {len(rulesets)}')
    FORMATS[name].refuse(config, labels)


def _refuse_strange_fields(config: Config) -> None:
    """Refuse fields that belong to another format."""
    belong = {
        "challengers": (config.challengers, ("gauntlet",)),
        "opponents": (config.opponents, ("gauntlet",)),
        "rounds": (config.rounds, ("swiss",)),
        "seeding": (config.seeding != "file", ("knockout",)),
        "tables": (config.tables, ("round-robin",)),
    }
    for field, (value, formats) in belong.items():
        if value and config.format not in formats:
            raise DataError(f'{field}: belongs to format = "{formats[0]}", got format = "{config.format}"')
