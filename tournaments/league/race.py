"""Who is ahead in a game, and where it turned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from malice.referee.families import load_family
from malice.referee.records import Record
from malice.referee.replay import find_rules


class Turn(Struct, frozen=True):
    """Where a game turned."""

    action: int
    """As replays count them, from 0."""
    changed: bool
    """Whether the lead went from one side to another; otherwise the winner led from here on, all the time."""


def list_left(record: Record, states: Iterable[object]) -> list[Sequence[int]]:
    """How much each seat had left in these states of a game; nothing if its family does not say.

    Raises:
        FamilyError: the family is missing, or does not say it for each seat.
    """
    family, rules = load_family(record.family), find_rules(record)
    return (
        [] if family.race is None else [family.measure_race(rules.view(state, None), rules.seats) for state in states]
    )


def find_leads(race: Sequence[Sequence[int]]) -> list[frozenset[int]]:
    """The seats in the lead, for each entry of `list_left`."""
    return [frozenset(seat for seat, own in enumerate(left) if own == min(left)) for left in race]


def find_turn(leads: Sequence[frozenset[int]], teams: Sequence[int]) -> Turn | None:
    """The ask in which the side that led at the end took the lead for the last time, as if each were an action.

    Args:
        leads: the seats in the lead, after the deal and then after each ask; those of several sides share it.
        teams: by seat.
    """
    sides = [{teams[seat] for seat in lead} for lead in leads]
    if not sides or len(sides[-1]) > 1:
        return None
    final = sides[-1]
    others = [place for place, side in enumerate(sides) if len(side) == 1 and side != final]
    first = others[-1] + 1 if others else 0
    taken = next(place for place in range(first, len(sides)) if sides[place] == final)
    return Turn(max(taken - 1, 0), bool(others))
