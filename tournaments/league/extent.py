"""How much a tournament has to play: what was played, and what is still open; not what nobody plays any more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from malice.referee.records import Key
from malice.tournaments.league.tournament import Tournament

Place = tuple[int, int]
"""A part, and a table in it."""


class Workload(NamedTuple):
    """The extent of a tournament."""

    tables: int
    """A table that goes on with another one counts once."""
    games: int
    batches: int


def count_games(keys: Iterable[Key]) -> Counter[Place]:
    """Return the number of games by part and table."""
    return Counter((key.part, key.table) for key in keys)


def measure_workload(tournament: Tournament, played: Mapping[Place, int]) -> Workload:
    """Return what was played and what is open; of an entry that left, or of an older version, only what was played.

    Args:
        tournament: the tournament.
        played: the number of finished games by part and table.
    """
    games = {place: count for place, count in played.items() if count} | _list_open(tournament)
    befores = {tournament.parts[part].tables[table].after for part, table in games}
    batches = sum(_count_batches(tournament, place, count) for place, count in games.items())
    return Workload(len(games.keys() - befores), sum(games.values()), batches)


def _list_open(tournament: Tournament) -> dict[Place, int]:
    """Return how many games the tables of open parts have whose entries still play."""
    return {
        (schedule.part.number, number): schedule.deals * schedule.rotations[number]
        for schedule in tournament.open_parts
        for number, table in enumerate(schedule.part.tables)
        if not any(map(tournament.excuses, table.entrants))
    }


def _count_batches(tournament: Tournament, place: Place, games: int) -> int:
    part, table = place
    schedule = tournament.schedules[part]
    rotations = schedule.rotations[table]
    if games < schedule.deals * rotations:
        return -(-games // schedule.batch_deals)
    return rotations * -(-schedule.deals // schedule.batch_deals)
