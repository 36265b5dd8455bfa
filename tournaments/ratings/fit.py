"""The ranking: strengths fitted to all games at once, with their intervals.

A fit covers one ruleset and one number of seats. A figure that the games do not determine is None, never nan or
infinite.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from malice.tournaments.ratings.one_sided import compute_closure, find_classes
from malice.tournaments.ratings.pairings import Bools, Floats, Pairings, make_pairings
from malice.tournaments.ratings.pool import Pool, rate_pool
from malice.tournaments.ratings.rated_games import RatedGame, RatedGames
from malice.tournaments.ratings.scores import estimate_scores

__all__ = ["ELO", "Fit", "RatedGame", "Rating", "fit_beginnings", "fit_ratings"]

ELO = 400 / math.log(10)
"""Elo per natural unit of strength."""


class Rating(msgspec.Struct, frozen=True, kw_only=True):
    elo: float | None = None
    """Relative to the anchor, or to the mean of a pool without it. None without opponents.

    If some players won or lost every game against the others, the mean is that of the largest set of players who
    took points off one another: ratings outside it are open at one end.
    """
    low: float | None = None
    """The 95 % interval. A single end is a one-sided bound: the rating at which a record of only wins (or only
    losses) has a chance of 2.5 %."""
    high: float | None = None
    rank_low: int | None = None
    """The best possible rank among the ranked players of the pool: 1 + the number of certainly better ones."""
    rank_high: int | None = None
    """The worst possible rank: the number of ranked players - that of certainly worse ones. All ranks of a pool of
    equals are possible in 95 % of leagues, however many players it has."""
    games: int
    wins: int
    """Won pairings of teams; in games of two teams these are games."""
    draws: int
    losses: int
    score: float | None
    """The share of the points, 0..1."""
    score_low: float | None = None
    """The 95 % interval of the score, clustered by deal group."""
    score_high: float | None = None
    average_opponent: float | None
    pool: int
    """Games connect the players of a pool; ratings of different pools cannot be compared."""


class Lead(msgspec.Struct, frozen=True):
    """By how much one player is better than another."""

    elo: float
    low: float
    high: float
    """The plain 95 % interval of this pair alone."""
    los: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    ratings: tuple[Rating, ...]
    games: int
    groups: int
    """Deal groups, the units of independence."""
    pools: int
    """Pools of two or more players; with several pools, ratings are relative to several means."""
    anchor: int | None
    variance_ratio: float | None
    """The variance measured between deal groups over that of independent games."""
    mean_of_all: bool
    """Whether, without an anchor, ratings are relative to all players of a pool, not only to those who took points off
    one another."""
    los: Floats
    """[i, j]: how certain it is that i is better than j, 0..1; nan where the games do not determine it."""
    margins: Floats
    """[i, j]: half the 95 % interval of their difference in Elo; nan where the games do not determine it."""

    def compare(self, one: int, other: int) -> Lead | None:
        """Return by how much one player is better, as of a pair that somebody asks for; None if nothing tells."""
        mine, theirs, margin = self.ratings[one].elo, self.ratings[other].elo, float(self.margins[one, other])
        if mine is None or theirs is None or math.isnan(margin):
            return None
        return Lead(mine - theirs, mine - theirs - margin, mine - theirs + margin, _keep_finite(self.los[one, other]))


def fit_ratings(
    games: Sequence[RatedGame] | RatedGames,
    players: int,
    *,
    anchor: int | None = None,
    ranked: Iterable[int] | None = None,
) -> Fit:
    """Rate players 0 .. players-1; the order of the games does not matter.

    Args:
        games: all games.
        players: how many there are.
        anchor: the player that ratings are relative to.
        ranked: the players that get ranks, among themselves; by default all.
    """
    (fit,) = fit_beginnings(games, players, [len(games)], anchor=anchor, ranked=ranked)
    return fit


def fit_beginnings(
    games: Sequence[RatedGame] | RatedGames,
    players: int,
    lengths: Iterable[int],
    *,
    anchor: int | None = None,
    ranked: Iterable[int] | None = None,
) -> tuple[Fit, ...]:
    """Rate players by the first games, for several numbers of games: the same as `fit_ratings` of each, but faster."""
    if anchor is not None and not 0 <= anchor < players:
        raise ValueError(f"expected an anchor from 0 to {players - 1}, got: {anchor}")
    pairings = make_pairings(games, players)
    chosen = np.ones(players, np.bool_) if ranked is None else np.isin(np.arange(players), list(ranked))
    return tuple(
        _fit(pairings if length == len(games) else pairings.before(length), length, anchor, chosen)
        for length in lengths
    )


def _fit(pairings: Pairings, games: int, anchor: int | None, ranked: Bools) -> Fit:
    label = find_classes(compute_closure(pairings.met()))
    pools = [np.flatnonzero(label == first) for first in np.unique(label)]
    rated = [rate_pool(pairings, pool, anchor if anchor in pool.tolist() else None) for pool in pools if len(pool) > 1]
    elo = np.full(pairings.players, np.nan)
    los, margins = np.full((2, pairings.players, pairings.players), np.nan)
    for pool in rated:
        elo[pool.players] = (pool.strengths - pool.origin) * ELO
        los[np.ix_(pool.players, pool.players)] = pool.compute_los()
        margins[np.ix_(pool.players, pool.players)] = pool.compute_margins() * ELO
    number = np.searchsorted(np.unique(label), label)
    return Fit(
        ratings=tuple(_make_ratings(pairings, rated, elo, number.tolist(), ranked)),
        games=games,
        groups=pairings.groups,
        pools=len(rated),
        anchor=anchor,
        variance_ratio=_compute_variance_ratio(rated),
        mean_of_all=all(pool.levels.core.all() for pool in rated),
        los=los,
        margins=margins,
    )


def _make_ratings(
    pairings: Pairings, rated: Sequence[Pool], elo: Floats, number: Sequence[int], ranked: Bools
) -> Iterable[Rating]:
    players = pairings.players
    low, high = np.full((2, players), np.nan)
    rank_low, rank_high = np.zeros((2, players), np.int64)
    for pool in rated:
        low[pool.players], high[pool.players] = ((end - pool.origin) * ELO for end in pool.compute_interval())
        chosen = np.flatnonzero(ranked[pool.players])
        better = pool.find_better(chosen)
        rank_low[pool.players[chosen]] = 1 + better.sum(axis=0)
        rank_high[pool.players[chosen]] = len(better) - better.sum(axis=1)

    rows, teams = pairings.rows, pairings.teams
    strength = (np.nan_to_num(elo)[teams.members] * teams.weights).sum(axis=1)
    met = pairings.sum_by_player(strength[rows.second], strength[rows.first])
    points = pairings.sum_by_player(rows.points, rows.count - rows.points)
    wins, draws, losses = (
        pairings.sum_by_player(rows.points == result, rows.points == 1 - result) for result in (1.0, 0.5, 0.0)
    )
    games = pairings.count_games()
    _, score_low, score_high = estimate_scores(pairings)
    for player in range(players):
        total = int(wins[player] + draws[player] + losses[player])
        yield Rating(
            elo=_keep_finite(elo[player]),
            low=_keep_finite(low[player]),
            high=_keep_finite(high[player]),
            rank_low=int(rank_low[player]) or None,
            rank_high=int(rank_high[player]) or None,
            games=int(games[player]),
            wins=int(wins[player]),
            draws=int(draws[player]),
            losses=int(losses[player]),
            score=float(points[player]) / total if total else None,
            score_low=_keep_finite(score_low[player]),
            score_high=_keep_finite(score_high[player]),
            average_opponent=float(met[player]) / total if total else None,
            pool=number[player],
        )


def _compute_variance_ratio(rated: Iterable[Pool]) -> float | None:
    sums = [pool.variances for pool in rated if pool.variances is not None]
    measured, independent = sum(one for one, _ in sums), sum(other for _, other in sums)
    return measured / independent if measured > 1e-9 * independent else None


def _keep_finite(value: float) -> float | None:
    return float(value) + 0.0 if math.isfinite(value) else None  # no -0.0
