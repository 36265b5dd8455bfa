"""Which finished games count: a bot is suspended after verdicts in a row, and a test may end a comparison early.

All of it is a pure function of journal and games.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from malice.tournaments.league.contents import Finished, FinishedGames, Readmission
from malice.tournaments.league.tournament import Tournament, count_games, measure_workload
from malice.tournaments.ratings.sprt import Verdict, Walk


def find_suspended(games: Iterable[Finished], after: int, lifted: Collection[Readmission] = ()) -> dict[str, int]:
    """The entries that a part suspends, each with the number of the game that suspended it.

    Args:
        games: finished games of the part in playing order.
        after: verdicts in a row; 0 suspends nobody.
        lifted: lifted suspensions.
    """
    return {label: number for label, number in list_suspensions(games, after, lifted) if (label, number) not in lifted}


def list_suspensions(
    games: Iterable[Finished], after: int, lifted: Collection[Readmission] = ()
) -> Iterator[Readmission]:
    """Yield every suspension of a part, lifted or not, as a label and the number of the game that caused it.

    Args: as `find_suspended`.
    """
    out: set[str] = set()
    in_a_row: dict[str, int] = {}
    """Of those whose last game ended by a verdict."""
    if isinstance(games, FinishedGames) and not games.failed:
        return  # without a look at each of many games
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
    """Whether a game of a part is left out because one of its entries was suspended before it."""
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
        """Whether a finished game does not count."""
        return is_left_out(game.number, game.labels, self.suspended)

    def _note(self, game: Finished) -> None:
        for label in game.labels:
            insort(self._verdicts[label], (game.number, label in game.failed))

    def _is_in_a_row(self, label: str, number: int) -> bool:
        """Whether the game is among enough verdicts in a row, as far as the games so far show."""
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


NO_GAMES = (0, 0, 0)
"""Of a deal: the half points of the new bot and those that the base did not get, those of both, and the games."""


class SequentialTest:
    """The deals of a part of a comparison: whole ones, and in order.

    Args:
        tournament: a comparison.
        part: the number of its part.
    """

    def __init__(self, tournament: Tournament, part: int) -> None:
        self.sides: tuple[str, str] = (tournament.file_entries[0].label, tournament.file_entries[1].label)
        """The labels of the new bot and of the base."""
        self.games = sum(tournament.schedules[part].rotations)
        """How many games a deal has."""
        self.weight = weigh_deal(self.games, direct=len(tournament.file_entries) == 2)
        """How many games between the two it is worth."""
        self.test = tournament.config.sprt
        self.deals = 0
        """How many deals count."""
        self.end: int | None = None
        """The deal at which the test had its answer, the last that counts."""
        self.cells: list[int] = []
        """Of the deals that count, in order: the place of the new bot's score among those from 0 to 1."""
        self._counts = [0] * (2 * self.games + 1)
        self._walk = Walk(self.test, len(self._counts), self.weight) if self.test else None
        self._ahead: dict[int, tuple[int, int, int]] = {}
        self._points = 0

    @property
    def counts(self) -> list[int]:
        """Deals by the score of the new bot, from 0 to 1 in equal steps."""
        return self._walk.counts if self._walk else self._counts

    @property
    def verdict(self) -> Verdict | None:
        """The hypothesis that the test accepted."""
        return self._walk.verdict if self._walk else None

    @property
    def llr(self) -> float | None:
        """The log-likelihood ratio of the test."""
        return self._walk.llr if self._walk else None

    @property
    def mean(self) -> float | None:
        """What the two score on average against others, 0..1; None if they meet each other, or without deals."""
        if self.weight == self.games or not self.deals:
            return None
        return self._points / (2 * self.games * self.deals)

    def add(self, game: Finished) -> None:
        """Take a finished game; the order does not matter."""
        deal = game.key.deal
        lead, points, games = self._ahead.get(deal, NO_GAMES)
        won = self._count_points(game)
        self._ahead[deal] = lead + won, points + (won if self.sides[0] in game.labels else 2 - won), games + 1
        while self.end is None and self._ahead.get(self.deals, NO_GAMES)[2] == self.games:
            self._take(*self._ahead.pop(self.deals)[:2])

    def leaves_out(self, deal: int) -> bool:
        """Whether a deal comes after the end."""
        return self.end is not None and deal > self.end

    def _take(self, cell: int, points: int) -> None:
        self.deals += 1
        self._points += points
        self.cells.append(cell)
        if self._walk is None:
            self._counts[cell] += 1
        else:
            self._walk.add(cell, self.mean)
            self.end = self.deals - 1 if self._walk.verdict else None

    def _count_points(self, game: Finished) -> int:
        """Count the half points of a game: what the new bot got, or what the base did not get."""
        new, base = self.sides
        return game.points[game.labels.index(new)] if new in game.labels else 2 - game.points[game.labels.index(base)]


