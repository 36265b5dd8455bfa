"""The uncertainty of a fit: covariances of its strengths, and Student's t."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

import numpy as np

from malice.tournaments.ratings.bradley_terry import Strengths, compute_advantage, expect_score, sum_products
from malice.tournaments.ratings.pairings import Floats, Ints, Pairings, sum_groups

BLOCK = 2_000_000
"""Most numbers in memory for the deal groups of one block."""


def estimate_from_information(pairings: Pairings, fitted: Strengths) -> Floats:
    """Return the covariance as if games were independent.

    The n(n-1)/2 pairings of one game of n teams depend on each other: between equals they hold as much information as
    3/(n+1) times as many independent ones.
    """
    rows = pairings.tally
    index, factor = pairings.design(rows)
    chance = expect_score(compute_advantage(fitted.values, index, factor))
    extra = sum_products(pairings.players, index, factor, rows.count * chance * (1 - chance) * (rows.seats - 2) / 3)
    return np.asarray(fitted.inverse @ (fitted.information + extra) @ fitted.inverse)


def estimate_by_deal(pairings: Pairings, fitted: Strengths) -> Floats:
    """Return the covariance by a jackknife: leave every deal group out once, and move the fit by one Newton step.

    Leaving group g out moves the strengths by (H - H_g)^-1 s_g, with H the information and s_g the group's
    part of the slope. With A = H^-1 that is A (1 - H_g A)^-1 s_g, whose second factor concerns only the players of
    the group: a small system for each group, solved together for all groups of the same size.
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
    rows, group = pairings.tally_by_group
    index, factor = pairings.design(rows)
    chance = expect_score(compute_advantage(strengths, index, factor))
    residual = rows.points - rows.count * chance
    weight = rows.count * chance * (1 - chance)

    places, place = np.unique(group[:, None] * players + index, return_inverse=True)
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
    """Return slope and information of each group of a block, given what its rows say of which places in the group."""
    groups, size = shape
    at = group[:, None] * size + place
    slope = sum_groups(at, residual[:, None] * factor, groups * size)
    cells = at[:, :, None] * size + place[:, None, :]
    information = sum_groups(cells, weight[:, None, None] * factor[:, :, None] * factor[:, None, :], groups * size**2)
    return slope.reshape(-1, size), information.reshape(-1, size, size)


@cache
def student_quantile(degrees: int) -> float:
    """Return the t with 97.5 % below it, to 1e-8."""
    t = 1.959963984540054 if degrees > 2 else (12.7, 4.3)[degrees - 1]
    for _ in range(50):
        step = (student_cdf(t, degrees) - 0.975) / _student_density(t, degrees)
        t -= step
        if abs(step) < 1e-12 * t:
            break
    return t


def student_cdf(t: float, degrees: int) -> float:
    """Return the chance that Student's t is below `t`, to 1e-9 (with up to a million degrees)."""
    return float(student_cdfs(np.array([t]), degrees)[0])


def student_cdfs(t: Floats, degrees: int) -> Floats:
    """Return the chance for each `t`, as `student_cdf` does; nan for nan.

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
