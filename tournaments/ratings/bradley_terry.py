"""The joint Bradley-Terry fit of one pool, in natural units (1 unit = 400 / ln 10 Elo), and its covariances."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from malice.tournaments.ratings.pairings import Floats, Ints, Pairings, Rows, number_values, sum_groups

PRIOR_DRAWS = 0.1
"""Virtual draws of each player against the pool's mean, so that a player who won every game has a finite rating."""


@dataclass(frozen=True, slots=True)
class Strengths:
    values: Floats
    """One per player, with mean 0."""
    information: Floats
    """Minus the second derivative of the log-likelihood with its prior."""
    inverse: Floats
    """Its pseudo-inverse: strengths are known only up to a constant."""


def expect_score(difference: Floats) -> Floats:
    """The expected score of a team that is stronger by the difference."""
    return 0.5 * (1 + np.tanh(difference / 2))


def compute_advantage(strengths: Floats, index: Ints, factor: Floats) -> Floats:
    """Compute what deals say about two players.

    Args:
        counts: deals by the score of the first player, from 0 to 1 in equal steps.
        games: how many games a deal has.
        others: the opponents of both, if the two do not meet each other; their score is then 1/2 and half of what
            the first scores more than the second.
    """
    return np.asarray((strengths[index] * factor).sum(axis=1))


def sum_products(players: int, index: Ints, factor: Floats, weight: Floats) -> Floats:
    """The sum over the rows of weight x design x design', as a matrix of players."""
    cells = index[:, :, None] * players + index[:, None, :]
    values = weight[:, None, None] * factor[:, :, None] * factor[:, None, :]
    return sum_groups(cells, values, players**2).reshape(players, players)


def maximise(pairings: Pairings) -> Strengths:
    """The strengths of maximum likelihood, by Newton's method; the log-likelihood is concave."""
    players = pairings.players
    rows = pairings.merged
    index, factor = pairings.design(rows)
    strengths = np.zeros(players)
    likelihood = _compute_likelihood(strengths, rows, index, factor)
    for _ in range(100):
        chance = expect_score(compute_advantage(strengths, index, factor))
        residual = rows.points - rows.count * chance
        slope = sum_groups(index, residual[:, None] * factor, players)
        information = sum_products(players, index, factor, rows.count * chance * (1 - chance))
        prior_slope, prior_information = _differentiate_prior(strengths)
        information += prior_information
        step = np.linalg.solve(_make_regular(information), slope + prior_slope)
        if np.abs(step).max() < 1e-10:
            break
        for _ in range(30):  # a full step may go too far where many records are one-sided
            after = _compute_likelihood(strengths + step, rows, index, factor)
            if after >= likelihood - 1e-12 * abs(likelihood):
                break
            step = step / 2
        strengths = strengths + step
        strengths -= strengths.mean()
        likelihood = after
    inverse = np.asarray(np.linalg.inv(_make_regular(information)) - 1 / players)
    return Strengths(strengths, information, inverse)


def _compute_likelihood(strengths: Floats, rows: Rows, index: Ints, factor: Floats) -> float:
    ahead = compute_advantage(strengths, index, factor)
    centred = strengths - strengths.mean()
    played = rows.points * ahead - rows.count * np.logaddexp(0, ahead)
    return float(played.sum() + PRIOR_DRAWS * (centred / 2 - np.logaddexp(0, centred)).sum())


def _differentiate_prior(strengths: Floats) -> tuple[Floats, Floats]:
    chance = expect_score(strengths - strengths.mean())
    slope = PRIOR_DRAWS * (0.5 - chance)
    information = np.diag(PRIOR_DRAWS * chance * (1 - chance))
    information = information - information.mean(axis=0)
    return slope - slope.mean(), information - information.mean(axis=1, keepdims=True)


def _make_regular(information: Floats) -> Floats:
    """Add information in the one direction that has none: all strengths raised alike."""
    return np.asarray(information + 1 / len(information))


BLOCK = 2_000_000
"""Most numbers in memory for the deal groups of one block."""


def estimate_from_information(pairings: Pairings, fitted: Strengths) -> Floats:
    """Estimate the covariance as if games were independent.

    The n(n-1)/2 pairings of one game of n teams depend on each other: between equals they hold as much
    information as 3/(n+1) times as many independent ones.
    """
    rows = pairings.merged
    index, factor = pairings.design(rows)
    chance = expect_score(compute_advantage(fitted.values, index, factor))
    extra = sum_products(pairings.players, index, factor, rows.count * chance * (1 - chance) * (rows.seats - 2) / 3)
    return np.asarray(fitted.inverse @ (fitted.information + extra) @ fitted.inverse)


