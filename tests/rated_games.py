"""Games made up for the fit, and the figures of what is fitted."""

import random
from collections.abc import Iterable, Sequence
from itertools import combinations

from malice.tournaments.ratings.fit import Fit, RatedGame


def duel(one: int, other: int, points: float, group: int) -> RatedGame:
    return RatedGame(((one,), (other,)), {1.0: (1, 2), 0.5: (1, 1), 0.0: (2, 1)}[points], group)


def pairs(one: int, other: int, points: Iterable[tuple[float, float]], first_group: int = 0) -> list[RatedGame]:
    """Deals played twice, by the points of the first player."""
    games = []
    for group, both in enumerate(points, start=first_group):
        games += [duel(one, other, game, group) for game in both]
    return games


def round_robin(players: Sequence[int], deals: int, seed: int = 1, first_group: int = 0) -> list[RatedGame]:
    """Coin flips."""
    random_ = random.Random(seed)
    games: list[RatedGame] = []
    for one, other in combinations(players, 2):
        points = [(random_.choice((0, 1)), random_.choice((0, 1))) for _ in range(deals)]
        games += pairs(one, other, points, first_group + len(games))
    return games


def sweep(winner: int, losers: Iterable[int], deals: int, first_group: int = 10_000) -> list[RatedGame]:
    games: list[RatedGame] = []
    for loser in losers:
        games += pairs(winner, loser, [(1, 1)] * deals, first_group + len(games))
    return games


def rout(loser: int, winners: Iterable[int], deals: int, first_group: int = 20_000) -> list[RatedGame]:
    return [RatedGame(game.teams, (2, 1), game.group) for game in sweep(loser, winners, deals, first_group)]


def elos(fitted: Fit) -> list[float]:
    known = [rating.elo for rating in fitted.ratings if rating.elo is not None]
    assert len(known) == len(fitted.ratings)
    return known


def expected(difference: float) -> float:
    return 1 / (1 + 10 ** (-difference / 400))


def widths(fitted: Fit) -> list[float]:
    return [one.high - one.low for one in fitted.ratings if one.low is not None and one.high is not None]


def ranks(fitted: Fit) -> list[tuple[int | None, int | None]]:
    return [(one.rank_low, one.rank_high) for one in fitted.ratings]
