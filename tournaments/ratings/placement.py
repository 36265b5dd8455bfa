"""A player's rating among opponents whose ratings never change, by complete deals.

A deal is the unit: its two games, one in each seat, hang together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from msgspec import Struct

from malice.tournaments.ratings.bradley_terry import student_quantile
from malice.tournaments.ratings.one_sided import TAIL
from malice.tournaments.ratings.pairs import convert_to_elo
from malice.tournaments.ratings.scores import FEW, RARE, compute_wilson

FARTHEST = 4000.0
"""How far beyond the opponents a rating may lie, in Elo."""
HALVINGS = 60


class Meeting(Struct, frozen=True):
    """What deals against one opponent gave."""

    rating: float
    """That of the opponent."""
    counts: tuple[int, ...]
    """Deals by the points of the player, from none to all in equal steps: LL, LD, WL or DD, WD, WW."""

    @property
    def deals(self) -> int:
        return sum(self.counts)

    @property
    def points(self) -> float:
        """One for each deal whose games were all won."""
        return sum(index * count for index, count in enumerate(self.counts)) / (len(self.counts) - 1)


class Placement(Struct, frozen=True):
    """A rating among fixed ones."""

    elo: float | None
    """The likeliest rating; None if every game was won, or lost."""
    low: float | None
    high: float | None
    """The 95 % interval; one end alone is a one-sided bound, as of `fit.Rating`."""
    deals: int

    @property
    def half(self) -> float | None:
        """Half the width of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def expect_score(lead: float) -> float:
    """Expect the score, 0..1, of a player who is so many Elo ahead."""
    return 1 / (1 + 10 ** (-lead / 400))


def place_player(meetings: Sequence[Meeting]) -> Placement:
    """Rate a player; the opponents' ratings are taken as exact.

    The rating is the likeliest: the one that expects as many points as the player has. The interval is that of the
    score, Wilson's with the variance between deals, as a comparison has it; each of its ends becomes the rating that
    expects it against these opponents.
    """
    deals = sum(each.deals for each in meetings)
    points = sum(each.points for each in meetings)
    if deals < 2:
        elo = _find_rating(meetings, lambda elo: _expect_points(meetings, elo) - points) if 0 < points < deals else None
        return Placement(elo, None, None, deals)
    if points == deals:
        return Placement(None, _find_rating(meetings, lambda elo: _log_chance(meetings, elo, 1)), None, deals)
    if points == 0:
        return Placement(None, None, _find_rating(meetings, lambda elo: -_log_chance(meetings, elo, -1)), deals)
    elo = _find_rating(meetings, lambda elo: _expect_points(meetings, elo) - points)
    variance = _estimate_variance(meetings, elo)
    low, high = compute_wilson(points / deals, variance, student_quantile(deals - 1))
    ends = [
        _find_rating(meetings, lambda elo, end=end: _expect_points(meetings, elo) - end * deals)  # type: ignore[misc]
        for end in (low, high)
    ]
    return Placement(elo, ends[0], ends[1], deals)


def choose_opponent(meetings: Sequence[Meeting], costs: Sequence[float]) -> int:
    """Choose the opponent whose next deal tells most for what it costs.

    Args:
        meetings: one for each opponent, also for those not met yet.
        costs: of a deal against each, in any unit.
    """
    # Virtual deals, split against the weakest and the strongest: a player who has not played begins in the middle, and
    # who has won all his games is not infinitely strong.
    ratings = [each.rating for each in meetings]
    virtual = [Meeting(rating, (0, 0, 1, 0, 0)) for rating in (min(ratings), max(ratings))]
    elo = place_player([*meetings, *virtual]).elo
    assert elo is not None
    chances = [expect_score(elo - each.rating) for each in meetings]
    worth = [chance * (1 - chance) / cost for chance, cost in zip(chances, costs, strict=True)]
    return worth.index(max(worth))


def add_steps(steps: Sequence[Sequence[int]]) -> list[float | None]:
    """The rating of each player above the lowest, who has 0, from the deals of neighbours.

    Where only neighbours have met, the likeliest ratings are the differences that their scores mean.

    Args:
        steps: the deals of each player but the lowest against the next lower one, as `Meeting.counts`.
    """
    ratings: list[float | None] = [0.0]
    for counts in steps:
        meeting = Meeting(0, tuple(counts))
        lead = convert_to_elo(meeting.points / meeting.deals) if meeting.deals else None
        ratings.append(None if lead is None or ratings[-1] is None else ratings[-1] + lead)
    return ratings


def _expect_points(meetings: Sequence[Meeting], elo: float) -> float:
    return sum(each.deals * expect_score(elo - each.rating) for each in meetings)


def _log_chance(meetings: Sequence[Meeting], elo: float, sign: int) -> float:
    """The logarithm of how likely so many deals all go one way, less that of the chance that bounds a rating."""
    return sum(
        each.deals * math.log(expect_score(sign * (elo - each.rating))) for each in meetings if each.deals
    ) - math.log(TAIL)


def _find_rating(meetings: Sequence[Meeting], rises: Callable[[float], float]) -> float:
    """Find the rating at which a function that rises with it is 0."""
    ratings = [each.rating for each in meetings]
    low, high = min(ratings) - FARTHEST, max(ratings) + FARTHEST
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if rises(middle) > 0 else (middle, high)
    return (low + high) / 2


def _estimate_variance(meetings: Sequence[Meeting], elo: float) -> float:
    """Estimate the variance of the mean score: that between deals, each measured from what was expected of it.

    Where deals say too little, not below that of independent games.
    """
    deals = sum(each.deals for each in meetings)
    games = (len(meetings[0].counts) - 1) // 2
    measured = independent = 0.0
    for each in meetings:
        chance, last = expect_score(elo - each.rating), len(each.counts) - 1
        measured += sum(count * (index / last - chance) ** 2 for index, count in enumerate(each.counts))
        independent += each.deals * chance * (1 - chance) / games
    measured, independent = measured / (deals * (deals - 1)), independent / deals**2
    lost, won, even = (sum(each.counts[place] for each in meetings) for place in (0, -1, len(meetings[0].counts) // 2))
    few = deals - max(lost, won) < FEW or deals - even < RARE
    return max(measured, independent) if few else measured
