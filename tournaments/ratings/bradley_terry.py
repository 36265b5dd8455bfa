"""The joint Bradley-Terry fit of one pool, in natural units (1 unit = 400 / ln 10 Elo)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from malice.tournaments.ratings.pairings import Floats, Ints, Pairings, Rows, sum_groups

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
    """Return the expected score of a team that is stronger by the difference."""
    return 0.5 * (1 + np.tanh(difference / 2))


def compute_advantage(strengths: Floats, index: Ints, factor: Floats) -> Floats:
    """Return how much stronger the first team of each row of a design is."""
    return np.asarray((strengths[index] * factor).sum(axis=1))


def sum_products(players: int, index: Ints, factor: Floats, weight: Floats) -> Floats:
    """Return the sum over the rows of weight x design x design', as a matrix of players."""
    cells = index[:, :, None] * players + index[:, None, :]
    values = weight[:, None, None] * factor[:, :, None] * factor[:, None, :]
    return sum_groups(cells, values, players**2).reshape(players, players)


def maximise(pairings: Pairings) -> Strengths:
    """Return the strengths of maximum likelihood, by Newton's method; the log-likelihood is concave."""
    players = pairings.players
    rows = pairings.tally
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
