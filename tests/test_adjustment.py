"""Scores without luck: never shown unless sharper, the same on average, and intervals that hold."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from malice.tournaments.league import comparison, replays
from malice.tournaments.league.comparison import Compared, adjust_deals, compare_entries, compare_without_luck
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.store import Store
from malice.tournaments.ratings.comparison import FEWEST, Adjustment, adjust_scores, fit_luck
from tests.command_line import malice
from tests.leagues import play_small_league

DEALS = 150


def draw_deals(chance: np.random.Generator, deals: int = DEALS) -> tuple[list[float], list[float]]:
    """Return scores of deals whose luck explains half of their variance; the mean score is 0.6."""
    luck = chance.normal(0, 0.2, deals)
    return (0.6 + luck + chance.normal(0, 0.2, deals)).tolist(), luck.tolist()


def test_intervals_hold_and_the_mean_stays() -> None:
    chance = np.random.default_rng(1)
    found = [adjust_scores(*draw_deals(chance)) for _ in range(600)]
    shown = [each for each in found if each]

    assert len(shown) == len(found)
    assert np.mean([each.score for each in shown]) == pytest.approx(0.6, abs=0.003)
    assert 0.935 < np.mean([each.score_low < 0.6 < each.score_high for each in shown]) < 0.965
    assert np.mean([each.factor_low < 2 < each.factor_high for each in shown]) == pytest.approx(0.95, abs=0.02)


def test_what_does_not_help_is_not_shown() -> None:
    chance = np.random.default_rng(2)
    scores, lucks = draw_deals(chance)
    noise = chance.normal(0, 0.2, DEALS).tolist()

    assert adjust_scores(scores, lucks)
    assert adjust_scores(scores, noise) is None, "it has nothing to do with the results"
    assert adjust_scores(scores, [0.0] * DEALS) is None
    assert adjust_scores([0.5] * DEALS, lucks) is None, "twins"
    assert adjust_scores(lucks, lucks) is None, "nothing is left to estimate"
    assert adjust_scores(scores[: FEWEST - 1], lucks[: FEWEST - 1]) is None


def test_luck_that_is_measured_on_another_scale_is_taken_off_to_its_share() -> None:
    scores, lucks = draw_deals(np.random.default_rng(4))

    plain = adjust_scores(scores, lucks)
    scaled = adjust_scores(scores, [-5 * luck for luck in lucks])

    assert plain
    assert scaled
    assert scaled.factor == pytest.approx(plain.factor)
    assert scaled.score == pytest.approx(plain.score)


def test_the_share_of_a_deal_is_fitted_to_others_so_noise_gains_nothing() -> None:
    chance = np.random.default_rng(5)
    gains = []
    for _ in range(200):
        scores = chance.normal(0.5, 0.2, 30)
        taken = scores - fit_luck(scores, chance.normal(0, 1, 30))
        gains.append(scores.var() / taken.var())

    assert np.mean(gains) < 1


def test_a_score_beyond_the_possible_has_no_elo() -> None:
    scores, lucks = draw_deals(np.random.default_rng(3))
    found = adjust_scores([score + 0.4 for score in scores], lucks)

    assert found
    assert found.score_high > 1
    assert found.elo_high is None
    assert found.elo_low is not None


@pytest.mark.usefixtures("measured")
def test_what_one_had_of_luck_the_other_lacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[list[float], list[float]]] = []
    monkeypatch.setattr(comparison, "adjust_scores", lambda *each: told.append(each[:2]))
    monkeypatch.setattr(comparison, "FEWEST", 3)
    with Store(play_small_league(tmp_path, deals=3)) as store:
        by_deal: dict[tuple[int, int], list[GameSummary]] = {}
        for game in store.games():
            by_deal.setdefault((game.key.table, game.key.deal), []).append(game)
        one, other = next(iter(by_deal.values()))[0].labels
        deals = [games for games in by_deal.values() if {one, other} == set(games[0].labels)]
        adjust_deals(store, [Compared(deals, (one, other)), Compared(deals, (other, one))])
        compare_entries(store, one, other, adjusted=True)
        monkeypatch.setattr(comparison, "MOST_GAMES", 2)
        assert adjust_deals(store, [Compared(deals, (one, other))]) == [None]

    (scores, lucks), (their_scores, their_lucks), (again, _) = told
    assert len(scores) == 3
    assert again == scores
    assert scores == pytest.approx([1 - score for score in their_scores])
    assert lucks == pytest.approx([-luck for luck in their_lucks])
    assert any(lucks)


def test_a_ruleset_for_which_nothing_was_fitted_is_not_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "FEWEST", 1)
    monkeypatch.setattr(replays, "measure_luck", lambda luck, record: pytest.fail(str(record.key)))
    with Store(play_small_league(tmp_path)) as store:
        assert list(compare_without_luck(store)) == []


@pytest.mark.usefixtures("measured")
def test_every_two_entries_stand_side_by_side_with_luck_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "FEWEST", 1)
    path = play_small_league(tmp_path, deals=2)

    assert malice("standings", path, "--luck").stdout == "no two entries have a score that is sharper without luck\n"
    sharper = Adjustment(0.75, 0.6, 0.9, 191.0, 70.0, 382.0, 1.3, 1.2, 1.4)
    monkeypatch.setattr(comparison, "adjust_scores", lambda *_: sharper)
    _, row = malice("standings", path, "--luck").stdout.splitlines()
    assert row.split()[:4] == ["short", "greedy", "uniform", "2"]
    assert row.endswith("+191  70 .. 382             1.30  1.20 .. 1.40")
    (found,) = json.loads(malice("standings", path, "--luck", "--json").stdout)
    assert found["adjusted"]["elo"] == 191
    assert [len(function) for function in found["adjusted"]["functions"]] == [64]
    head, cells = csv.reader(malice("standings", path, "--luck", "--csv").stdout.splitlines())
    in_csv = dict(zip(head, cells, strict=True))
    assert [in_csv[name] for name in ("ruleset", "bot", "against", "deals")] == row.split()[:4]
    assert float(in_csv["score"]) == found["advantage"]["score"]
    assert [float(in_csv[name]) for name in ("adjusted_elo", "factor_high")] == [191, 1.4]
    assert in_csv["functions"] == found["adjusted"]["functions"][0]
    assert malice("standings", path, "--luck", "--since", "today").exit_code == 2


class Waiting:
    def __init__(self) -> None:
        self.expected = self.counted = 0

    def expect(self, games: int) -> None:
        assert not self.counted, "it is told how many there are of all pairs before the first"
        self.expected += games

    def count_game(self) -> None:
        self.counted += 1


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize(("most", "games"), [(4, 4), (3, 0)])
def test_who_waits_hears_how_many_games_are_played_again_and_of_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, games: int
) -> None:
    monkeypatch.setattr(comparison, "FEWEST", 1)
    monkeypatch.setattr(comparison, "MOST_GAMES", most)
    with Store(play_small_league(tmp_path, deals=2)) as store:
        for compare in (
            lambda watcher: list(compare_without_luck(store, watcher)),
            lambda watcher: compare_entries(store, "greedy", "uniform", adjusted=True, watcher=watcher),
        ):
            watcher = Waiting()
            compare(watcher)
            assert (watcher.expected, watcher.counted) == (games, games)
