"""Intervals that hold at any time: at all looks together they leave the truth out in 5 % of cases at most."""

from __future__ import annotations

import math

import numpy as np
import pytest

from malice.tournaments.ratings.anytime import bound_mean
from tests.anytime import measure_misses


def test_without_deals_nothing_is_known_and_with_more_it_gets_closer() -> None:
    scores = np.random.default_rng(1).choice([0, 0.5, 1], 400, p=[0.2, 0.5, 0.3]).tolist()

    widths = [high - low for low, high in (bound_mean(scores[:deals]) for deals in (0, 40, 400))]

    assert bound_mean([]) == (0, 1)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.2


def test_the_other_player_has_the_same_interval_the_other_way_round() -> None:
    scores = np.random.default_rng(2).choice([0, 0.5, 1], 60).tolist()

    low, high = bound_mean(scores)

    assert bound_mean([1 - score for score in scores]) == pytest.approx((1 - high, 1 - low))


@pytest.mark.slow
def test_the_truth_is_seldom_left_out_at_any_of_many_looks() -> None:
    runs = 60

    for _, share in measure_misses(runs, deals=300):
        assert share <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
