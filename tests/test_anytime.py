"""Intervals that hold at any time: at all looks together they leave the truth out in 5 % of cases at most."""

from __future__ import annotations

import math

import numpy as np
import pytest

from malice.tournaments.ratings.anytime import bound_mean, bound_scores
from malice.tournaments.ratings.pairings import make_pairings
from malice.tournaments.ratings.rated_games import RatedGame
from tests.anytime import measure_live_misses, measure_misses


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


def test_a_score_against_several_bots_does_not_depend_on_the_order_of_the_deals() -> None:
    places = np.random.default_rng(3).choice([1, 2], (80, 2))
    games = [
        RatedGame(((0,), (1 + deal % 3,)), (int(place), 3 - int(place)), deal)
        for deal, both in enumerate(places)
        for place in both
    ]

    found = [bound_scores(make_pairings(order, 5).by_group, 5) for order in (games, games[::-1])]

    low, high = found[0]
    assert np.array_equal(found, [(low, high)] * 2)
    assert low[0] < np.mean(places == 1) < high[0]
    assert high[0] - low[0] < 0.4
    assert (low[4], high[4]) == (0, 1), "it has not played"


@pytest.mark.slow
def test_the_truth_is_seldom_left_out_at_any_of_many_looks() -> None:
    runs = 60

    for _, share in (*measure_misses(runs, deals=300), *measure_live_misses(runs, deals=300, looks=20)):
        assert share <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
