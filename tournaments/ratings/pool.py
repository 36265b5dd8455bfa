"""One pool of players connected by games: strengths, intervals, and who is significantly better than whom.

Strengths are in natural units, and players are numbered within the pool.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tournaments.ratings.bradley_terry import maximise, sum_products
from tournaments.ratings.covariance import estimate_by_deal, estimate_from_information, student_cdfs, student_quantile
from tournaments.ratings.one_sided import Levels, find_levels
from tournaments.ratings.pairings import Bools, Floats, Ints, Pairings
from tournaments.ratings.scores import FEW, NOTHING, count_mixed_groups


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    players: Ints
    """Their numbers outside the pool, ascending."""
    strengths: Floats
    origin: float
    """Where ratings are measured from: the anchor, or the mean of the core."""
    levels: Levels
    groups: int
    """Deal groups, the units of independence."""
    errors: Floats
    """[i, j]: the standard error of the difference of two players of one level; nan if not measured."""
    varied: Bools
    """[i, j]: the deal groups differ in what they say about i and j."""
    half: Floats
    """Per player half its interval against its level's mean (the anchor, on the anchor's level), or nan."""
    variances: tuple[float, float] | None
    """Sums over the core: the variance clustered by deal group, and as if games were independent."""

    def compute_interval(self) -> tuple[Floats, Floats]:
        """Return the intervals on the core, elsewhere the bounds of the level, widened by the uncertainty within it."""
        known, values = self.levels, self.strengths
        if known.core_is_level:
            low, high = np.where(known.core, values, known.low), np.where(known.core, values, known.high)
        else:  # no two players took points off each other: a bound moves the mean it is measured from
            moved = 1 - 1 / len(values)
            low, high = values + (known.low - values) * moved, values + (known.high - values) * moved
        return low - self.half, high + self.half

    def find_better(self) -> Bools:
        """Return [i, j]: i is significantly better than j."""
        values, known = self.strengths, self.levels
        ahead = self.varied & (values[:, None] - values > _find_quantile(self.groups) * self.errors)
        by_wins = known.low[:, None] > known.low_held
        by_losses = known.high < known.high_held[:, None]
        one_sided = known.above & np.where(np.isnan(known.low)[:, None], by_losses, by_wins)
        better = np.where(known.label[:, None] == known.label, ahead, one_sided & ~np.isnan(self.errors))
        return np.asarray(better & (values[:, None] > values))

    def compute_los(self) -> Floats:
        """Return [i, j]: how certain it is that i is better than j, 0..1; nan where the games do not determine it.

        Between two levels there is no covariance, but only a bound.
        """
        known = self.varied & (self.levels.label[:, None] == self.levels.label) & (self.errors > 0)
        if self.groups < 2:
            return np.full(known.shape, np.nan)
        lead = np.full(known.shape, np.nan)
        np.divide(self.strengths[:, None] - self.strengths, self.errors, out=lead, where=known)
        return student_cdfs(lead, self.groups - 1)


def rate_pool(pairings: Pairings, players: Ints, anchor: int | None) -> Pool:
    """Rate connected players; the anchor is one of them, by the same numbers, or None."""
    inner = pairings.within(players)
    anchor = None if anchor is None else int(np.searchsorted(players, anchor))
    fitted = maximise(inner)
    known = find_levels(inner, fitted.values, anchor)
    measured, assumed = estimate_by_deal(inner, fitted), estimate_from_information(inner, fitted)
    few = count_mixed_groups(inner) < FEW
    unmeasured = _find_unmeasured(inner)

    contrast = _make_contrasts(known, anchor)
    variance, independent = _sum_quadratic(measured, contrast), _sum_quadratic(assumed, contrast)
    wide = (few if anchor is None else few | few[anchor]) | (variance < NOTHING * independent)
    half = _find_quantile(inner.groups) * np.sqrt(np.where(wide, np.maximum(variance, independent), variance))
    half[np.abs(contrast).sum(axis=1) < NOTHING] = 0.0  # measured against itself
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
        groups=inner.groups,
        errors=errors,
        varied=between > NOTHING * independent_between,
        half=half,
        variances=_sum_variances(known, half, measured, assumed) if inner.groups > 1 else None,
    )


def _find_quantile(groups: int) -> float:
    return student_quantile(groups - 1) if groups > 1 else math.nan


def _find_unmeasured(pairings: Pairings) -> Floats:
    """Return for each player its part in each direction that no game measures, such as between permanent partners."""
    if pairings.teams.members.shape[1] == 1:
        return np.zeros((pairings.players, 0))
    rows = pairings.tally
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
