"""Who plays no more: a bot that ended so many games in a row by a verdict, until somebody lets it in again.

What holds is a pure function of the finished games in playing order. Games that were played ahead by other jobs
though the order leaves them out count for nobody and are struck when the tournament ends, so that the result is
the same for any number of jobs.
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
    """Return who is suspended, and the number of the game by which it came to that.

    Args:
        games: finished games in playing order.
        after: verdicts in a row; 0 suspends nobody.
        readmitted: suspensions that were lifted.
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
    """Return every suspension that there was, those that were lifted too, by label and number of the game.

    Args:
        games: finished games in playing order.
        after: verdicts in a row; 0 suspends nobody.
        readmitted: suspensions that were lifted.
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
    """Tell whether the game of this number is not played, as one of its entries was suspended before it."""
    return any(suspended.get(label, number) < number for label in labels)


class Suspensions:
    """Follows a run and knows at any moment who is suspended, without looking at all games each time.

    Args:
        games: what is finished.
        after: verdicts in a row; 0 suspends nobody.
        readmitted: suspensions that were lifted.
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
        """Take notice of a finished game."""
        if not self._after:
            return
        self._games[game.number] = game
        self._note(game)
        # Only a verdict in a row can suspend, and only a game before it can undo that.
        undone = any(self.suspended.get(label, -1) > game.number for label in game.labels)
        if undone or any(self._is_in_a_row(label, game.number) for label in _list_failed(game)):
            self._judge()

    def _note(self, game: Game) -> None:
        for label, verdict in zip(game.labels, game.verdicts, strict=True):
            insort(self._verdicts[label], (game.number, bool(verdict)))

    def _is_in_a_row(self, label: str, number: int) -> bool:
        """Tell whether the game stands among so many in a row; others may show later that they do not count."""
        played = self._verdicts[label]
        at = bisect_left(played, (number, True))
        found = 1 + self._count_verdicts(played, range(at - 1, -1, -1))
        return found + self._count_verdicts(played, range(at + 1, len(played))) >= self._after

    def _count_verdicts(self, played: list[tuple[int, bool]], there: range) -> int:
        found = 0
        for number, verdict in map(played.__getitem__, there):
            if is_left_out(number, self._games[number].labels, self.suspended):
                continue
            if not verdict:
                break
            found += 1
        return found

    def _judge(self) -> None:
        order: Sequence[int] = sorted(self._games)
        self.suspended = find_suspended((self._games[number] for number in order), self._after, self._readmitted)


def _list_failed(game: Game) -> Iterator[str]:
    return (label for label, verdict in zip(game.labels, game.verdicts, strict=True) if verdict)
