"""Suspensions: a bot that loses several games in a row by a verdict does not play until it is readmitted.

Suspensions are a pure function of the finished games in playing order. Another job may have played a game ahead that
this order leaves out. Such a game counts for nobody and is deleted when the tournament ends, so that the result is the
same for any number of jobs.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from tournaments.league.contents import Game, LeagueContents, Readmission


def find_suspended_entries(league: LeagueContents) -> dict[str, int]:
    """Return the suspended entries of a league, each with the number of the game that suspended it."""
    return find_suspended(league.games(), league.config().suspend_after, league.readmissions())


def find_idle_readmissions(league: LeagueContents, struck: Collection[int]) -> set[Readmission]:
    """Return the readmissions that lift no suspension any more, since games played after them moved it.

    Args:
        league: its finished games and readmissions.
        struck: numbers of games that do not count.
    """
    readmitted = league.readmissions()
    counted = (game for game in league.games() if game.number not in struck) if readmitted else ()
    return readmitted - set(list_suspensions(counted, league.config().suspend_after, readmitted))


def find_suspended(games: Iterable[Game], after: int, readmitted: Collection[Readmission] = ()) -> dict[str, int]:
    """Return the suspended entries, each with the number of the game that suspended it.

    Args:
        games: finished games in playing order.
        after: verdicts in a row; 0 suspends nobody.
        readmitted: lifted suspensions.
    """
    readmitted = set(readmitted)
    return {
        label: number
        for label, number in list_suspensions(games, after, readmitted)
        if (label, number) not in readmitted
    }


def list_suspensions(
    games: Iterable[Game], after: int, readmitted: Collection[Readmission] = ()
) -> Iterator[Readmission]:
    """Return every suspension, lifted or not, as a label and the number of the game that caused it.

    Args:
        games: finished games in playing order.
        after: verdicts in a row; 0 suspends nobody.
        readmitted: lifted suspensions.
    """
    out: set[str] = set()
    in_a_row: dict[str, int] = defaultdict(int)
    for game in games if after else ():
        if any(label in out for label in game.labels):
            continue
        for label, verdict in zip(game.labels, game.verdicts, strict=True):
            in_a_row[label] = in_a_row[label] + 1 if verdict else 0
            if in_a_row[label] == after:
                in_a_row[label] = 0
                yield label, game.number
                if (label, game.number) not in readmitted:
                    out.add(label)


def is_left_out(number: int, labels: Iterable[str], suspended: Mapping[str, int]) -> bool:
    """Return whether a game is left out because one of its entries was suspended before it."""
    return any(suspended.get(label, number) < number for label in labels)


class Suspensions:
    """Keeps track of suspensions during a run, without reading all games each time.

    Args:
        games: the finished games.
        after: verdicts in a row; 0 suspends nobody.
        readmitted: lifted suspensions.
    """

    def __init__(self, games: Iterable[Game], after: int, readmitted: Collection[Readmission]) -> None:
        self._games = {game.number: game for game in games}
        self._after = after
        self._readmitted = readmitted
        self._verdicts: dict[str, list[tuple[int, bool]]] = defaultdict(list)
        for game in self._games.values():
            self._note(game)
        self.suspended: dict[str, int] = {}
        self._judge()

    def add(self, game: Game) -> None:
        """Add a finished game."""
        if not self._after:
            return
        self._games[game.number] = game
        self._note(game)
        # Only verdicts in a row suspend, and only a game before the last of them can undo a suspension.
        undone = any(self.suspended.get(label, -1) > game.number for label in game.labels)
        if undone or any(self._is_in_a_row(label, game.number) for label in _list_failed(game)):
            self._judge()

    def _note(self, game: Game) -> None:
        for label, verdict in zip(game.labels, game.verdicts, strict=True):
            insort(self._verdicts[label], (game.number, bool(verdict)))

    def _is_in_a_row(self, label: str, number: int) -> bool:
        """Return whether the game is among enough verdicts in a row, as far as the games so far show."""
        played = self._verdicts[label]
        at = bisect_left(played, (number, True))
        before = self._count_verdicts(played, range(at - 1, -1, -1))
        return before + 1 + self._count_verdicts(played, range(at + 1, len(played))) >= self._after

    def _count_verdicts(self, played: list[tuple[int, bool]], places: range) -> int:
        count = 0
        for number, verdict in map(played.__getitem__, places):
            if is_left_out(number, self._games[number].labels, self.suspended):
                continue
            if not verdict:
                break
            count += 1
        return count

    def _judge(self) -> None:
        order: Sequence[int] = sorted(self._games)
        self.suspended = find_suspended((self._games[number] for number in order), self._after, self._readmitted)


def _list_failed(game: Game) -> Iterator[str]:
    return (label for label, verdict in zip(game.labels, game.verdicts, strict=True) if verdict)
