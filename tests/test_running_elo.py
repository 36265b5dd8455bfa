"""The running Elo of the history plot, and the drop-in for package elo."""

import importlib
import random
import sys
from itertools import pairwise

import pytest

from malice.tournaments.ratings import _elo
from malice.tournaments.ratings.fit import RatedGame
from malice.tournaments.ratings.running_elo import compute_history, thin_points

# From elo 0.1.1: k, rating, other rating, drawn -> the new ratings of winner and loser, or of two that drew.
RATED_1VS1 = {
    (10, 1200.0, 1200.0, False): (1205.0, 1195.0),
    (10, 1500.0, 1300.0, True): (1497.4025307335205, 1302.5974692664795),
    (32, 1441.25, 1987.5, False): (1471.9280858293566, 1956.8219141706434),
    (16, 2400.125, 900.0, False): (2400.1278426953254, 899.9971573046744),
    (7.5, -35.5, 20.25, True): (-34.903381536594935, 19.653381536594935),
}
# k, rating, (score, other rating) ... -> the new rating
RATED = {
    (8.0, 1500.0, ((1.0, 1400.0), (0.5, 1600.0), (0.0, 1550.5))): 1500.5773426460078,
    (5.0, 1234.5, ((1.0, 1234.5),) * 5): 1247.0,
    (4.0, 1387.625, ((0.5, 1500.0), (1.0, 2100.75))): 1392.1853452993305,
}


def duel(winner: int, loser: int, *, drawn: bool = False) -> RatedGame:
    return RatedGame(((winner,), (loser,)), (1, 1) if drawn else (1, 2), 0)


def rate_duel(elo: _elo.Elo, one: float, other: float, drawn: bool = False) -> tuple[float, float]:
    """Return the new ratings of a winner and a loser, or of two players that drew."""
    first, second = (0.5, 0.5) if drawn else (1.0, 0.0)
    return elo.rate(one, [(first, other)]), elo.rate(other, [(second, one)])


def test_the_drop_in_gives_the_golden_figures_of_package_elo() -> None:
    for (k, rating, other, drawn), expected in RATED_1VS1.items():
        assert rate_duel(_elo.Elo(k), rating, other, drawn) == pytest.approx(expected, rel=1e-12)
    for (k, rating, series), new in RATED.items():
        assert _elo.Elo(k).rate(rating, series) == pytest.approx(new, rel=1e-12)


def test_the_drop_in_equals_package_elo_to_the_last_bit() -> None:
    try:
        package = importlib.import_module("elo")
    except ImportError:
        # It does not build on newer Pythons: there the golden figures above stand for it.
        assert sys.version_info >= (3, 12), "package elo belongs to the development install"
        return
    random_ = random.Random(822)
    for _ in range(2000):
        k, beta = random_.uniform(0.1, 64), random_.choice([200, random_.uniform(50, 400)])
        one, other = random_.gauss(1500, 400), random_.gauss(1500, 400)
        series = [(random_.choice([0.0, 0.5, 1.0]), random_.gauss(1500, 400)) for _ in range(random_.randrange(6))]
        theirs, ours = package.Elo(k, beta=beta), _elo.Elo(k, beta=beta)

        assert ours.expect(one, other) == theirs.expect(one, other)
        assert ours.rate(one, series) == theirs.rate(one, series)


def test_curves_are_the_chain_of_games_between_two() -> None:
    first, second = compute_history([duel(0, 1), duel(1, 0), duel(0, 1, drawn=True)], 2, k=32, initial=1200)

    elo = _elo.Elo(32)
    chain = [(1200.0, 1200.0)]
    chain.append(rate_duel(elo, *chain[-1]))
    chain.append(rate_duel(elo, *chain[-1][::-1])[::-1])
    chain.append(rate_duel(elo, *chain[-1], drawn=True))
    assert [rating for _, rating in first] == pytest.approx([one for one, _ in chain])
    assert [rating for _, rating in second] == pytest.approx([other for _, other in chain])


def test_points_carry_the_number_of_the_game_in_the_schedule() -> None:
    curves = compute_history([duel(0, 1), duel(1, 2), duel(0, 1)], 4)

    assert [[number for number, _ in curve] for curve in curves] == [[0, 1, 3], [0, 1, 2, 3], [0, 2], [0]]
    assert {curve[0] for curve in curves} == {(0, 1500.0)}


def test_every_rating_is_a_float() -> None:
    curves = compute_history([duel(0, 1), duel(1, 0)], 2, k=10, initial=1500)

    assert {type(rating) for curve in curves for _, rating in curve} == {float}


def test_four_seats_are_six_pairings_with_a_third_of_k() -> None:
    curves = compute_history([RatedGame(((0,), (1,), (2,), (3,)), (2, 1, 3, 3), 0)], 4, k=24)

    gains = [curve[-1][1] - 1500 for curve in curves]
    assert gains == pytest.approx([8 * 0.5, 8 * 1.5, 8 * -1.0, 8 * -1.0])


def test_all_pairings_of_a_game_use_the_ratings_before_it() -> None:
    games = [duel(0, 1), RatedGame(((0,), (1,), (2,)), (1, 2, 3), 1)]

    curves = compute_history(games, 3, k=20)

    one, other = rate_duel(_elo.Elo(20), 1500.0, 1500.0)
    assert curves[2][-1][1] == pytest.approx(_elo.Elo(10).rate(1500.0, [(0, one), (0, other)]))


def test_partners_play_with_their_mean_and_both_get_the_gain() -> None:
    games = [duel(0, 1), RatedGame(((0, 2), (1, 3)), (2, 1), 1)]

    curves = compute_history(games, 4, k=20)

    mean, other_mean = (1510.0 + 1500.0) / 2, (1490.0 + 1500.0) / 2
    loss = _elo.Elo(20).rate(mean, [(0, other_mean)]) - mean
    assert curves[0][-1][1] == pytest.approx(1510 + loss)
    assert curves[2][-1][1] == pytest.approx(1500 + loss)
    assert curves[1][-1][1] == pytest.approx(1490 - loss)


def test_a_player_named_twice_in_a_team_gets_the_gain_once() -> None:
    curves = compute_history([RatedGame(((0, 0), (1, 1)), (1, 2), 0)], 2, k=20)

    assert [curve[-1][1] for curve in curves] == [1510, 1490]


def test_thinned_points_keep_the_first_and_the_last() -> None:
    points = [(number, float(number)) for number in range(1001)]

    for at_most in (2, 3, 7, 100, 1000):
        kept = thin_points(points, at_most)
        assert len(kept) == at_most
        assert (kept[0], kept[-1]) == (points[0], points[-1])
        gaps = [later - earlier for (earlier, _), (later, _) in pairwise(kept)]
        assert max(gaps) - min(gaps) <= 1


def test_few_points_are_not_thinned() -> None:
    points = [(0, 1500.0), (4, 1510.0), (9, 1490.0)]

    assert thin_points(points, 3) == points
    assert thin_points([], 2) == []


def test_room_for_less_than_two_points_is_refused() -> None:
    with pytest.raises(ValueError, match="expected room for 2 points or more, got: 1"):
        thin_points([(0, 1500.0)], 1)
