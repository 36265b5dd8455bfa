"""Leagues whose true ratings are known, and how often the intervals of standings hold them.

What a seat draws from its cards is the same in all games of a deal, so these games hang together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from malice.tournaments.ratings.comparison import Advantage, Others, compare_head_to_head, measure_advantage
from malice.tournaments.ratings.fit import ELO, RatedGame, fit_ratings
from malice.tournaments.ratings.scores import rate_seats

Interval = tuple[float | None, float | None, float | None]
"""The estimate of a figure, and both ends of its interval."""


@dataclass(frozen=True)
class League:
    """A round-robin; strengths and effects in Elo."""

    strengths: tuple[float, ...]
    seats: tuple[float, ...] = (40.0, 0.0)
    """What each seat is worth."""
    sides: tuple[tuple[int, ...], ...] = ((0,), (1,))
    """The seats of each team."""
    deals: int = 20
    """At each table."""
    common: bool = False
    """Whether all tables have the same cards."""
    luck: float = 250.0
    """The standard deviation of what the cards of a deal are worth to a seat."""
    tie: float = 60.0
    """Performances are told apart in steps of so much."""


LEAGUES = {
    "two players": League((60.0, -60.0)),
    "two players, 50 deals": League((60.0, -60.0), deals=50),
    "equal players, cards decide": League((0.0, 0.0, 0.0, 0.0), deals=30, luck=1500.0),
    "favourite of 95 : 5": League((250.0, -250.0), deals=40),
    "ten players, 3 common deals": League(tuple(range(90, -110, -20)), deals=3, common=True),
    "ten players, 8 common deals": League(tuple(range(90, -110, -20)), deals=8, common=True),
    "two players against another": League((60.0, -60.0, 10.0), common=True),
    "mirrored": League((110.0, 30.0, -40.0, -100.0)),
    "common deals": League((110.0, 30.0, -40.0, -100.0), common=True),
    "four seats": League((110.0, 30.0, -40.0, -100.0), (60.0, 20.0, 0.0, 0.0), ((0,), (1,), (2,), (3,))),
    "teams": League((110.0, 30.0, -40.0, -100.0), (60.0, 20.0, 0.0, 0.0), ((0, 2), (1, 3))),
}


def play(league: League, rng: np.random.Generator) -> list[RatedGame]:
    """Return the games of a league, deal by deal at each table, in every rotation of seats."""
    size, deals = len(league.seats), league.deals
    tables = np.array(list(combinations(range(len(league.strengths)), size)))
    seating = np.broadcast_to(tables[:, None], (len(tables), deals, size))
    if size > 2:
        seating = rng.permuted(seating, axis=2)
    players = np.stack([np.roll(seating, -rotation, axis=2) for rotation in range(size)], axis=2)
    cards = rng.normal(0, league.luck, (1 if league.common else len(tables), deals, 1, size))
    shown = np.array(league.strengths)[players] + np.array(league.seats) + cards + ELO * rng.gumbel(size=players.shape)
    sides = np.stack([shown[..., list(side)].mean(axis=-1) for side in league.sides], axis=-1)
    steps = np.floor(sides / league.tie)
    places = 1 + (steps[..., None, :] > steps[..., :, None]).sum(axis=-1)
    group = np.arange(deals) + (0 if league.common else deals) * np.arange(len(tables))[:, None]
    groups = np.repeat(group.ravel(), size)
    return [
        RatedGame(tuple(tuple(seated[seat] for seat in side) for side in league.sides), tuple(each), number)
        for seated, each, number in zip(
            players.reshape(-1, size).tolist(), places.reshape(-1, len(league.sides)).tolist(), groups.tolist(),
            strict=True,
        )
    ]  # fmt: skip


def list_intervals(league: League, games: list[RatedGame]) -> Iterator[tuple[str, Interval]]:
    """Yield every interval that standings and comparisons print, by its kind, always in the same order."""
    for rating in fit_ratings(games, len(league.strengths)).ratings:
        yield "rating", (rating.elo, rating.low, rating.high)
        yield "score", (rating.score, rating.score_low, rating.score_high)
    for side in rate_seats(games, league.sides):
        yield "seat", (side.score, side.score_low, side.score_high)
    if len(league.strengths) == 2:
        both = compare_head_to_head(_list_pairs(games, 0, 1))
        found = measure_advantage(both.pair_counts, 2)
        yield "comparison", (found.elo, found.elo_low, found.elo_high)
        yield "luck", (both.luck, both.luck_low, both.luck_high)
    if len(league.strengths) == 3:
        found = _compare_against(games)
        yield "comparison", (found.elo, found.elo_low, found.elo_high)


def _compare_against(games: list[RatedGame]) -> Advantage:
    """Return how players 0 and 1 compare by their games against player 2 on the same cards."""
    ours, theirs = (list(_list_pairs(games, player, 2)) for player in (0, 1))
    counts = [0] * 9
    for one, other in zip(ours, theirs, strict=True):
        counts[round(4 + 2 * (sum(one) - sum(other)))] += 1
    return measure_advantage(counts, 4, Others(1, float(np.mean(ours + theirs))))


def _list_pairs(games: list[RatedGame], one: int, other: int) -> Iterator[tuple[float, float]]:
    """Yield what a player got in both games of each deal against another."""
    points = [
        (1 + _compare(game.places, game.teams.index((one,)))) / 2
        for game in games
        if {*game.teams} == {(one,), (other,)}
    ]
    return zip(points[::2], points[1::2], strict=True)


def _compare(places: tuple[int, ...], team: int) -> int:
    return (places[1 - team] > places[team]) - (places[1 - team] < places[team])


RARE = 0.05
"""What fewer leagues print than this share is left out."""


def measure_coverage(league: League, runs: int, truth_deals: int, seed: int = 1) -> dict[str, float]:
    """Return for each kind of interval how often it holds the truth, of those that are printed.

    Args:
        league: it is played anew each time.
        runs: how often.
        truth_deals: the deals of the league that tells the truth.
        seed: of all chance.
    """
    rng = np.random.default_rng(seed)
    endless = replace(league, deals=truth_deals)
    truth = [figure for _, (figure, _, _) in list_intervals(league, play(endless, rng))]
    held: Counter[str] = Counter()
    printed: Counter[str] = Counter()
    for _ in range(runs):
        found = list_intervals(league, play(league, rng))
        for (kind, (_, low, high)), true in zip(found, truth, strict=True):
            if low is not None or high is not None:
                assert true is not None
                printed[kind] += 1
                held[kind] += (low is None or low <= true) and (high is None or true <= high)
    chances = Counter(kind for kind, _ in list_intervals(league, play(league, rng)))
    return {kind: held[kind] / count for kind, count in printed.items() if count > RARE * runs * chances[kind]}


def measure_false_certainty(players: int, runs: int, deals: int = 8, seed: int = 1) -> float:
    """Return in what share of leagues of equal players a rank is certain that is not."""
    rng, league = np.random.default_rng(seed), League((0.0,) * players, deals=deals)
    fits = (fit_ratings(play(league, rng), players) for _ in range(runs))
    return sum(any((one.rank_low, one.rank_high) != (1, players) for one in fit.ratings) for fit in fits) / runs
