"""Positions by name: in a file, or of a game of a league."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec

from malice.referee.errors import DataError
from malice.referee.game import Game, Position, decode_position
from malice.referee.records import Key, Record
from malice.referee.rulesets import Ruleset
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.store import Store

MARK = "#"
"""Parts the file of a league from a place in it, as in the address of a replay."""


def read_positions(words: str) -> tuple[Position, ...]:
    """Read what words name: a JSON file with a position on each line, or a place in a league.

    Args:
        words: a file; or `friday.db#0.0.1.1/57`, after 57 actions of that game; in a league of several tournaments
            `season.db#final/0.0.1.1/57`.

    Raises:
        DataError: there is no such position; the message says where.
        LeagueError: the part of the game is open.
    """
    if MARK in words:
        return (_recall_position(words),)
    try:
        lines = Path(words).read_bytes().splitlines()
    except OSError as error:
        raise DataError(
            error.strerror or "", where=words, expected="a file of positions, or LEAGUE.db#KEY/ACTION"
        ) from None
    positions = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                positions.append(decode_position(line))
            except DataError as error:
                raise error.within(f"{words}, line {number}") from None
    if not positions:
        raise DataError(where=words, expected="a position on each line", got="none")
    return tuple(positions)


def find_origin(words: str) -> str:
    """The file of the league that words name a place in; empty if they name a file of positions."""
    return words.rpartition(MARK)[0]


class RecordedPlace(NamedTuple):
    """A place in a game of a league."""

    record: Record
    ruleset: Ruleset
    actions: int


def _find_place(words: str) -> RecordedPlace:
    path, place = find_origin(words), words.rpartition(MARK)[2]
    tournament, _, name = place.rpartition("/")[0].rpartition("/")
    action = place.rpartition("/")[2]
    if not name or not action.isdecimal():
        raise DataError(where=repr(words), expected="LEAGUE.db#KEY/ACTION, such as friday.db#0.0.1.1/57")
    with Store(Path(path)) as store:
        if tournament:
            store.select(tournament)
        chosen = store.tournament()
        key = Key.parse(name, len(chosen.parts))
        if key.part < len(chosen.parts) and key.part not in chosen.closed:
            raise LeagueError(
                f"{words!r}: part {key.part} is not over, and its mirrors still play these cards; expected a game of a"
                " part that is"
            )
        record = store.record(key)
        return RecordedPlace(record, chosen.rulesets[record.ruleset], int(action))


def _recall_position(words: str) -> Position:
    place = _find_place(words)
    game = Game.from_record(*place)
    if game.over:
        raise DataError(where=repr(words), expected="an action before the end of the game", got=place.actions)
    return decode_position(game.position())


def recall_end(words: str) -> str:
    """Tell how a game of a league went on from a place in it; empty if words name a file of positions.

    Raises:
        DataError, LeagueError: as `read_positions`.
    """
    if MARK not in words:
        return ""
    record = _find_place(words).record
    labels = [label for label, _ in record.entries]
    won = [label for label, place in zip(labels, record.places, strict=True) if place == 1]
    how = "it ended in a draw" if len(won) == len(labels) else f"{' and '.join(won)} won"
    return f"In the game of the league, {' v '.join(labels)}, {how}."


def deal_anew(position: Position, seat: int, rng: Random) -> Position:
    """Deal anew what a seat does not know, as `Game.resample` does.

    Raises:
        RulesetError: the game cannot do so.
    """
    game = Game.from_position(msgspec.json.encode(position))
    game.resample(seat, rng)
    return decode_position(game.position())


def require_one_table(where: str, positions: Sequence[Position], seats: int) -> None:
    """Make sure that positions are of one ruleset and for a number of seats.

    Raises:
        DataError: they are not; the message begins with `where`.
    """
    if positions:
        first = positions[0].find_ruleset()
        if others := [position.ruleset for position in positions if position.find_ruleset() != first]:
            raise DataError(where=where, expected="positions of one ruleset", got=f"{first.name} and {others[0]}")
    if strange := [position.seats for position in positions if position.seats != seats]:
        raise DataError(where=where, expected=f"{strange[0]} bots, as many as the positions have seats", got=seats)
