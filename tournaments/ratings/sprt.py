"""The sequential probability ratio test: is one player better than another, with as few deals as the answer needs?

Results come as counts of deals over equally spaced scores from 0 to 1, such as LL, LD, WL or DD, WD, WW for two games
with the seats swapped. The ratio is generalised: each hypothesis takes the likeliest distribution that agrees with it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta, Struct

from malice.tournaments.ratings.pairs import K

EMPTY = 1e-3
"""What a score counts that no deal gave."""
MOST_T = math.sqrt(8) / 3
"""Beyond this bound, in standard deviations of a deal, the normalised model has no likeliest distribution."""
ROUNDS = 10
"""Most steps towards the likeliest distribution of the normalised model."""
PRECISION = 1e-10
CACHED = 2**16

CAUTION = 2.0
"""How many times as much as the last deals showed a next one may change the ratio."""

Model = Literal["normalised", "logistic"]
Verdict = Literal["H0", "H1"]
Chance = Annotated[float, Meta(gt=0, lt=0.5)]


class Weight(NamedTuple):
    """What deals say about two hypotheses."""

    llr: float
    step: float
    """The most by which another deal like these changes it."""


class Sprt(Struct, frozen=True, forbid_unknown_fields=True):
    """A test of H1, a player is better by `elo1`, against H0, it is better by `elo0`."""

    elo0: float = 0.0
    """The difference under H0, in Elo of the model."""
    elo1: float = 20.0
    """The difference under H1."""
    model: Model = "normalised"
    """Elo relative to the spread of results, which needs as many deals for any game, or Elo of expected scores."""
    alpha: Chance = 0.05
    """The chance to accept H1 although H0 is true."""
    beta: Chance = 0.05
    """The chance to accept H0 although H1 is true."""

    @property
    def lower(self) -> float:
        """The log-likelihood ratio that accepts H0."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The log-likelihood ratio that accepts H1."""
        return math.log((1 - self.beta) / self.alpha)

    def require(self, games: float) -> None:
        """Make sure that the bounds can be tested on deals of so many games.

        Raises:
            ValueError: they cannot; the message names the field.
        """
        if not self.elo0 < self.elo1:
            raise ValueError(f"elo1: expected more than elo0 = {self.elo0:g}, got {self.elo1:g}")
        most = K * MOST_T / math.sqrt(games) if self.model == "normalised" else 400.0
        for field, value in (("elo0", self.elo0), ("elo1", self.elo1)):
            if not abs(value) < most:
                raise ValueError(f"{field}: expected less than {most:.1f} on either side of 0, got {value:g}")

    def compute_llr(self, counts: Sequence[int], games: float, mean: float | None = None) -> float:
        """The log-likelihood ratio of H1 to H0.

        Args:
            counts: deals by their score, from 0 to 1 in equal steps.
            games: how many games a deal has.
            mean: if the two meet others and not each other, what they score against them on average, 0..1; their
                score is then 1/2 and half of what the first scores more than the second.
        """
        return self.weigh(counts, games, mean).llr

    def weigh(self, counts: Sequence[int], games: float, mean: float | None = None) -> Weight:
        """The log-likelihood ratio of H1 to H0, and how much the next deal can change it.

        Args: as `compute_llr`.
        """
        return _weigh(self, tuple(counts), games, mean if self.model == "logistic" else None)

    def find_leads(self, sigma: float, games: float, mean: float | None = None) -> tuple[float, float]:
        """How many standard deviations of a deal the score lies above one half under each hypothesis.

        Args:
            sigma: the standard deviation; it matters to the logistic model alone.
            games: as for `compute_llr`, as `mean`.
        """
        if self.model == "normalised":
            scale = math.sqrt(games) / K
            return self.elo0 * scale, self.elo1 * scale
        low, high = ((expect_score(elo, mean) - 0.5) / sigma for elo in (self.elo0, self.elo1))
        return low, high

    def judge(self, llr: float) -> Verdict | None:
        """The hypothesis that a log-likelihood ratio accepts; None if it accepts neither."""
        return "H1" if llr >= self.upper else "H0" if llr <= self.lower else None


