"""What deals say about two players: golden figures, intervals that hold, and never nan."""

from __future__ import annotations

import itertools
import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malice.tournaments.ratings.bradley_terry import student_cdf
from malice.tournaments.ratings.comparison import Others, estimate_score, flip_signs, measure_advantage
from malice.tournaments.ratings.fit import fit_ratings
from tests.rated_games import pairs

COUNTS = st.one_of(*(st.lists(st.integers(0, 400), min_size=cells, max_size=cells) for cells in (5, 9)))


def test_pairs_give_the_golden_figures() -> None:
    found = measure_advantage((34, 54, 31 + 32, 64, 75), 2)

    assert f"{found.elo:.2f} {found.nelo:.2f}" == "55.58 57.94"


@given(COUNTS)
def test_every_figure_is_a_number_or_absent(counts: list[int]) -> None:
    found = measure_advantage(counts, len(counts) // 2)

    for name, value in msgspec.structs.asdict(found).items():
        if isinstance(value, float):
            assert math.isfinite(value), name
            assert value or math.copysign(1, value) == 1, name


@given(COUNTS)
def test_the_other_player_has_the_same_figures_the_other_way_round(counts: list[int]) -> None:
    ours, theirs = (measure_advantage(each, len(counts) // 2) for each in (counts, counts[::-1]))

    assert ours.p == pytest.approx(theirs.p)
    if ours.score_low is not None and theirs.score_high is not None:
        assert ours.score_low == pytest.approx(1 - theirs.score_high)
    if ours.los is not None and theirs.los is not None:
        assert ours.los == pytest.approx(1 - theirs.los)


def test_what_the_deals_do_not_tell_is_absent() -> None:
    none, one, twins = (measure_advantage(each, 2) for each in ((0,) * 5, (0, 0, 0, 0, 1), (0, 0, 9, 0, 0)))

    assert (none.score, none.elo, none.elo_low, none.los, none.p) == (None,) * 5
    assert (one.score, one.elo, one.score_low) == (1, None, None)
    assert (twins.elo, twins.nelo, twins.los, twins.p) == (0, None, None, 1)
    assert (twins.elo_low or 0) < -50, "nine deals do not prove that two are equal"


def test_superiority_is_that_of_standings_and_unknown_below_five_deals() -> None:
    deals = [(1.0, 1.0)] * 4 + [(1.0, 0.0)] * 2 + [(0.0, 0.0)] * 3

    found = measure_advantage((3, 0, 2, 0, 4), 2).los

    assert found == pytest.approx(fit_ratings(pairs(0, 1, deals), 2).los[0, 1], abs=0.01)
    assert found == pytest.approx(student_cdf(1 / 18 / math.sqrt(31 / 18 / 72), 8), abs=1e-6)
    assert measure_advantage((0, 0, 1, 0, 3), 2).los is None


def test_who_won_every_deal_has_a_bound_below() -> None:
    low, high = estimate_score((0, 0, 0, 0, 10), 2)

    assert low == pytest.approx(0.025 ** (1 / 10))
    assert high == 1


@pytest.mark.parametrize(
    "counts", [(3, 1, 10, 2, 7), (0, 0, 0, 0, 5), (6, 0, 2, 0, 5), (1, 4, 0, 2, 2), (2, 2, 9, 2, 2)]
)
def test_sign_flips_are_counted_exactly(counts: tuple[int, ...]) -> None:
    leads = [abs(index - 2) for index, count in enumerate(counts) for _ in range(count) if index != 2]
    lead = abs(sum((index - 2) * count for index, count in enumerate(counts)))
    every = [abs(sum(map(int.__mul__, leads, signs))) for signs in itertools.product((1, -1), repeat=len(leads))]

    assert flip_signs(counts) == pytest.approx(sum(each >= lead for each in every) / len(every))


def test_sign_flips_of_many_deals_agree_with_the_normal_distribution() -> None:
    counts = (3000, 0, 12_000, 0, 3200)
    deviation = 200 / math.sqrt(6200)

    # With the correction for continuity: the lead moves in steps of two deals.
    assert flip_signs(counts) == pytest.approx(math.erfc((deviation - 1 / math.sqrt(6200)) / math.sqrt(2)), rel=0.01)


@pytest.mark.parametrize("deals", [20, 30, 50])
@pytest.mark.parametrize(
    "chances", [(0.25, 0.5, 0.25), (0.1, 0.6, 0.3), (0.05, 0.5, 0.45), (0.2, 0.4, 0.4), (0.15, 0.7, 0.15)]
)
def test_intervals_hold_as_often_as_they_say(deals: int, chances: tuple[float, float, float]) -> None:
    truth, coverage = chances[1] / 2 + chances[2], 0.0

    for lost, shared in itertools.product(range(deals + 1), repeat=2):
        if (won := deals - lost - shared) >= 0:
            low, high = estimate_score((lost, 0, shared, 0, won), 2)
            ways = math.comb(deals, lost) * math.comb(deals - lost, shared)
            chance = ways * chances[0] ** lost * chances[1] ** shared * chances[2] ** won
            coverage += chance * (low is not None and high is not None and low <= truth <= high)

    assert 0.935 <= coverage <= 0.965


@given(COUNTS, st.integers(1, 8), st.floats(0, 1))
def test_against_others_every_figure_is_a_number_or_absent(counts: list[int], weight: int, mean: float) -> None:
    found = measure_advantage(counts, len(counts) // 2, Others(weight, mean))

    for name, value in msgspec.structs.asdict(found).items():
        if isinstance(value, float):
            assert math.isfinite(value), name
            assert value or math.copysign(1, value) == 1, name


def test_against_others_elo_is_the_difference_of_what_both_have_against_them() -> None:
    others = Others(1, (0.6 + 0.5) / 2)

    found = others.convert_to_elo(0.5 + (0.6 - 0.5) / 2)

    assert found == pytest.approx(-400 * math.log10(1 / 0.6 - 1))
    assert others.convert_to_elo(0.96) is None
