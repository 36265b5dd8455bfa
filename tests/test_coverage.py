"""The intervals that standings and comparisons print hold the truth in 95 % of leagues; the soak test plays more."""

import math

import pytest

from tests.samples import sample
from tests.simulated_leagues import LEAGUES, measure_coverage

RUNS = 60
MARGIN = 3 * math.sqrt(0.05 * 0.95 / RUNS)
"""As if all intervals of one kind in a league stood or fell together."""


@pytest.mark.slow
@pytest.mark.parametrize("name", sample(LEAGUES, 3))
def test_intervals_hold_the_truth_19_times_in_20(name: str) -> None:
    coverage = measure_coverage(LEAGUES[name], RUNS, truth_deals=1000)

    assert {kind: share for kind, share in coverage.items() if abs(share - 0.95) > MARGIN} == {}
    assert {"rating", "score", "seat"} <= coverage.keys()
