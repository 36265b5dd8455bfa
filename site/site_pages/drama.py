"""The most dramatic of the latest games: the one that a replay page opens when it is not told which."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise

from malice.referee.errors import FamilyError, RecordError
from malice.referee.records import Key, Record
from malice.referee.replay import VOID, find_rules, replay_asks
from malice.site_pages.source import SiteContents
from malice.site_pages.turning_point import find_leads, list_left

DRAMA_GAMES = 12
"""The latest games to choose from: a bounded number, since each of them is played again, once."""


class Dramas:
    """How dramatic games were; computed once for each game, since that plays it again."""

    def __init__(self) -> None:
        self._known: dict[Key, float] = {}

    def find(self, source: SiteContents) -> Key | None:
        """Return the most dramatic of the latest games that were decided by play; None if none was."""
        decided = (game.key for game in source.games() if not any(game.verdicts) and game.reason != VOID)
        latest = deque(decided, maxlen=DRAMA_GAMES)
        missing = [key for key in latest if key not in self._known]
        for key, record in zip(missing, source.read_records(missing), strict=True):
            self._known[key] = _measure(record)
        self._known = {key: self._known[key] for key in latest}
        return max(latest, key=lambda key: self._known[key], default=None)


def _measure(record: Record) -> float:
    try:
        race = list_left(record, [ask.after for ask in replay_asks(record)])
    except (FamilyError, RecordError):
        return 0  # its own replay page tells what is wrong with it
    return measure_drama(race, find_rules(record).teams) if race else 0


def measure_drama(race: Sequence[Sequence[int]], teams: Sequence[int]) -> float:
    """Return how dramatic a race was: each change of the lead counts by how late it came, and a close end up to 1.

    Args:
        race: by seat how much was left, after the deal and then after each action.
        teams: by seat.
    """
    sides = [{teams[seat] for seat in lead} for lead in find_leads(race)]
    alone = [(place, side) for place, side in enumerate(sides) if len(side) == 1]
    changes = [place for (_, before), (place, after) in pairwise(alone) if before != after]
    ends = sorted(dict(zip(teams, race[-1], strict=True)).values())
    close = 1 / (1 + ends[1] - ends[0]) if len(ends) > 1 else 0
    return sum(place / len(race) for place in changes) + close
