"""The ranking: ratings, intervals, bounds for one-sided records, and figures that games do not give."""

import math
import random
from collections.abc import Iterable, Sequence
from itertools import combinations

import pytest

from tournaments.ratings import Fit, RatedGame, fit_ratings
from tournaments.ratings.covariance import student_quantile
from tournaments.ratings.fit import ELO


def duel(one: int, other: int, points: float, group: int) -> RatedGame:
    return RatedGame(((one,), (other,)), {1.0: (1, 2), 0.5: (1, 1), 0.0: (2, 1)}[points], group)


def pairs(one: int, other: int, points: Iterable[tuple[float, float]], first_group: int = 0) -> list[RatedGame]:
    """Deals played twice, by the points of the first player."""
    games = []
    for group, both in enumerate(points, start=first_group):
        games += [duel(one, other, game, group) for game in both]
    return games


def round_robin(players: Sequence[int], deals: int, seed: int = 1, first_group: int = 0) -> list[RatedGame]:
    """Coin flips."""
    random_ = random.Random(seed)
    games: list[RatedGame] = []
    for one, other in combinations(players, 2):
        points = [(random_.choice((0, 1)), random_.choice((0, 1))) for _ in range(deals)]
        games += pairs(one, other, points, first_group + len(games))
    return games


def sweep(winner: int, losers: Iterable[int], deals: int, first_group: int = 10_000) -> list[RatedGame]:
    games: list[RatedGame] = []
    for loser in losers:
        games += pairs(winner, loser, [(1, 1)] * deals, first_group + len(games))
    return games


def rout(loser: int, winners: Iterable[int], deals: int, first_group: int = 20_000) -> list[RatedGame]:
    return [RatedGame(game.teams, (2, 1), game.group) for game in sweep(loser, winners, deals, first_group)]


def elos(fitted: Fit) -> list[float]:
    known = [rating.elo for rating in fitted.ratings if rating.elo is not None]
    assert len(known) == len(fitted.ratings)
    return known


def expected(difference: float) -> float:
    return 1 / (1 + 10 ** (-difference / 400))


def widths(fitted: Fit) -> list[float]:
    return [one.high - one.low for one in fitted.ratings if one.low is not None and one.high is not None]


def ranks(fitted: Fit) -> list[tuple[int | None, int | None]]:
    return [(one.rank_low, one.rank_high) for one in fitted.ratings]


# Ratings


def test_a_score_gives_the_elo_difference_that_expects_it() -> None:
    fitted = fit_ratings(pairs(0, 1, [(1, 1), (1, 0), (0.5, 1), (0.5, 0.5)] * 50), 2)

    one, other = elos(fitted)
    assert fitted.ratings[0].score == 5.5 / 8
    assert expected(one - other) == pytest.approx(5.5 / 8, abs=0.0001)
    assert one + other == pytest.approx(0)


def test_the_prior_is_a_tenth_of_a_draw_per_player_whatever_the_number_of_opponents() -> None:
    games = round_robin(range(12), 1)
    fitted = fit_ratings(games, 12)

    ratings = elos(fitted)
    pulls = [0.1 * (expected(rating) - 0.5) for rating in ratings]
    for player, rating in enumerate(fitted.ratings):
        chances = [expected(ratings[player] - ratings[other]) for other in range(12) if other != player]
        pull = pulls[player] - sum(pulls) / 12
        assert rating.wins + rating.draws / 2 == pytest.approx(2 * sum(chances) + pull)


def test_a_draw_is_half_a_win_for_each() -> None:
    drawn = pairs(0, 1, [(0.5, 0.5), (1, 1), (0, 1)]) + pairs(1, 2, [(0.5, 0.5)] * 3, 10)
    decided = pairs(0, 1, [(1, 0), (1, 1), (0, 1)]) + pairs(1, 2, [(0, 1)] * 3, 10)

    assert elos(fit_ratings(drawn, 3)) == pytest.approx(elos(fit_ratings(decided, 3)))


def test_the_order_of_the_games_makes_no_difference() -> None:
    games = round_robin(range(5), 6)
    shuffled = random.Random(3).sample(games, len(games))

    one, other = fit_ratings(games, 5), fit_ratings(shuffled, 5)

    assert elos(one) == pytest.approx(elos(other))
    assert widths(one) == pytest.approx(widths(other))


