"""Formats: each is a pure function that says which part a tournament creates next; and when a part is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from typing import NamedTuple

from malice.referee.errors import DataError
from malice.referee.records import Key
from malice.referee.rulesets import Ruleset
from malice.tournaments.league.config import Config, find_seats
from malice.tournaments.league.contents import Finished, TablePlace
from malice.tournaments.league.counting import find_counted_games, is_left_out
from malice.tournaments.league.formats.decisions import Decision, FormatInput
from malice.tournaments.league.formats.growing import (
    decide_comparison,
    decide_gauntlet,
    decide_round_robin,
    refuse_gauntlet,
)
from malice.tournaments.league.formats.knockout import decide_knockout, rank_knockout, refuse_knockout
from malice.tournaments.league.formats.swiss import decide_swiss, rank_swiss, refuse_swiss
from malice.tournaments.league.parts import Schedule
from malice.tournaments.league.tournament import Tournament

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
    "swiss": Format(decide_swiss, refuse_swiss, grows=False, revision=2),
    "knockout": Format(decide_knockout, refuse_knockout, grows=False, takes_late_entries=False, revision=2),
    "comparison": Format(decide_comparison, takes_late_entries=False),
}
"""By the name in the tournament file."""


def decide(format_input: FormatInput) -> Decision:
    """Decide the next part of a tournament, by its format; raise DataError if its tables cannot be formed."""
    return FORMATS[format_input.tournament.config.format].decide(format_input)


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


class OpenGame(Exception):
    """A game of a part is open, and nobody is to blame for that."""

    def __init__(self, key: Key) -> None:
        super().__init__(str(key))
        self.key = key


def find_absent(tournament: Tournament, number: int, finished: Iterable[Finished]) -> tuple[str, ...]:
    """The labels of those whose games in a part were left unplayed, sorted.

    They left, or another version of them plays, or, in a format of rounds, they wait for their bot. Suspended
    entries are not among them.

    Args:
        tournament: the tournament.
        number: the part.
        finished: the finished games of the tournament.

    Raises:
        OpenGame: a game is open.
    """
    schedule = tournament.schedules[number]
    mine = [game for game in finished if game.key.part == number]
    counted_games = find_counted_games(tournament, mine)
    if (test := counted_games.tests.get(number)) and test.end is not None:
        return ()  # its test has an answer
    suspended = counted_games.by_part.get(number, {})
    played = Counter(game.key.table for game in mine)
    waiting = set() if FORMATS[tournament.config.format].grows else tournament.waiting()
    absent: set[str] = set()
    for place, table in enumerate(schedule.part.tables):
        if played[place] == schedule.deals * schedule.rotations[place]:
            continue
        away = {each.label for each in table.versions if tournament.excuses(each) or each.label in waiting}
        if not away and (key := _find_open(schedule, place, {game.key for game in mine}, suspended)):
            raise OpenGame(key)
        absent |= away
    return tuple(sorted(absent))


def _find_open(schedule: Schedule, table: int, done: Collection[Key], suspended: dict[str, int]) -> Key | None:
    """An open game at a table; None if a suspension leaves out all that were not played."""
    labels = schedule.labels[table]
    for deal in range(schedule.deals):
        for rotation in range(schedule.rotations[table]):
            key = Key(schedule.part.number, table, deal, rotation)
            if key not in done and not is_left_out(schedule.number(key), labels, suspended):
                return key
    return None


def make_table(format_input: FormatInput) -> tuple[TablePlace, ...]:
    """The table of a format after its closed parts, the best first; nothing for formats without one."""
    match format_input.tournament.config.format:
        case "swiss":
            rows = rank_swiss(format_input)
            figures = [(row.points, row.buchholz) for row in rows]
            return tuple(
                TablePlace(row.label, 1 + figures.index(own), float(row.points), float(row.buchholz))
                for row, own in zip(rows, figures, strict=True)
            )
        case "knockout":
            return tuple(TablePlace(label, place) for label, place in rank_knockout(format_input))
        case _:
            return ()


def make_table_before(format_input: FormatInput, part: int) -> tuple[TablePlace, ...]:
    """The table as it was before this part and all later ones; nothing if no part had closed by then."""
    earlier = copy(format_input.tournament)
    earlier.closed = {number for number in earlier.closed if number < part}
    return make_table(format_input._replace(tournament=earlier)) if earlier.closed else ()
