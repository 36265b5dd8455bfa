"""The ranking: strengths fitted to all games at once, pool by pool, with their intervals.

Strengths are in natural units, and players are numbered within the pool.

A fit covers one ruleset and one number of seats. A figure that the games do not determine is None, never nan or
infinite.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from malice.tournaments.ratings.bradley_terry import (
    estimate_by_deal,
    estimate_from_information,
    maximise,
    student_cdfs,
    student_quantile,
    sum_products,
)
from malice.tournaments.ratings.one_sided import Levels, compute_closure, find_classes, find_levels
from malice.tournaments.ratings.pairings import Bools, Floats, Ints, Pairings, make_pairings
from malice.tournaments.ratings.rated_games import RatedGame, RatedGames
from malice.tournaments.ratings.scores import FEW, NOTHING, estimate_scores, find_clusters, find_unsure

CERTAIN = 0.05
"""How often, over all pairs of a pool of equals, somebody is called better than somebody else."""


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    players: Ints
    """Their numbers outside the pool, ascending."""
    strengths: Floats
    origin: float
    """Where ratings are measured from: the anchor, or the mean of the core."""
    levels: Levels
    groups: Ints
    """Per player its deal groups, the units of independence."""
    all_groups: int
    """Those of all players together."""
    errors: Floats
    """[i, j]: the standard error of the difference of two players of one level; nan if not measured."""
    varied: Bools
    """[i, j]: the deal groups differ in what they say about i and j."""
    half: Floats
    """Per player half its interval against its level's mean (the anchor, on the anchor's level), or nan."""
    variances: tuple[float, float] | None
    """Sums over the core: the variance clustered by deal group, and as if games were independent."""

    def compute_interval(self) -> tuple[Floats, Floats]:
        """The intervals on the core, elsewhere the bounds of the level, widened by the uncertainty within it."""
        known, values = self.levels, self.strengths
        if known.core_is_level:
            low, high = np.where(known.core, values, known.low), np.where(known.core, values, known.high)
        else:  # no two players took points off each other: a bound moves the mean it is measured from
            moved = 1 - 1 / len(values)
            low, high = values + (known.low - values) * moved, values + (known.high - values) * moved
        return low - self.half, high + self.half

    def find_better(self, chosen: Ints) -> Bools:
        """[i, j]: the i-th of the chosen players is certainly better than the j-th.

        Holm's procedure over all pairs of them: if all are equal, one of them is called better in 5 % of leagues at
        most, however many there are. For two players that is the plain test at 5 %.
        """
        chance = self._compute_chances()[np.ix_(chosen, chosen)]
        one, other = np.nonzero(~np.isnan(chance) & (self.strengths[chosen, None] > self.strengths[chosen]))
        order = np.argsort(chance[one, other], kind="stable")
        pairs = len(chosen) * (len(chosen) - 1) // 2
        held = 2 * chance[one, other][order] > CERTAIN / (pairs - np.arange(len(order)))
        certain = order[: int(held.argmax()) if held.any() else len(order)]
        better = np.zeros(chance.shape, np.bool_)
        better[one[certain], other[certain]] = True
        return better

    def _compute_chances(self) -> Floats:
        """[i, j]: how likely i would be so far ahead of j if the two were equal; nan if nothing tells."""
        known = self.levels
        chance = np.where(self.errors > 0, 1 - self._compute_certainties(), np.nan)
        apart = known.above & ~np.isnan(self.errors)
        for one, other in np.argwhere(apart).tolist():
            chance[one, other] = known.compute_chance(self.strengths, one, other)
        return chance

    def compute_los(self) -> Floats:
        """[i, j]: how certain it is that i is better than j, 0..1, as of a pair that somebody asks for.

        It is nan where the games do not determine it, or where one of them has fewer than five deal groups. Between two
        levels there is no covariance, but only a bound.
        """
        few = self.groups < FEW
        return np.where(few[:, None] | few, np.nan, self._compute_certainties())

    def compute_margins(self) -> Floats:
        """[i, j]: half the 95 % interval of their difference; nan where the games do not determine it."""
        alike = self.levels.label[:, None] == self.levels.label
        degrees, which = np.unique(self.degrees, return_inverse=True)
        return np.where(
            alike & (self.errors > 0), _find_quantiles(degrees + 1)[which].reshape(alike.shape) * self.errors, np.nan
        )

    @property
    def degrees(self) -> Ints:
        """[i, j]: Student's degrees of freedom of the difference, by Welch and Satterthwaite.

        Each player brings a variance in inverse proportion to its deal groups; the two may share all of them.
        """
        groups = _weigh_groups(self.groups, self.all_groups)
        share = 1 / groups
        with np.errstate(divide="ignore"):
            spread = share**2 / (groups - 1)
        welch = (share[:, None] + share) ** 2 / (spread[:, None] + spread)
        return np.minimum(np.floor(welch + 1e-9).astype(np.int64), self.all_groups - 1)

    def _compute_certainties(self) -> Floats:
        known = self.varied & (self.levels.label[:, None] == self.levels.label) & (self.errors > 0)
        lead = np.full(known.shape, np.nan)
        np.divide(self.strengths[:, None] - self.strengths, self.errors, out=lead, where=known)
        degrees = self.degrees
        for each in np.unique(degrees):
            alike = degrees == each
            lead[alike] = student_cdfs(lead[alike], int(each)) if each else np.nan
        return lead


def rate_pool(pairings: Pairings, players: Ints, anchor: int | None) -> Pool:
    """Rate connected players; the anchor is one of them, by the same numbers, or None."""
    inner = find_clusters(pairings.within(players))
    anchor = None if anchor is None else int(np.searchsorted(players, anchor))
    fitted = maximise(inner)
    known = find_levels(inner, fitted.values, anchor)
    measured, assumed = estimate_by_deal(inner, fitted), estimate_from_information(inner, fitted)
    few = find_unsure(inner)
    groups = np.bincount(inner.by_group.player, minlength=inner.players)
    unmeasured = _find_unmeasured(inner)

    contrast = _make_contrasts(known, anchor)
    variance, independent = _sum_quadratic(measured, contrast), _sum_quadratic(assumed, contrast)
    reach = _weigh_groups(groups if anchor is None else np.minimum(groups, groups[anchor]), inner.groups)
    reach[groups < 2] = 1
    unsure = few if anchor is None else few | few[anchor]
    half = _find_quantiles(reach) * np.sqrt(np.where(unsure, np.maximum(variance, independent), variance))
    alone = np.abs(contrast).sum(axis=1) < NOTHING
    half[alone] = np.where((groups > 1) | (np.arange(len(groups)) == anchor), 0.0, np.nan)[alone]
    to_core = unmeasured - unmeasured[known.core].mean(axis=0)
    half[(np.abs(np.hstack([contrast @ unmeasured, to_core])) > 1e-6).any(axis=1)] = np.nan

    between, independent_between = _compute_difference_variances(measured), _compute_difference_variances(assumed)
    errors = np.sqrt(np.where(few[:, None] | few, np.maximum(between, independent_between), between))
    errors[(np.abs(unmeasured[:, None] - unmeasured) > 1e-6).any(axis=2)] = np.nan
    return Pool(
        players=players,
        strengths=fitted.values,
        origin=float(fitted.values[known.core].mean() if anchor is None else fitted.values[anchor]),
        levels=known,
        groups=groups,
        all_groups=inner.groups,
        errors=errors,
        varied=between > NOTHING * independent_between,
        half=half,
        variances=_sum_variances(known, half, measured, assumed) if inner.groups > 1 else None,
    )


def _weigh_groups(groups: Ints, together: int) -> Ints:
    """Count the groups that give Student's degrees of freedom.

    With fewer than five of its own a player takes at least the variance of independent games, which needs none.
    """
    return np.minimum(np.maximum(groups, FEW), together)


def _find_quantiles(groups: Ints) -> Floats:
    return np.array([student_quantile(each - 1) if each > 1 else math.nan for each in groups.tolist()])


def _find_unmeasured(pairings: Pairings) -> Floats:
    """For each player, its part in each direction that no game measures, such as between permanent partners."""
    if pairings.teams.members.shape[1] == 1:
        return np.zeros((pairings.players, 0))
    rows = pairings.merged
    values, vectors = np.linalg.eigh(sum_products(pairings.players, *pairings.design(rows), np.ones(len(rows.first))))
    empty = vectors[:, values < 1e-9 * max(1.0, float(values[-1]))]
    return np.asarray(empty - empty.mean(axis=0))


def _make_contrasts(known: Levels, anchor: int | None) -> Floats:
    """Compare each player with the mean of its level, on the anchor's level with the anchor."""
    reference = (known.label[:, None] == known.label).astype(np.float64)
    if anchor is not None:
        reference[known.core] = np.arange(len(reference)) == anchor
    return np.asarray(np.eye(len(reference)) - reference / reference.sum(axis=1, keepdims=True))


