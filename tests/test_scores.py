"""Intervals of shares of the points, of players and of seats."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.standings import compute_standings
from malice.tournaments.ratings.fit import RatedGame, fit_ratings
from malice.tournaments.terminal.results import format_standings
from tests.summaries import pair, played

T7 = 2.364624251592785
"""Student's t with 7 degrees of freedom: 97.5 % lie below."""


def deals(points: Sequence[tuple[float, float]]) -> list[RatedGame]:
    """Deals of player 0 against player 1, played twice, by the points of the first."""
    places = {1.0: (1, 2), 0.5: (1, 1), 0.0: (2, 1)}
    return [RatedGame(((0,), (1,)), places[game], group) for group, both in enumerate(points) for game in both]


def interval(games: list[RatedGame], players: int = 2) -> tuple[float | None, float | None]:
    rating = fit_ratings(games, players).ratings[0]
    return rating.score_low, rating.score_high


def test_eight_deals_give_the_interval_worked_out_by_hand() -> None:
    games = deals([(1, 1)] * 3 + [(1, 0)] * 3 + [(0, 0)] * 2)

    low, high = interval(games)

    # Score 9/16. Shares by deal: 1 three times, 1/2 three times, 0 twice; the sum of squares about 9/16 is 1.21875,
    # over 8 * 7 the variance is 0.0217634. Wilson with t = 2.3646: t^2 v / (s (1 - s)) = 0.49448.
    variance = 1.21875 / 56
    extra = T7**2 * variance / (9 / 16 * 7 / 16)
    middle = (9 / 16 + extra / 2) / (1 + extra)
    half = T7 / (1 + extra) * math.sqrt(variance + (T7 * variance) ** 2 / (4 * (9 / 16 * 7 / 16) ** 2))
    assert (low, high) == pytest.approx((middle - half, middle + half), abs=1e-9)
    assert (low, high) == pytest.approx((0.2557, 0.8279), abs=1e-4)


def test_games_of_one_deal_that_go_alike_say_less_than_those_that_cancel_out() -> None:
    def width(points: Sequence[tuple[float, float]]) -> float:
        low, high = interval(deals(points))
        assert low is not None
        assert high is not None
        return high - low

    alike, apart = width([(1, 1)] * 20 + [(0, 0)] * 20), width([(1, 1)] * 5 + [(0, 0)] * 5 + [(1, 0)] * 30)

    assert apart < 0.6 * alike


def test_deals_that_all_split_are_no_certainty() -> None:
    low, high = interval(deals([(1, 0)] * 8))

    # As if the 16 games were independent: v = 1/64, and t^2 v / (1/4) = 0.34947.
    assert low == pytest.approx(0.5 - 0.5 * math.sqrt(T7**2 / 16 / (1 + T7**2 / 16)), abs=1e-9)
    assert high == pytest.approx(1 - (low or 0))


def test_who_won_every_deal_is_bounded_from_below() -> None:
    low, high = interval(deals([(1, 1)] * 10))
    lost = fit_ratings(deals([(0, 0)] * 10), 2).ratings[0]

    assert (low, high) == pytest.approx((0.025 ** (1 / 10), 1))
    assert (lost.score_low, lost.score_high) == pytest.approx((0, 1 - 0.025 ** (1 / 10)))


def test_one_mixed_deal_and_no_game_give_no_interval() -> None:
    assert interval(deals([(1, 0)])) == (None, None)
    assert interval([]) == (None, None)


def test_the_three_pairings_of_a_game_of_four_are_not_three_games() -> None:
    table = ((0,), (1,), (2,), (3,))
    games = [RatedGame(table, (1 + group % 4, *(place for place in range(1, 5) if place != 1 + group % 4)), group)
             for group in range(4)]  # fmt: skip

    low, high = interval(games, 4)

    # Four groups are few, and the spread between places 1 to 4 is that of chance: 1/4 * (4 + 1) / 3 / 12 pairings.
    t3 = 3.1824463052842638
    variance = max(1 / 4 * 5 / 3 / 12, sum((share - 0.5) ** 2 for share in (0, 1 / 3, 2 / 3, 1)) / 12)
    extra = 4 * t3**2 * variance
    assert low == pytest.approx(0.5 - 0.5 * math.sqrt(extra / (1 + extra)), abs=1e-9)
    assert high == pytest.approx(1 - (low or 0))


FIRST_SEAT = ((1, 2), (2, 1))
"""The places of a and b in both games of a deal that the first seat wins twice."""
SECOND_SEAT = ((2, 1), (1, 2))
SAME_BOT = ((1, 2), (1, 2))


def play_deals(*deals: tuple[tuple[int, int], tuple[int, int]]) -> list[GameSummary]:
    return [game for deal, places in enumerate(deals) for game in pair(deal, *places)]


def test_a_seat_that_wins_every_deal_is_worth_something() -> None:
    (found,) = compute_standings(play_deals(*[FIRST_SEAT] * 10), ["a", "b"])

    first, second = found.seat_scores
    assert (first.seats, first.score, second.score) == ((0,), 1, 0)
    assert (first.score_low, first.score_high) == pytest.approx((0.025 ** (1 / 10), 1))
    assert (first.elo, first.elo_high) == (None, None)
    assert first.elo_low == pytest.approx(-400 * math.log10(1 / 0.025**0.1 - 1))
    assert list(format_standings([found]))[-1].startswith("seat 0 gets 100.0 % of the points")


def test_a_seat_has_the_interval_of_a_bot_with_its_results() -> None:
    deals = [FIRST_SEAT] * 5 + [SECOND_SEAT] * 3 + [SAME_BOT] * 8
    as_bot = {FIRST_SEAT: SAME_BOT, SECOND_SEAT: ((2, 1), (2, 1)), SAME_BOT: FIRST_SEAT}

    (found,) = compute_standings(play_deals(*deals), ["a", "b"])
    (told,) = compute_standings(play_deals(*(as_bot[deal] for deal in deals)), ["a", "b"])

    seat, rating = found.seat_scores[0], told.rows[0].rating
    assert seat.score == 9 / 16
    assert (seat.score, seat.score_low, seat.score_high) == (rating.score, rating.score_low, rating.score_high)


def test_partners_share_what_their_seats_are_worth() -> None:
    labels = ("a", "b", "c", "d")
    games = [
        played((0, 0, deal, turn), labels, (1, 2, 1, 2), teams=(0, 1, 0, 1), verdicts=("",) * 4)
        for deal in range(9)
        for turn in range(4)
    ]

    (found,) = compute_standings(games, list(labels))

    assert [(side.seats, side.score) for side in found.seat_scores] == [((0, 2), 1), ((1, 3), 0)]
    assert "seats 0 and 2 get" in list(format_standings([found]))[-1]
