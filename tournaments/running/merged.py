"""What a league is after a merge: which parts could be closed, and which follow."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from malice.tournaments.league.extent import count_games, measure_workload
from malice.tournaments.league.merging import Taken
from malice.tournaments.league.store import Store
from malice.tournaments.running.registration import close_complete_parts


class MergedTournament(Struct, frozen=True):
    """A tournament after a merge."""

    tournament: str
    games: int
    """Finished games."""
    planned: int
    closed: tuple[str, ...]
    """The titles of the parts that the merge closed."""
    created: tuple[str, ...]
    """The titles of the parts that follow."""


class Merged(Struct, frozen=True):
    """What came of a merge."""

    copies: tuple[Taken, ...]
    tournaments: tuple[MergedTournament, ...]


def finish_merge(store: Store, taken: Sequence[Taken]) -> Merged:
    """Close the parts of a league that have no open game any more, and return what came of the merge.

    Args:
        store: the league.
        taken: what came of each copy.

    Raises:
        Stopped: the disk is full or fails.
    """
    closed: dict[str, list[str]] = {}
    created: dict[str, list[str]] = {}
    for name, numbers, parts in close_complete_parts(store):
        closed.setdefault(name, []).extend(store.tournament().parts[number].title for number in numbers)
        created.setdefault(name, []).extend(part.title for part in parts)
    found = []
    for name in store.league().tournaments:
        store.select(name)
        keys = store.keys()
        planned = measure_workload(store.tournament(), count_games(keys)).games
        ended, begun = tuple(closed.get(name, ())), tuple(created.get(name, ()))
        found.append(MergedTournament(name, len(keys), planned, ended, begun))
    return Merged(tuple(taken), tuple(found))
