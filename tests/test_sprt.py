"""The sequential test: golden figures of fastchess and OpenBench, and how often it errs on simulated deals."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malice.tournaments.ratings.pairs import K, convert_to_elo
from malice.tournaments.ratings.sprt import Model, Sprt, Walk, expect_score
from tests.samples import sample
from tests.simulated_deals import make_chances, measure_errors, measure_errors_against_others

PAIRS = st.lists(st.integers(0, 30_000), min_size=5, max_size=5)


@pytest.mark.parametrize(
    ("counts", "bounds", "model", "llr"),
    [
        ((36027, 68692, 36433), (0, 2), "normalised", "0.92"),
        ((10650, 20431, 10871), (-1.75, 0.25), "normalised", "2.30"),
        ((21184, 40708, 21404), (0.5, 2.5), "logistic", "-1.57"),
        ((57030, 106593, 57433), (0, 2), "logistic", "-2.59"),
        ((365, 16618, 36029 + 200, 16974, 390), (0, 2), "normalised", "2.25"),
        ((127, 4883, 10311 + 401, 5150, 104), (-1.75, 0.25), "normalised", "3.01"),
        ((0, 0, 0, 0, 5550), (0, 5), "normalised", "111.80"),
        ((223, 9863, 20279 + 1000, 10037, 246), (0.5, 2.5), "logistic", "-3.07"),
        ((871, 26175, 55003 + 980, 26678, 821), (0, 2), "logistic", "-4.98"),
        ((39, 8843, 26675, 9240, 44), (0.5, 2.5), "normalised", "2.9417"),
        ((39, 8843, 26675, 9240, 44), (0.5, 2.5), "logistic", "0.5555"),
    ],
)
def test_the_ratio_is_golden(counts: tuple[int, ...], bounds: tuple[float, float], model: Model, llr: str) -> None:
    found = Sprt(*bounds, model).compute_llr(counts, len(counts) // 2)

    assert f"{found:.{len(llr.partition('.')[2])}f}" == llr


def test_the_cheap_approximation_is_golden_and_near_the_ratio() -> None:
    counts, (s0, s1) = (13, 37, 50, 25, 3), (0.5, 1 / (1 + 10 ** (-2.716 / 400)))
    total = sum(counts)
    mean = sum(index / 4 * count for index, count in enumerate(counts)) / total
    variance = sum(count * (index / 4 - mean) ** 2 for index, count in enumerate(counts)) / total

    cheap = (s1 - s0) * (2 * mean - s0 - s1) / (2 * variance / total)

    assert f"{cheap:.4f}" == "-0.5597"
    assert Sprt(0, 2.716, "logistic").compute_llr(counts, 2) == pytest.approx(cheap, abs=0.03)


def test_the_bounds_are_those_of_the_chances_to_err() -> None:
    test = Sprt()

    assert test.lower == pytest.approx(math.log(0.05 / 0.95))
    assert test.upper == pytest.approx(math.log(0.95 / 0.05))
    assert [test.judge(llr) for llr in (-3.0, 0.0, 3.0)] == ["H0", None, "H1"]


@given(PAIRS, st.sampled_from(["normalised", "logistic"]), st.floats(-200, 199), st.floats(0.5, 30))
def test_the_ratio_is_a_number_for_any_results(counts: list[int], model: Model, elo0: float, gap: float) -> None:
    llr = Sprt(elo0, elo0 + gap, model).compute_llr(counts, 2)

    assert math.isfinite(llr)
    assert llr or math.copysign(1, llr) == 1


@pytest.mark.parametrize(
    ("test", "games"),
    [
        (Sprt(0, 231.7), 2),
        (Sprt(-231.7, 0), 2),
        (Sprt(0, 163.8), 4),
        (Sprt(5, 5), 2),
        (Sprt(0, 400, "logistic"), 2),
    ],
)
def test_bounds_that_cannot_be_tested_are_refused(test: Sprt, games: int) -> None:
    with pytest.raises(ValueError, match=r"^elo[01]: expected "):
        test.require(games)


def test_bounds_just_within_can_be_tested() -> None:
    Sprt(-231, 231).require(2)

    assert math.isfinite(Sprt(-231, 231).compute_llr((0, 0, 0, 0, 100), 2))


def weigh_every_deal(test: Sprt, cells: Sequence[int]) -> tuple[int, str] | None:
    counts = [0] * 5
    for number, cell in enumerate(cells):
        counts[cell] += 1
        if verdict := test.judge(test.compute_llr(counts, 2)):
            return number, verdict
    return None


@pytest.mark.parametrize("seed", range(12))
def test_a_walk_ends_where_weighing_every_deal_does(seed: int) -> None:
    chance = random.Random(seed)
    test = Sprt(0, chance.choice((20, 60)), chance.choice(("normalised", "logistic")))
    weights = chance.choice(([1, 0, 2, 0, 1], [10, 5, 60, 10, 15], [1, 0, 10, 0, 9], [0, 0, 1, 0, 0], [0, 0, 0, 0, 1]))
    cells = chance.choices(range(5), weights, k=2000)
    walk, found = Walk(test, 5, 2), None

    for number, cell in enumerate(cells):
        walk.add(cell)
        if walk.verdict:
            found = number, walk.verdict
            break

    assert found == weigh_every_deal(test, cells)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "split"), sample([("logistic", 0.4), ("normalised", 0.7)], 2))
def test_the_test_seldom_errs_on_deals_whose_games_hang_together(model: Model, split: float) -> None:
    test, runs = Sprt(0, 100, model), 150

    wrong = measure_errors(test, split, runs)

    assert max(wrong) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


@pytest.mark.slow
def test_the_test_seldom_errs_where_two_bots_meet_others_that_both_beat() -> None:
    test, runs = Sprt(0, 100, "logistic"), 100

    wrong = measure_errors_against_others(test, 0.8, runs)

    assert max(wrong) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


@given(elo=st.floats(-399, 399), mean=st.floats(0.01, 0.99))
def test_against_others_the_expected_lead_is_that_of_the_elo_difference(elo: float, mean: float) -> None:
    lead = expect_score(elo, mean) - 0.5
    ours, theirs = convert_to_elo(mean + lead), convert_to_elo(mean - lead)

    assert ours is not None
    assert theirs is not None
    assert ours - theirs == pytest.approx(elo, abs=1e-6)
    assert expect_score(elo, 0.5) == pytest.approx((1 + math.tanh(elo / K / 2)) / 2)


def test_against_others_that_never_win_the_deals_decide_nothing() -> None:
    walk = Walk(Sprt(0, 20, "logistic"), 9, 1)
    for _ in range(3):
        walk.add(4, 1.0)

    assert (walk.llr, walk.verdict) == (0, None)


def test_simulated_deals_are_as_much_better_as_they_should_be() -> None:
    for test in (Sprt(0, 20), Sprt(0, 20, "logistic")):
        chances = make_chances(test, 20, 0.6)
        mean = sum(index / 4 * chance for index, chance in enumerate(chances))
        sigma = math.sqrt(sum((index / 4 - mean) ** 2 * chance for index, chance in enumerate(chances)))
        elo = (mean - 0.5) / sigma / math.sqrt(2) * 800 / math.log(10)
        assert (elo if test.model == "normalised" else -400 * math.log10(1 / mean - 1)) == pytest.approx(20, abs=0.01)