def test_ratings_are_relative_to_the_mean_or_to_the_anchor() -> None:
    games = round_robin(range(5), 6)
    free, anchored = fit_ratings(games, 5), fit_ratings(games, 5, anchor=3)

    assert sum(elos(free)) == pytest.approx(0)
    assert elos(anchored) == pytest.approx([elo - elos(free)[3] for elo in elos(free)])
    assert (anchored.ratings[3].elo, anchored.ratings[3].low, anchored.ratings[3].high) == (0, 0, 0)
    assert (free.anchor, anchored.anchor) == (None, 3)


def test_places_of_four_seats_are_six_pairings() -> None:
    games = [RatedGame(((0,), (1,), (2,), (3,)), (2, 1, 3, 3), group) for group in (0, 0, 1, 1)]

    fitted = fit_ratings(games, 4)

    assert [(one.games, one.wins, one.draws, one.losses) for one in fitted.ratings] == [
        (4, 8, 0, 4),
        (4, 12, 0, 0),
        (4, 0, 4, 8),
        (4, 0, 4, 8),
    ]
    assert [one.score for one in fitted.ratings] == pytest.approx([2 / 3, 1, 1 / 6, 1 / 6])
    assert (fitted.games, fitted.groups) == (4, 2)


def test_the_average_opponent_is_weighted_by_games() -> None:
    fitted = fit_ratings(round_robin(range(3), 4) + pairs(0, 1, [(1, 0)] * 4, 900), 3)

    _, one, other = elos(fitted)
    assert fitted.ratings[0].average_opponent == pytest.approx((2 * one + other) / 3)


