"""When a part is over, and whose games in it were left unplayed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from malice.referee.records import Key
from malice.tournaments.league.contents import Finished
from malice.tournaments.league.formats import FORMATS
from malice.tournaments.league.judgement import find_counted_games
from malice.tournaments.league.parts import Schedule
from malice.tournaments.league.suspension import is_left_out
from malice.tournaments.league.tournament import Tournament


class OpenGame(Exception):
    """A game of a part is open, and nobody is to blame for that."""

    def __init__(self, key: Key) -> None:
        super().__init__(str(key))
        self.key = key


def find_absent(tournament: Tournament, number: int, finished: Iterable[Finished]) -> tuple[str, ...]:
    """Return the labels of those whose games in a part were left unplayed, sorted.

    They left, or another version of them plays, or, in a format of rounds, they wait for their bot. Suspended entries
    are not among them.

    Args:
        tournament: the tournament.
        number: the part.
        finished: the finished games of the tournament.

    Raises:
        OpenGame: a game is open.
    """
    schedule = tournament.schedules[number]
    mine = [game for game in finished if game.key.part == number]
    judgement = find_counted_games(tournament, mine)
    if (contest := judgement.contests.get(number)) and contest.end is not None:
        return ()  # its test has an answer
    suspended = judgement.by_part.get(number, {})
    played = Counter(game.key.table for game in mine)
    waiting = set() if FORMATS[tournament.config.format].grows else tournament.waiting()
    absent: set[str] = set()
    for place, table in enumerate(schedule.part.tables):
        if played[place] == schedule.deals * schedule.rotations[place]:
            continue
        away = {each.label for each in table.entrants if tournament.excuses(each) or each.label in waiting}
        if not away and (key := _find_open(schedule, place, {game.key for game in mine}, suspended)):
            raise OpenGame(key)
        absent |= away
    return tuple(sorted(absent))


def _find_open(schedule: Schedule, table: int, done: Collection[Key], suspended: dict[str, int]) -> Key | None:
    """Return an open game at a table; None if a suspension leaves out all that were not played."""
    labels = schedule.labels[table]
    for deal in range(schedule.deals):
        for rotation in range(schedule.rotations[table]):
            key = Key(schedule.part.number, table, deal, rotation)
            if key not in done and not is_left_out(schedule.number(key), labels, suspended):
                return key
    return None