def weigh_deal(games: int, *, direct: bool) -> float:
    """How many games between two bots a deal is worth.

    Against others, it takes two games to see what each of them scores, and both scores have an error.

    Args:
        games: those of the deal.
        direct: whether the two meet each other.
    """
    return games if direct else games / 4


def make_sequential_test(tournament: Tournament, part: int, games: Iterable[Finished] = ()) -> SequentialTest | None:
    """Make the sequential test of a part with its finished games; None if the tournament is no comparison."""
    if not tournament.format.compares:
        return None
    test = SequentialTest(tournament, part)
    for game in games:
        test.add(game)
    return test


class CountedGames(Struct, frozen=True):
    """What the finished games of a tournament amount to."""

    counted: Sequence[Finished]
    """In playing order."""
    left_out: frozenset[int]
    """The numbers of the games that do not count: one of their entries was suspended before them, or a test ended."""
    by_part: dict[int, dict[str, int]]
    """By part: the entries that it suspended, each with the number of the game that did."""
    tests: dict[int, SequentialTest]
    """By part, the tests of a comparison."""
    suspended: dict[str, int]
    """The entries that are suspended now, each with the number of the game that suspended it."""

    def list_numbers(self) -> Sequence[int]:
        """The numbers of the games that count, in playing order."""
        counted = self.counted
        return counted.numbers if isinstance(counted, FinishedGames) else [game.number for game in counted]

    def count_deals(self, parts: Iterable[int]) -> Counter[tuple[int, int]]:
        """Count by part and table the deals that are complete, and count."""
        wanted = frozenset(parts)
        played: Counter[tuple[int, int, int]] = Counter()
        for game in self.counted:
            if game.key.part in wanted:
                played[game.key.part, game.key.table, game.key.deal] += 1
        rotations = {(game.key.part, game.key.table): game.rotations for game in self.counted}
        return Counter((part, table) for (part, table, _), count in played.items() if count == rotations[part, table])


def split_parts(tournament: Tournament, finished: Iterable[Finished]) -> Mapping[int, Sequence[Finished]]:
    """The finished games of each part of a tournament that has any, in playing order as they come."""
    if isinstance(finished, FinishedGames):
        return finished.split()
    games: dict[int, list[Finished] | FinishedGames] = defaultdict(lambda: _make_list(tournament))
    for game in finished:
        games[game.key.part].append(game)
    return games


def _make_list(tournament: Tournament) -> list[Finished] | FinishedGames:
    return [] if tournament.format.compares else FinishedGames(tournament.schedules)


def find_counted_games(tournament: Tournament, finished: Iterable[Finished]) -> CountedGames:
    """Find which finished games of a tournament count, and whom they suspend.

    Args:
        tournament: its parts, and the suspensions that were lifted.
        finished: its games in playing order.
    """
    games = split_parts(tournament, finished)
    after = tournament.config.suspend_after
    by_part = {part: find_suspended(played, after, tournament.lifted) for part, played in games.items()}
    counted = _make_list(tournament)
    left_out: set[int] = set()
    tests: dict[int, SequentialTest] = {}
    for part, played in sorted(games.items()):
        mine: Sequence[Finished] = played
        if by_part[part]:
            mine = [game for game in played if not is_left_out(game.number, game.labels, by_part[part])]
        if test := make_sequential_test(tournament, part, mine):
            tests[part] = test
            mine = [game for game in mine if not test.leaves_out(game.key.deal)]
        if len(mine) < len(played):
            left_out.update({game.number for game in played} - {game.number for game in mine})
        counted.extend(mine)
    return CountedGames(counted, frozenset(left_out), by_part, tests, _find_suspended_now(tournament, by_part))


def measure_progress(tournament: Tournament, finished: Iterable[Finished]) -> tuple[int, int]:
    """How many of the finished games of a tournament count, and how many it has in all.

    Args: as `find_counted_games`.
    """
    counted = find_counted_games(tournament, finished).counted
    return len(counted), measure_workload(tournament, count_games(game.key for game in counted)).games


def _find_suspended_now(tournament: Tournament, by_part: dict[int, dict[str, int]]) -> dict[str, int]:
    """The entries whose playing version is suspended, and was not readmitted."""
    current = tournament.current()
    found: dict[str, int] = {}
    for part, suspended in by_part.items():
        played = {version for table in tournament.parts[part].tables for version in table.versions} if suspended else ()
        versions = {version.label: version.number for version in played}
        for label, number in suspended.items():
            if versions[label] == current.get(label) and (label, number) not in tournament.readmissions:
                found[label] = number
    return found