def estimate_by_deal(pairings: Pairings, fitted: Strengths) -> Floats:
    """Estimate the covariance by a jackknife: leave out each deal group once, and move the fit by one Newton step.

    Leaving group g out moves the strengths by (H - H_g)^-1 s_g, with H the information and s_g the group's
    part of the slope. With A = H^-1 that is A (1 - H_g A)^-1 s_g, whose second factor concerns only the players
    of the group: a small system for each group, solved together for all groups of the same size.
    """
    players, groups = pairings.players, pairings.groups
    spread = np.zeros(players**2)
    for who, slope, information in _list_groups(pairings, fitted.values):
        own = fitted.inverse[who[:, :, None], who[:, None, :]]
        moved = np.linalg.solve(np.eye(who.shape[1]) - information @ own, slope[:, :, None])[:, :, 0]
        cells = who[:, :, None] * players + who[:, None, :]
        spread += sum_groups(cells, moved[:, :, None] * moved[:, None, :], players**2)
    middle = spread.reshape(players, players) * (groups - 1) / max(groups, 1)
    return np.asarray(fitted.inverse @ middle @ fitted.inverse)


def _list_groups(pairings: Pairings, strengths: Floats) -> Iterator[tuple[Ints, Floats, Floats]]:
    """Yield blocks of deal groups with equally many players: players, slope and information of each group."""
    players = pairings.players
    rows, group = pairings.merged_by_group
    index, factor = pairings.design(rows)
    chance = expect_score(compute_advantage(strengths, index, factor))
    residual = rows.points - rows.count * chance
    weight = rows.count * chance * (1 - chance)

    places, place = number_values((group[:, None] * players + index).ravel())
    sizes = np.bincount(places // players, minlength=pairings.groups)
    starts = np.cumsum(sizes) - sizes
    place = place.reshape(index.shape) - starts[group][:, None]
    for size in np.unique(sizes):
        alike = np.flatnonzero(sizes == size)
        for begin in range(0, len(alike), max(1, BLOCK // size**2)):
            block = alike[begin : begin + max(1, BLOCK // size**2)]
            who = places[starts[block][:, None] + np.arange(size)] % players
            number = np.full(pairings.groups, -1)
            number[block] = np.arange(len(block))
            mine = number[group] >= 0
            shape = len(block), int(size)
            yield who, *_sum_block(number[group[mine]], place[mine], factor[mine], residual[mine], weight[mine], shape)


def _sum_block(
    group: Ints, place: Ints, factor: Floats, residual: Floats, weight: Floats, shape: tuple[int, int]
) -> tuple[Floats, Floats]:
    """Slope and information of each group of a block, given what its rows say of which places in the group."""
    groups, size = shape
    at = group[:, None] * size + place
    slope = sum_groups(at, residual[:, None] * factor, groups * size)
    cells = at[:, :, None] * size + place[:, None, :]
    information = sum_groups(cells, weight[:, None, None] * factor[:, :, None] * factor[:, None, :], groups * size**2)
    return slope.reshape(-1, size), information.reshape(-1, size, size)


@cache
def student_quantile(degrees: int, tail: float = 0.025) -> float:
    """The t with so much above it, to 1e-8."""
    t = 1.959963984540054 if degrees > 2 else (12.7, 4.3)[degrees - 1]
    for _ in range(50):
        step = (student_cdf(t, degrees) - 1 + tail) / _student_density(t, degrees)
        t -= step
        if abs(step) < 1e-12 * t:
            break
    return t


def student_cdf(t: float, degrees: int) -> float:
    """The chance that Student's t is below `t`, to 1e-9 (with up to a million degrees)."""
    return float(student_cdfs(np.array([t]), degrees)[0])


def student_cdfs(t: Floats, degrees: int) -> Floats:
    """The chance for each `t`, as `student_cdf` does; nan for nan.

    With t = sqrt(degrees) tan a the density becomes a power of cos a, smooth on a bounded range: 64 Gauss
    points are enough for every number of degrees.
    """
    reach = np.abs(t) if degrees <= 30 else np.minimum(np.abs(t), 40.0)  # beyond lies less than 1e-25
    half = np.arctan(reach / math.sqrt(degrees)) / 2
    points, weights = _load_gauss()
    area = half * (np.cos(half[..., None] * (points + 1)) ** (degrees - 1) @ weights)
    return np.asarray(0.5 + np.copysign(np.minimum(0.5, area * _student_density(0, degrees) * math.sqrt(degrees)), t))


def _student_density(t: float, degrees: int) -> float:
    scale = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2
    return math.exp(scale - (degrees + 1) / 2 * math.log1p(t * t / degrees))


@cache
def _load_gauss() -> tuple[Floats, Floats]:
    points, weights = np.polynomial.legendre.leggauss(64)
    return points, weights
