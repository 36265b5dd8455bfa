"""Estimates after a sequential test: the chances of its ends, and how often what is printed holds the truth."""

from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malice.tournaments.ratings.comparison import Others, measure_advantage
from malice.tournaments.ratings.sprt import Sprt, Verdict
from malice.tournaments.ratings.stopping import compute_end
from tests.samples import sample
from tests.simulated_tests import measure_estimates

BOUNDS = (-2.9, 2.2)
COUNTS = st.one_of(*(st.lists(st.integers(0, 400), min_size=cells, max_size=cells) for cells in (5, 9)))


def solve_heat_equation(drift: float, variance: float, ratio: float) -> float:
    """Return the chance of an end as low by Fourier's series, which has nothing in common with mirrored sources."""
    low, high = BOUNDS
    width, lean = high - low, drift / variance
    stay = reach = 0.0
    for number in range(1, 400):
        wave = number * math.pi / width
        fade = math.exp(-(wave**2 + lean**2) * variance / 2) * math.sin(-wave * low) / (wave**2 + lean**2)
        up = math.exp(lean * (ratio - low)) * (
            lean * math.sin(wave * (ratio - low)) - wave * math.cos(wave * (ratio - low))
        )
        stay += fade * (up + wave)
        reach += fade * wave
    ever = (1 - math.exp(-2 * lean * high)) / (math.exp(-2 * lean * low) - math.exp(-2 * lean * high))
    return ever + 2 / width * math.exp(lean * low) * (stay - reach)


@pytest.mark.parametrize("drift", [-3.0, 0.1, 1.5])
@pytest.mark.parametrize("variance", [1.0, 5.0, 80.0])
@pytest.mark.parametrize("ratio", [BOUNDS[0], -1.0, 1.4])
def test_the_chance_of_an_end_solves_the_equation_of_diffusion(drift: float, variance: float, ratio: float) -> None:
    assert compute_end(BOUNDS, drift, variance, ratio) == pytest.approx(
        solve_heat_equation(drift, variance, ratio), abs=1e-9
    )


def test_a_sooner_end_at_the_upper_bound_ranks_above_a_later_one() -> None:
    ends = [compute_end(BOUNDS, rate * 1.0, rate * 2.0, BOUNDS[1]) for rate in (4.0, 2.0, 1.0, 0.5)]

    assert ends == sorted(ends)
    assert 0 < ends[0] < ends[-1] < 1


def test_far_bounds_leave_the_normal_distribution() -> None:
    assert compute_end((-1e3, 1e3), 1.5, 4.0, 2.5) == pytest.approx(math.erfc(-0.5 / math.sqrt(2)) / 2)


@pytest.mark.slow
@pytest.mark.parametrize("elo", sample([10, 0], 2))
def test_after_a_stop_estimates_are_too_high_as_often_as_too_low_and_intervals_hold(elo: float) -> None:
    runs = 150
    found = measure_estimates(Sprt(0, 20, "logistic"), elo, runs)

    assert abs(found.coverage - 0.95) < 3 * math.sqrt(0.05 * 0.95 / runs)
    assert abs(found.above - 0.5) < 3 * math.sqrt(0.25 / runs)


def test_a_test_without_a_verdict_has_stopped_too() -> None:
    found = measure_estimates(Sprt(0, 20, "logistic"), 20, 150, most=200)

    assert found.deals < 200
    assert abs(found.coverage - 0.95) < 3 * math.sqrt(0.05 * 0.95 / 150)


@given(COUNTS, st.sampled_from(["H0", "H1", None]), st.sampled_from(["normalised", "logistic"]), st.floats(0, 1))
def test_after_a_test_every_figure_is_a_number_or_absent(
    counts: list[int], verdict: Verdict | None, model: str, mean: float
) -> None:
    test = Sprt(0, 20, model)  # type: ignore[arg-type]
    others = Others(1, mean) if len(counts) == 9 else None

    found = measure_advantage(counts, len(counts) // 2, others, (test, verdict))

    assert (found.los, found.p) == (None, None)
    for name, value in msgspec.structs.asdict(found).items():
        if isinstance(value, float):
            assert math.isfinite(value), name
            assert value or math.copysign(1, value) == 1, name
    if found.score_low is not None and found.score_high is not None:
        assert found.score_low <= (found.score or 0) <= found.score_high