class Walk:
    """A test that takes deals one by one until it accepts a hypothesis.

    It does not weigh all of them: as long as a bound is far away, no next deal can reach it.

    Args:
        test: the test.
        cells: how many scores a deal can have, from 0 to 1 in equal steps.
        games: how many games it has.
    """

    def __init__(self, test: Sprt, cells: int, games: float) -> None:
        self.test = test
        self.counts = [0] * cells
        """Deals by their score."""
        self.verdict: Verdict | None = None
        self._games = games
        self._mean: float | None = None
        self._far = 0

    @property
    def llr(self) -> float:
        """The log-likelihood ratio of all deals."""
        return self.test.compute_llr(self.counts, self._games, self._mean)

    def add(self, cell: int, mean: float | None = None) -> None:
        """Take the next deal.

        Args:
            cell: the place of its score.
            mean: as for `Sprt.compute_llr`, of all deals with this one.
        """
        self.counts[cell] += 1
        self._mean = mean
        self._far -= 1
        if self._far > 0 or self.verdict:
            return
        weight = self.test.weigh(self.counts, self._games, mean)
        self.verdict = self.test.judge(weight.llr)
        gap = min(self.test.upper - weight.llr, weight.llr - self.test.lower)
        # Another mean moves logistic hypotheses, so the last deals do not tell what a next one can change.
        moves = mean is not None and self.test.model == "logistic"
        self._far = 0 if moves else math.floor(gap / (CAUTION * weight.step))


@lru_cache(CACHED)
def _weigh(test: Sprt, counts: tuple[int, ...], games: float, mean: float | None) -> Weight:
    filled = [count or EMPTY for count in counts]
    total = math.fsum(filled) if any(counts) else 0.0
    chances = [count / math.fsum(filled) for count in filled]
    scores = [index / (len(counts) - 1) for index in range(len(counts))]
    if test.model == "normalised":
        under0, under1 = (_find_normalised(chances, scores, elo, games) for elo in (test.elo0, test.elo1))
    else:
        expected = (expect_score(elo, mean) for elo in (test.elo0, test.elo1))
        under0, under1 = (_tilt(chances, [score - each for score in scores])[0] for each in expected)
    steps = [math.log(q1 / q0) for q0, q1 in zip(under0, under1, strict=True)]
    ratio = math.fsum(p * step for p, step in zip(chances, steps, strict=True))
    return Weight(total * ratio + 0.0, max(map(abs, steps)))  # no -0


def expect_score(elo: float, mean: float | None = None) -> float:
    """The expected score of a player who is better by so much.

    Args:
        elo: the difference.
        mean: as for `Sprt.compute_llr`. The two then score `mean + d` and `mean - d`, whose difference in Elo is
            `elo`, and the result is 1/2 + d. Of the two roots of that equation, the smaller one leaves both between
            0 and 1.
    """
    if mean is None:
        return 1 / (1 + 10 ** (-elo / 400))
    lean = math.tanh(elo / K)
    spread = mean * (1 - mean)
    return 0.5 + 2 * lean * spread / (1 + math.sqrt(1 - 4 * lean * lean * spread))


def _find_normalised(chances: Sequence[float], scores: Sequence[float], elo: float, games: float) -> list[float]:
    """The likeliest distribution whose mean lies as many standard deviations above 1/2 as an Elo says."""
    t = elo / K * math.sqrt(games)
    found, theta = [1 / len(scores)] * len(scores), 0.0
    for _ in range(ROUNDS):
        mean = sum(q * score for q, score in zip(found, scores, strict=True))
        sigma = math.sqrt(sum(q * (score - mean) ** 2 for q, score in zip(found, scores, strict=True)))
        slopes = [score - 0.5 - t * sigma / 2 * (1 + ((score - mean) / sigma) ** 2) for score in scores]
        before, (found, theta) = found, _tilt(chances, slopes, theta)
        if max(abs(q - old) for q, old in zip(found, before, strict=True)) < PRECISION:
            break
    return found


def _tilt(chances: Sequence[float], slopes: Sequence[float], start: float = 0.0) -> tuple[list[float], float]:
    """The distribution nearest to `chances` under which the mean of `slopes` is 0, and its parameter.

    The parameter is the root of a falling function, which is infinite at both ends: Newton's steps find it,
    halved wherever they leave the bounds.
    """
    low, high = -1 / max(slopes), -1 / min(slopes)
    theta = start if low < start < high else 0.0
    terms = list(zip(chances, slopes, strict=True))
    for _ in range(200):
        value = fall = 0.0
        for p, slope in terms:
            term = slope / (1 + theta * slope)
            value += p * term
            fall += p * term * term
        low, high = (theta, high) if value > 0 else (low, theta)
        following = theta + value / fall
        if not low < following < high:
            following = (low + high) / 2
        step, theta = abs(following - theta), following
        if step <= PRECISION * (1 + abs(theta)):
            break
    return [p / (1 + theta * slope) for p, slope in terms], theta
