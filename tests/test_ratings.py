"""The ranking: ratings of players, partners and pools, and figures that games do not give."""

import math
import random
from itertools import combinations

import pytest

from malice.tournaments.ratings.fit import fit_beginnings, fit_ratings
from malice.tournaments.ratings.rated_games import RatedGame
from tests.rated_games import duel, elos, expected, pairs, ranks, round_robin, sweep, widths

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


def test_games_are_counted_alike_in_blocks_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    games = round_robin(range(4), 3) + [RatedGame(((0, 1), (2, 3)), (1, 2), group) for group in range(900, 905)]
    whole = [rating.games for rating in fit_ratings(games, 4).ratings]

    monkeypatch.setattr("malice.tournaments.ratings.pairings.BLOCK", 28)

    assert [rating.games for rating in fit_ratings(games, 4).ratings] == whole == [23] * 4


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


def test_fits_of_the_first_games_are_those_of_these_games_alone() -> None:
    games = round_robin(range(4), 3) + sweep(4, range(3), 2)
    games += [RatedGame(((0, 5), (1, 6)), (1, 2), 30_000 + deal // 2) for deal in range(6)]
    lengths = [0, 1, 7, len(games) - 6, len(games) - 3, len(games)]

    for length, fitted in zip(lengths, fit_beginnings(games, 7, lengths), strict=True):
        alone = fit_ratings(games[:length], 7)
        assert fitted.games == length
        assert (fitted.groups, fitted.pools) == (alone.groups, alone.pools)
        assert [each.rank_low for each in fitted.ratings] == [each.rank_low for each in alone.ratings]
        for one, other in zip(fitted.ratings, alone.ratings, strict=True):
            figures = [(each.elo, each.low, each.high, each.score_low, each.average_opponent) for each in (one, other)]
            assert figures[0] == pytest.approx(figures[1], abs=1e-6)
