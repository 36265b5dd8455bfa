"""The contest of a comparison: its deals in playing order, until its test has an answer.

Where the test ends is a pure function of the games. Another job may have played further deals by then: their games stay
stored, but count for nobody, so that the answer is the same for any number of jobs.
"""

from __future__ import annotations

from collections.abc import Iterable

from malice.tournaments.league.contents import Finished
from malice.tournaments.league.tournament import Tournament
from malice.tournaments.ratings.sprt import Verdict, Walk

FORMAT = "comparison"
"""The name of the format in the tournament file."""


NO_GAMES = (0, 0, 0)
"""Of a deal: the half points of the new bot and those that the base did not get, those of both, and the games."""


class SequentialTest:
    """The deals of a part of a comparison: whole ones, and in order.

    Args:
        tournament: a comparison.
        part: the number of its part.
    """

    def __init__(self, tournament: Tournament, part: int) -> None:
        self.sides: tuple[str, str] = (tournament.entered[0].label, tournament.entered[1].label)
        """The labels of the new bot and of the base."""
        self.games = sum(tournament.schedules[part].rotations)
        """How many games a deal has."""
        self.weight = weigh_deal(self.games, direct=len(tournament.entered) == 2)
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
        """Return whether a deal comes after the end."""
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
        """Return the half points of a game: what the new bot got, or what the base did not get."""
        new, base = self.sides
        return game.points[game.labels.index(new)] if new in game.labels else 2 - game.points[game.labels.index(base)]


def weigh_deal(games: int, *, direct: bool) -> float:
    """Return how many games between two bots a deal is worth.

    Against others, it takes two games to see what each of them scores, and both scores have an error.

    Args:
        games: those of the deal.
        direct: whether the two meet each other.
    """
    return games if direct else games / 4


def make_sequential_test(tournament: Tournament, part: int, games: Iterable[Finished] = ()) -> SequentialTest | None:
    """Return the contest of a part with its finished games; None if the tournament is no comparison."""
    if tournament.config.format != FORMAT:
        return None
    contest = SequentialTest(tournament, part)
    for game in games:
        contest.add(game)
    return contest
