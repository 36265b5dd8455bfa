"""The intervals of ratings: how wide they are, what bounds one-sided records, and which ranks they leave."""

import math
import random
from itertools import combinations

import pytest

from malice.tournaments.ratings.bradley_terry import student_quantile
from malice.tournaments.ratings.fit import ELO, RatedGame, fit_ratings
from tests.rated_games import duel, elos, expected, pairs, ranks, round_robin, rout, sweep, widths

# Intervals


def test_a_pair_of_players_has_the_interval_of_their_deals() -> None:
    points = [(1, 1), (1, 0), (1, 0), (0, 0), (1, 0.5)] * 8
    fitted = fit_ratings(pairs(0, 1, points), 2)

    mean = sum(map(sum, points)) / 80
    spread = sum((sum(both) / 2 - mean) ** 2 for both in points) / 39
    error = math.sqrt(spread / 40) / (mean * (1 - mean)) * ELO
    rating = fitted.ratings[0]
    assert rating.elo is not None
    assert rating.low is not None
    assert rating.elo - rating.low == pytest.approx(student_quantile(39) * error / 2, rel=0.02)


def test_games_that_repeat_a_deal_say_nothing_new() -> None:
    once = coin_flips()
    thrice = [game for game in once for _ in range(3)]

    assert widths(fit_ratings(thrice, 4)) == pytest.approx(widths(fit_ratings(once, 4)), rel=0.02)
    assert fit_ratings(thrice, 4).variance_ratio == pytest.approx(3, rel=0.2)


def test_mirrored_deals_narrow_the_interval() -> None:
    once = coin_flips()
    # In two deals of three the holder of the cards wins, in the third the same player wins twice.
    mirrored = once + [RatedGame(game.teams, game.places[:: -1 if game.group % 3 else 1], game.group) for game in once]
    apart = [RatedGame(game.teams, game.places, number) for number, game in enumerate(mirrored)]

    ratio = fit_ratings(mirrored, 4).variance_ratio
    assert ratio is not None
    assert ratio < 0.8
    assert max(widths(fit_ratings(mirrored, 4))) < min(widths(fit_ratings(apart, 4)))


def coin_flips() -> list[RatedGame]:
    """One game a deal."""
    random_ = random.Random(5)
    tables = [table for table in combinations(range(4), 2) for _ in range(40)]
    return [duel(*table, random_.choice((0.0, 1.0)), group) for group, table in enumerate(tables)]


@pytest.mark.slow
def test_intervals_of_few_deals_hold_the_true_rating_19_times_in_20() -> None:
    deals = 4
    true = [120.0, 30.0, -40.0, -110.0]
    random_ = random.Random(deals)
    held = 0
    for _ in range(150):
        games = []
        for table, (one, other) in enumerate(combinations(range(4), 2)):
            chance = expected(true[one] - true[other])
            for deal in range(deals):
                cards = random_.random()
                for turned in (cards, 1 - cards if random_.random() < 0.6 else random_.random()):
                    games.append(duel(one, other, float(turned < chance), table * deals + deal))
        for rating, truth in zip(fit_ratings(games, 4).ratings, true, strict=True):
            held += (rating.low is None or rating.low <= truth) and (rating.high is None or truth <= rating.high)

    assert 0.93 <= held / 600 <= 0.99  # few uneven deals take the variance of independent games


def test_few_deals_give_no_narrower_interval_than_independent_games() -> None:
    fitted = fit_ratings(pairs(0, 1, [(1, 0.5), (0.5, 1), (1, 0.5), (0.5, 1)]), 2)

    independent = student_quantile(3) / math.sqrt(8 * 0.75 * 0.25) * ELO
    assert widths(fitted) == pytest.approx([independent, independent], rel=0.05)


def test_an_anchor_of_few_deals_gives_no_narrower_interval_than_independent_games() -> None:
    games = pairs(0, 1, [(1, 0.5), (0.5, 1), (1, 0.5), (0.5, 1)]) + round_robin((1, 2), 30, first_group=100)

    other = fit_ratings(games, 3, anchor=0).ratings[1]

    assert other.elo is not None
    assert other.high is not None
    assert other.high - other.elo > student_quantile(33) / math.sqrt(8 * 0.75 * 0.25) * ELO * 0.9


def test_a_single_lost_deal_gives_no_narrower_interval_than_independent_games() -> None:
    fitted = fit_ratings(pairs(0, 1, [(1, 1)] * 59 + [(0.5, 0.5)]), 2)

    chance = 119 / 120
    independent = student_quantile(59) / math.sqrt(120 * chance * (1 - chance)) * ELO
    assert min(widths(fitted)) > 0.9 * independent


def test_one_deal_gives_no_interval() -> None:
    fitted = fit_ratings(pairs(0, 1, [(1, 0.5)]), 2)

    assert fitted.ratings[0].elo is not None
    assert (fitted.ratings[0].low, fitted.ratings[0].high) == (None, None)
    assert fitted.variance_ratio is None


@pytest.mark.parametrize("points", [(1, 0), (0.5, 0.5)])
def test_players_who_split_every_deal_share_their_ranks_and_have_no_variance_ratio(points: tuple[float, float]) -> None:
    fitted = fit_ratings(pairs(0, 1, [points] * 20), 2)

    assert elos(fitted) == [0, 0]
    assert fitted.variance_ratio is None
    assert ranks(fitted) == [(1, 2), (1, 2)]
    assert widths(fitted) == pytest.approx([student_quantile(19) / math.sqrt(10) * ELO] * 2, rel=0.01)


def test_ranks_tell_only_what_is_significant() -> None:
    close = round_robin((1, 2, 3), 30)
    above = [game for loser in (1, 2, 3) for game in pairs(0, loser, [(1, 1), (1, 0)] * 15, 1000 * loser)]

    fitted = fit_ratings(close + above, 4)

    assert ranks(fitted) == [(1, 1), (2, 4), (2, 4), (2, 4)]