def test_a_side_of_partners_is_as_strong_as_the_mean_of_its_members() -> None:
    teams = [((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))]
    random_ = random.Random(1)
    games = [RatedGame(teams[n % 3], random_.choice(((1, 2), (2, 1))), n // 6) for n in range(120)]

    fitted = fit_ratings(games, 4)

    elo = elos(fitted)
    for team in teams:
        won = sum(game.places[0] == 1 for game in games if game.teams == team)
        ahead = (elo[team[0][0]] + elo[team[0][1]] - elo[team[1][0]] - elo[team[1][1]]) / 2
        assert 40 * expected(ahead) == pytest.approx(won, abs=0.1)
    assert len(widths(fitted)) == 4


def test_two_copies_of_a_player_are_as_strong_as_the_player() -> None:
    alone = pairs(0, 1, [(1, 1), (1, 0), (0, 1)] * 4)
    doubled = [RatedGame(((0, 0), (1, 1)), game.places, game.group) for game in alone]

    assert fit_ratings(doubled, 2).ratings == fit_ratings(alone, 2).ratings


def test_partners_who_never_part_have_no_interval_of_their_own() -> None:
    games = [RatedGame(((0, 1), (2, 3)), (1, 2) if n % 3 else (2, 1), n // 2) for n in range(60)]

    fitted = fit_ratings(games, 4)

    assert fitted.ratings[0].elo == pytest.approx(fitted.ratings[1].elo)
    assert widths(fitted) == []
    assert fitted.variance_ratio is None
    assert ranks(fitted) == [(1, 4)] * 4


def test_partners_who_never_part_may_owe_all_their_wins_to_one_of_them() -> None:
    fitted = fit_ratings([RatedGame(((0, 1), (2, 3)), (1, 2), group) for group in range(2000)], 4)

    assert {(one.low, one.high) for one in fitted.ratings} == {(None, None)}
    assert ranks(fitted) == [(1, 4)] * 4


def test_pools_that_never_met_are_rated_apart() -> None:
    games = round_robin((0, 2, 5), 6) + round_robin((1, 4), 6, first_group=500)

    fitted = fit_ratings(games, 6, anchor=5)

    assert [one.pool for one in fitted.ratings] == [0, 1, 0, 2, 1, 0]
    assert fitted.pools == 2
    assert fitted.ratings[5].elo == 0
    alone = fit_ratings([game for game in games if game.teams[0][0] in (1, 4)], 6)
    assert fitted.ratings[1].elo == alone.ratings[1].elo
    assert fitted.ratings[1].low == alone.ratings[1].low
    assert fitted.ratings[1].rank_high == 2


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
@pytest.mark.parametrize("deals", [4, 20])
def test_intervals_hold_the_true_rating_19_times_in_20(deals: int) -> None:
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

    assert 0.93 <= held / 600 <= 0.975


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


# What the games do not give


def test_without_games_nobody_is_rated() -> None:
    for players in (0, 1, 3):
        fitted = fit_ratings([], players)

        assert (fitted.games, fitted.groups, fitted.pools, fitted.variance_ratio) == (0, 0, 0, None)
        for number, rating in enumerate(fitted.ratings):
            assert (rating.elo, rating.low, rating.high, rating.rank_low, rating.rank_high) == (None,) * 5
            assert (rating.games, rating.score, rating.average_opponent, rating.pool) == (0, None, None, number)


def test_a_player_without_games_does_not_move_the_others() -> None:
    games = round_robin((0, 2), 8)

    fitted = fit_ratings(games, 3)

    assert fitted.ratings[1].elo is None
    assert [fitted.ratings[0].elo, fitted.ratings[2].elo] == elos(fit_ratings(round_robin((0, 1), 8), 2))


def test_a_player_against_itself_is_not_compared() -> None:
    rating = fit_ratings([duel(0, 0, 1, 0)], 1).ratings[0]

    assert (rating.elo, rating.games, rating.wins, rating.losses) == (None, 0, 0, 0)


ODD: dict[str, list[RatedGame]] = {
    "a game of one team": [RatedGame(((0,),), (1,), 0)],
    "one game": [duel(0, 1, 1, 0)],
    "one draw": [duel(0, 1, 0.5, 0)],
    "a long row of wins": sweep(0, [1], 5000),
    "a ladder": [duel(player, player + 1, 1, player * 9 + game) for player in range(4) for game in range(3)],
    "everybody beats all below": [duel(one, other, 1, one * 9 + other) for one, other in combinations(range(5), 2)],
    "a circle": [duel(player, (player + 1) % 5, 1, player) for player in range(5)],
    "two levels of two": round_robin((0, 1), 5) + round_robin((2, 3), 5, first_group=50) + sweep(0, (2, 3), 2),
    "one group": [duel(one, other, 1, 7) for one in range(5) for other in range(5) if one != other],
    "partners who always win": [RatedGame(((0, 1), (2, 3)), (1, 2), group) for group in range(9)],
    "three against one": [RatedGame(((0, 1, 2), (3,)), (1, 2) if n % 2 else (2, 1), n) for n in range(9)],
    "a player on both teams": [RatedGame(((0, 1), (0, 2)), (1 + n % 2, 2 - n % 2), n) for n in range(9)],
    "all tied": [RatedGame(((0,), (1,), (2,), (3,), (4,)), (1,) * 5, n) for n in range(9)],
}  # fmt: skip


@pytest.mark.parametrize("games", ODD.values(), ids=ODD)
@pytest.mark.parametrize("anchor", [None, 0, 3])
def test_no_figure_is_ever_nan_or_infinite(games: list[RatedGame], anchor: int | None) -> None:
    fitted = fit_ratings(games, 5, anchor=anchor)

    figures = [fitted.variance_ratio]
    for rating in fitted.ratings:
        figures += [rating.elo, rating.low, rating.high, rating.score, rating.average_opponent]
        figures += [rating.score_low, rating.score_high]
        assert (rating.score_low or 0) <= (rating.score or 0) <= (1 if rating.score_high is None else rating.score_high)
        assert rating.low is None or rating.elo is None or rating.low <= rating.elo
        assert rating.high is None or rating.elo is None or rating.elo <= rating.high
        assert (rating.rank_low or 1) <= (rating.rank_high or 1)
    assert all(figure is None or math.isfinite(figure) for figure in figures)
    assert {type(figure) for figure in figures} <= {float, type(None)}


def test_games_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="expected players from 0 to 1, got: 2"):
        fit_ratings([duel(0, 2, 1, 0)], 2)
    with pytest.raises(ValueError, match="expected players from 0 to 1, got: -1"):
        fit_ratings([duel(0, -1, 1, 0)], 2)
    with pytest.raises(ValueError, match=r"expected one place for each of 2 teams, got: \(1,\)"):
        fit_ratings([RatedGame(((0,), (1,)), (1,), 0)], 2)
    with pytest.raises(ValueError, match="expected at least one player in each team"):
        fit_ratings([RatedGame(((0,), ()), (1, 2), 0)], 2)
    with pytest.raises(ValueError, match="expected an anchor from 0 to 1, got: 2"):
        fit_ratings([], 2, anchor=2)
