"""What a seat is worth, with its interval by deal."""

from __future__ import annotations

import math

import pytest

from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.standings import compute_standings
from malice.tournaments.terminal.results import format_standings
from tests.test_standings import pair, played

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
