"""Covariances of the fit against a slow computation from the definition, and Student's t against tables."""

import math
import random
from itertools import combinations

import numpy as np
import pytest

from malice.tournaments.ratings.bradley_terry import (
    PRIOR_DRAWS,
    estimate_by_deal,
    estimate_from_information,
    maximise,
    student_cdf,
    student_quantile,
)
from malice.tournaments.ratings.pairings import Floats, make_pairings
from malice.tournaments.ratings.rated_games import RatedGame


def mixed_games(players: int, groups: int) -> list[RatedGame]:
    """Duels, tables of four and partners, each deal in two games."""
    random_ = random.Random(7)
    games = []
    for group in range(groups):
        seats = random_.sample(range(players), 4)
        teams = [
            ((seats[0],), (seats[1],)),
            tuple((seat,) for seat in seats),
            ((seats[0], seats[1]), (seats[2], seats[3])),
        ][group % 3]
        for _ in range(2):
            places = tuple(random_.randint(1, 3) + min(team) // 3 for team in teams)
            games.append(RatedGame(teams, places, 100 - group))
    return games


def slope_and_information(game: RatedGame, strengths: Floats) -> tuple[Floats, Floats]:
    """Of one game, pairing by pairing."""
    slope, information = np.zeros(len(strengths)), np.zeros((len(strengths), len(strengths)))
    for one, other in combinations(range(len(game.teams)), 2):
        direction = np.zeros(len(strengths))
        for team, sign in ((one, 1), (other, -1)):
            for player in game.teams[team]:
                direction[player] += sign / len(game.teams[team])
        chance = 1 / (1 + math.exp(-direction @ strengths))
        points = 0.5 + 0.5 * np.sign(game.places[other] - game.places[one])
        slope += (points - chance) * direction
        information += chance * (1 - chance) * np.outer(direction, direction)
    return slope, information


def prior(strengths: Floats) -> tuple[Floats, Floats]:
    centre = np.eye(len(strengths)) - 1 / len(strengths)
    chance = 1 / (1 + np.exp(-centre @ strengths))
    information = centre @ np.diag(PRIOR_DRAWS * chance * (1 - chance)) @ centre
    return centre @ (PRIOR_DRAWS * (0.5 - chance)), information


def test_no_step_raises_the_likelihood_of_a_fit() -> None:
    games = mixed_games(7, 30)
    fitted = maximise(make_pairings(games, 7))

    slope, information = prior(fitted.values)
    for game in games:
        more_slope, more_information = slope_and_information(game, fitted.values)
        slope, information = slope + more_slope, information + more_information

    assert slope == pytest.approx(np.zeros(7), abs=1e-8)
    assert fitted.information == pytest.approx(information)
    assert fitted.inverse == pytest.approx(np.linalg.pinv(information))


def test_the_clustered_covariance_leaves_every_group_out_once() -> None:
    games = mixed_games(7, 30)
    pairings = make_pairings(games, 7)
    fitted = maximise(pairings)

    expected = np.zeros((7, 7))
    for group in {game.group for game in games}:
        parts = [slope_and_information(game, fitted.values) for game in games if game.group == group]
        moved = np.linalg.pinv(fitted.information - sum(part[1] for part in parts)) @ sum(part[0] for part in parts)
        expected += 29 / 30 * np.outer(moved, moved)

    assert estimate_by_deal(pairings, fitted) == pytest.approx(expected)


def test_blocks_of_groups_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    pairings = make_pairings(mixed_games(7, 30), 7)
    fitted = maximise(pairings)
    whole = estimate_by_deal(pairings, fitted)

    monkeypatch.setattr("malice.tournaments.ratings.bradley_terry.BLOCK", 10)

    assert estimate_by_deal(pairings, fitted) == pytest.approx(whole)


def test_independent_duels_have_the_inverse_of_the_information() -> None:
    games = [game for game in mixed_games(7, 90) if len(game.teams) == 2]
    pairings = make_pairings(games, 7)
    fitted = maximise(pairings)

    assert estimate_from_information(pairings, fitted) == pytest.approx(fitted.inverse, abs=1e-9)


def test_a_game_of_four_equals_has_five_thirds_the_variance_of_six_duels() -> None:
    order = [(1, 2, 3, 4), (4, 3, 2, 1), (2, 1, 4, 3), (3, 4, 1, 2)]
    games = [RatedGame(((0,), (1,), (2,), (3,)), places, group) for group, places in enumerate(order * 500)]
    pairings = make_pairings(games, 4)
    fitted = maximise(pairings)

    assert estimate_from_information(pairings, fitted) == pytest.approx(fitted.inverse * 5 / 3, rel=1e-3)


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    [
        (1, 12.706),
        (2, 4.303),
        (3, 3.182),
        (4, 2.776),
        (5, 2.571),
        (10, 2.228),
        (19, 2.093),
        (30, 2.042),
        (60, 2.000),
        (120, 1.980),
        (10**6, 1.960),
    ],
)
def test_quantiles_are_those_of_the_tables(degrees: int, quantile: float) -> None:
    assert student_quantile(degrees) == pytest.approx(quantile, abs=0.0005)


def test_student_of_one_two_and_three_degrees_has_its_closed_form() -> None:
    for t in (-1e6, -40.0, -3.0, -0.1, 0.0, 0.5, 2.0, 12.7, 1000.0):
        angle = math.atan(t / math.sqrt(3))
        assert student_cdf(t, 1) == pytest.approx(0.5 + math.atan(t) / math.pi, abs=1e-12)
        assert student_cdf(t, 2) == pytest.approx(0.5 + t / (2 * math.sqrt(2 + t * t)), abs=1e-12)
        assert student_cdf(t, 3) == pytest.approx(0.5 + (angle + math.sin(angle) * math.cos(angle)) / math.pi)


def test_student_of_many_degrees_is_the_normal_distribution() -> None:
    for t in (-60.0, -5.0, -1.0, 0.3, 1.96, 4.0, 60.0):
        assert student_cdf(t, 10**6) == pytest.approx(math.erfc(-t / math.sqrt(2)) / 2, abs=1e-6)
