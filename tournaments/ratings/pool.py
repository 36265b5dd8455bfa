"""One pool of players connected by games: strengths, intervals, and who is significantly better than whom.

Strengths are in natural units, and players are numbered within the pool.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from malice.tournaments.ratings.bradley_terry import maximise, sum_products
from malice.tournaments.ratings.covariance import (
    estimate_by_deal,
    estimate_from_information,
    student_cdfs,
    student_quantile,
)
from malice.tournaments.ratings.one_sided import Levels, find_levels
from malice.tournaments.ratings.pairings import Bools, Floats, Ints, Pairings
from malice.tournaments.ratings.scores import FEW, NOTHING, find_clusters, find_unsure

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
        """Return the intervals on the core, elsewhere the bounds of the level, widened by the uncertainty within it."""
        known, values = self.levels, self.strengths
        if known.core_is_level:
            low, high = np.where(known.core, values, known.low), np.where(known.core, values, known.high)
        else:  # no two players took points off each other: a bound moves the mean it is measured from
            moved = 1 - 1 / len(values)
            low, high = values + (known.low - values) * moved, values + (known.high - values) * moved
        return low - self.half, high + self.half

    def find_better(self, chosen: Ints) -> Bools:
        """Return [i, j]: the i-th of the chosen players is certainly better than the j-th.

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
        """Return [i, j]: how likely i would be so far ahead of j if the two were equal; nan if nothing tells."""
        known = self.levels
        chance = np.where(self.errors > 0, 1 - self._compute_certainties(), np.nan)
        apart = known.above & ~np.isnan(self.errors)
        for one, other in np.argwhere(apart).tolist():
            chance[one, other] = known.compute_chance(self.strengths, one, other)
        return chance

    def compute_los(self) -> Floats:
        """Return [i, j]: how certain it is that i is better than j, 0..1, as of a pair that somebody asks for.

        It is nan where the games do not determine it, or where one of them has fewer than five deal groups. Between two
        levels there is no covariance, but only a bound.
        """
        few = self.groups < FEW
        return np.where(few[:, None] | few, np.nan, self._compute_certainties())

    def compute_margins(self) -> Floats:
        """Return [i, j]: half the 95 % interval of their difference; nan where the games do not determine it."""
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
    """Return how many groups give Student's degrees of freedom.

    With fewer than five of its own a player takes at least the variance of independent games, which needs none.
    """
    return np.minimum(np.maximum(groups, FEW), together)


def _find_quantiles(groups: Ints) -> Floats:
    return np.array([student_quantile(each - 1) if each > 1 else math.nan for each in groups.tolist()])


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