def test_a_bot_that_split_nearly_every_deal_has_the_elo_interval_of_its_score() -> None:
    rating = fit_ratings(pairs(0, 1, [(1, 0)] * 29 + [(1, 1)] + [(0, 0)] + [(1, 0)] * 29), 2).ratings[0]

    assert rating.score_low is not None
    assert rating.low is not None
    assert rating.score_low < 0.42
    assert 2 * rating.low == pytest.approx(-400 * math.log10(1 / rating.score_low - 1), rel=0.05)


def test_few_common_deals_of_many_bots_have_intervals_of_a_size_that_tells_something() -> None:
    random_ = random.Random(2)
    games = [
        duel(one, other, random_.choice((0.0, 1.0)), deal)
        for one, other in combinations(range(10), 2)
        for deal in (0, 1)
        for _ in range(2)
    ]

    assert max(widths(fit_ratings(games, 10))) < 400


def test_a_single_deal_leaves_both_intervals_open() -> None:
    rating = fit_ratings(pairs(0, 1, [(1, 1)]), 2).ratings[0]

    assert (rating.low, rating.high, rating.score_low, rating.score_high) == (None,) * 4


def test_a_newcomer_is_judged_by_its_own_few_deals() -> None:
    games = round_robin(range(4), 40) + [duel(4, player, 1.0, 9000 + player // 2) for player in range(4)]

    los = fit_ratings(games, 5).los

    assert math.isnan(los[4, 0])
    assert 0 < los[1, 0] < 1


@pytest.mark.parametrize("players", [5, 10])
def test_equal_bots_are_seldom_called_better(players: int) -> None:
    seen = [{*ranks(fit_ratings(round_robin(range(players), 8, seed), players))} for seed in range(100)]

    assert sum(each != {(1, players)} for each in seen) <= 5 + 3 * math.sqrt(0.05 * 0.95 * 100)


# One-sided records


def test_twenty_wins_bound_the_rating_from_below() -> None:
    bound = -400 * math.log10(0.025 ** (-1 / 20) - 1)

    fitted = fit_ratings(pairs(0, 1, [(1, 1)] * 10), 2, anchor=1)

    assert fitted.ratings[0].low == pytest.approx(bound)
    assert fitted.ratings[0].high is None
    assert ranks(fitted) == [(1, 1), (2, 2)]


def test_without_an_anchor_winner_and_loser_are_bounded_alike() -> None:
    bound = -400 * math.log10(0.025 ** (-1 / 20) - 1)

    winner, loser = fit_ratings(pairs(0, 1, [(1, 1)] * 10), 2).ratings

    assert (winner.high, loser.low) == (None, None)
    assert (winner.low, loser.high) == pytest.approx((bound / 2, -bound / 2))


def test_two_wins_prove_nothing() -> None:
    fitted = fit_ratings(pairs(0, 1, [(1, 1)]), 2)

    assert ranks(fitted) == [(1, 2), (1, 2)]


def test_half_of_a_team_is_bounded_by_what_it_adds() -> None:
    teams = [((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))]

    best = fit_ratings([RatedGame(teams[group % 3], (1, 2), group) for group in range(30)], 4).ratings[0]

    assert best.low == pytest.approx(-2 * 400 * math.log10(0.025 ** (-1 / 30) - 1))


def test_first_of_four_equals_counts_as_one_event_of_chance_a_quarter() -> None:
    rotations = [(1, 2, 3, 4), (1, 3, 4, 2), (1, 4, 2, 3)]
    games = [RatedGame(((0,), (1,), (2,), (3,)), places, group) for group in range(4) for places in rotations]

    fitted = fit_ratings(games, 4)

    chance = 0.025 ** (1 / 12)
    assert fitted.ratings[0].low == pytest.approx(400 * math.log10(3 * chance / (1 - chance)))


def test_bots_that_win_or_lose_all_leave_the_intervals_of_the_others_alone() -> None:
    games = round_robin(range(1, 5), 10)

    without = fit_ratings(games, 6).ratings[1:5]
    best, *others, worst = fit_ratings(games + sweep(0, range(1, 5), 10) + rout(5, range(1, 5), 10), 6).ratings

    assert (best.high, worst.low) == (None, None)
    assert (best.low or 0) > 400
    assert (worst.high or 0) < -400
    for before, after in zip(without, others, strict=True):
        assert (after.elo, after.low, after.high) == pytest.approx((before.elo, before.low, before.high), abs=3)


def test_two_bots_that_only_beat_each_other_are_bounded_together() -> None:
    games = round_robin(range(3), 10) + rout(3, range(3), 5, 1000) + rout(4, range(3), 5, 2000)

    fitted = fit_ratings(games + pairs(3, 4, [(1, 0)] * 60, 3000), 5)

    assert [one.low is None for one in fitted.ratings] == [False, False, False, True, True]
    assert [one.high is None for one in fitted.ratings] == [False] * 5
    assert ranks(fitted)[3:] == [(4, 5), (4, 5)]
    assert sum(elos(fitted)[:3]) == pytest.approx(0)


def test_who_beats_the_best_is_bounded_above_the_bound_of_the_best() -> None:
    games = round_robin(range(3), 10) + sweep(3, range(3), 5, 1000)

    fitted = fit_ratings(games + sweep(4, range(4), 5, 2000), 5)

    second, best = fitted.ratings[3:]
    assert (second.high, best.high) == (None, None)
    assert 0 < (second.low or 0) < (best.low or 0) < (second.elo or 0)
    assert ranks(fitted)[3:] == [(2, 2), (1, 1)]