def _sum_quadratic(covariance: Floats, contrast: Floats) -> Floats:
    return np.asarray(np.maximum(((contrast @ covariance) * contrast).sum(axis=1), 0))


def _compute_difference_variances(covariance: Floats) -> Floats:
    own = np.diag(covariance)
    return np.asarray(np.maximum(own[:, None] + own - 2 * covariance, 0))


def _sum_variances(known: Levels, half: Floats, measured: Floats, assumed: Floats) -> tuple[float, float] | None:
    if not known.core_is_level:
        return None
    contrast = _make_contrasts(known, None)[known.core & ~np.isnan(half)]
    return float(_sum_quadratic(measured, contrast).sum()), float(_sum_quadratic(assumed, contrast).sum())


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
        """Measure by how much one player is better, as of a pair that somebody asks for; None if nothing tells."""
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

    meetings, teams = pairings.meetings, pairings.teams
    strength = (np.nan_to_num(elo)[teams.members] * teams.weights).sum(axis=1)
    met = pairings.sum_by_player(strength[meetings.second], strength[meetings.first])
    points = pairings.sum_by_player(meetings.points, meetings.count - meetings.points)
    wins, draws, losses = (
        pairings.sum_by_player(meetings.points == result, meetings.points == 1 - result) for result in (1.0, 0.5, 0.0)
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
