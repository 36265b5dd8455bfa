"""Suspensions: a bot that loses several games in a row by a verdict does not play until it is readmitted.

Suspensions are a pure function of the finished games of a part in playing order. Another job may have played a game
ahead that this order leaves out. Such a game stays stored, but counts for nobody, so that the result is the same for
any number of jobs.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from malice.tournaments.league.contents import Finished, Readmission


def find_suspended(games: Iterable[Finished], after: int, lifted: Collection[Readmission] = ()) -> dict[str, int]:
    """Return the entries that a part suspends, each with the number of the game that suspended it.

    Args:
        games: finished games of the part in playing order.
        after: verdicts in a row; 0 suspends nobody.
        lifted: lifted suspensions.
    """
    return {label: number for label, number in list_suspensions(games, after, lifted) if (label, number) not in lifted}


def list_suspensions(
    games: Iterable[Finished], after: int, lifted: Collection[Readmission] = ()
) -> Iterator[Readmission]:
    """Return every suspension of a part, lifted or not, as a label and the number of the game that caused it.

    Args: as `find_suspended`.
    """
    out: set[str] = set()
    in_a_row: dict[str, int] = {}
    """Of those whose last game ended by a verdict."""
    for game in games if after else ():
        if not (game.failed or in_a_row) or any(label in out for label in game.labels):
            continue
        for label in game.labels:
            count = in_a_row.pop(label, 0) + 1
            if label not in game.failed:
                continue
            if count < after:
                in_a_row[label] = count
            else:
                yield label, game.number
                if (label, game.number) not in lifted:
                    out.add(label)


def is_left_out(number: int, labels: Iterable[str], suspended: Mapping[str, int]) -> bool:
    """Return whether a game of a part is left out because one of its entries was suspended before it."""
    return any(suspended.get(label, number) < number for label in labels)


class Suspensions:
    """Keeps track of the suspensions of a part during a run, without reading all games each time.

    Args:
        games: its finished games.
        after: verdicts in a row; 0 suspends nobody.
        lifted: lifted suspensions.
    """

    def __init__(self, games: Iterable[Finished], after: int, lifted: Collection[Readmission]) -> None:
        self._games = {game.number: game for game in games}
        self._after = after
        self._lifted = lifted
        self._verdicts: dict[str, list[tuple[int, bool]]] = defaultdict(list)
        for number in sorted(self._games):
            for label in self._games[number].labels:
                self._verdicts[label].append((number, label in self._games[number].failed))
        self.suspended: dict[str, int] = {}
        self._judge()

    def add(self, game: Finished) -> None:
        """Add a finished game."""
        if not self._after:
            return
        self._games[game.number] = game
        self._note(game)
        # Only verdicts in a row suspend, and only a game before the last of them can undo a suspension.
        undone = any(self.suspended.get(label, -1) > game.number for label in game.labels)
        if undone or any(self._is_in_a_row(label, game.number) for label in game.failed):
            self._judge()

    def leaves_out(self, game: Finished) -> bool:
        """Return whether a finished game does not count."""
        return is_left_out(game.number, game.labels, self.suspended)

    def _note(self, game: Finished) -> None:
        for label in game.labels:
            insort(self._verdicts[label], (game.number, label in game.failed))

    def _is_in_a_row(self, label: str, number: int) -> bool:
        """Return whether the game is among enough verdicts in a row, as far as the games so far show."""
        played = self._verdicts[label]
        at = bisect_left(played, (number, True))
        before = self._count_verdicts(played, range(at - 1, -1, -1))
        return before + 1 + self._count_verdicts(played, range(at + 1, len(played))) >= self._after

    def _count_verdicts(self, played: list[tuple[int, bool]], places: range) -> int:
        count = 0
        for number, verdict in map(played.__getitem__, places):
            if self.leaves_out(self._games[number]):
                continue
            if not verdict:
                break
            count += 1
        return count

    def _judge(self) -> None:
        games = (self._games[number] for number in sorted(self._games))
        self.suspended = find_suspended(games, self._after, self._lifted)
