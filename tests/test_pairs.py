"""Head-to-head statistics; golden figures come from the test suites of fastchess and OpenBench."""

import math
import random

import pytest

from malice.tournaments.ratings.comparison import compare_head_to_head
from malice.tournaments.ratings.pairs import convert_to_elo, estimate_multinomial, estimate_pentanomial


def test_single_games_give_the_golden_figures() -> None:
    estimate = estimate_multinomial((96, 111, 136), games=1)

    assert estimate.count == 343
    assert estimate.elo == pytest.approx(40.70, abs=0.005)
    assert estimate.error == pytest.approx(30.43, abs=0.005)
    assert estimate.nelo == pytest.approx(49.77, abs=0.005)
    assert estimate.los == pytest.approx(0.9960, abs=0.00005)


def test_pairs_give_the_golden_figures() -> None:
    estimate = estimate_pentanomial((34, 54, 31 + 32, 64, 75))

    assert estimate.count == 290
    assert estimate.elo == pytest.approx(55.58, abs=0.005)
    assert estimate.error == pytest.approx(27.65, abs=0.005)
    assert estimate.nelo == pytest.approx(57.94, abs=0.005)


def test_pairs_are_counted_by_their_sums() -> None:
    cells = {(0, 0): 34, (0.5, 0): 54, (1, 0): 31, (0.5, 0.5): 32, (1, 0.5): 64, (1, 1): 75}
    pairs = [cell for cell, count in cells.items() for _ in range(count)]

    both = compare_head_to_head(pairs)

    assert both.pair_counts == (34, 54, 63, 64, 75)
    assert both.pairs == estimate_pentanomial((34, 54, 63, 64, 75))


def test_the_better_player_of_a_pair_does_not_depend_on_the_viewpoint() -> None:
    ours, theirs = estimate_pentanomial((1, 2, 3, 4, 5)), estimate_pentanomial((5, 4, 3, 2, 1))

    assert ours.elo == pytest.approx(-theirs.elo)  # type: ignore[operator]
    assert ours.error == pytest.approx(theirs.error)
    assert ours.los == pytest.approx(1 - theirs.los)  # type: ignore[operator]


def test_deals_decided_by_the_cards_are_all_luck() -> None:
    both = compare_head_to_head([(1, 0), (0, 1)] * 10)

    assert both.luck == pytest.approx(1)
    assert (both.luck_low, both.luck_high) == (None, None)
    assert (both.pairs.elo, both.pairs.error, both.pairs.nelo, both.pairs.los) == (0, None, None, None)


def test_a_seat_that_always_wins_counts_as_luck() -> None:
    assert compare_head_to_head([(1, 0)] * 10).luck == pytest.approx(1)


def test_equal_bots_without_luck_split_half_their_pairs_and_show_no_luck() -> None:
    both = compare_head_to_head([(1, 0), (0, 1), (1, 1), (0, 0)] * 25)

    assert both.luck == pytest.approx(0)
    assert both.luck_low is not None
    assert both.luck_high is not None
    assert both.luck_low == pytest.approx(-both.luck_high)
    assert both.luck_high == pytest.approx(1.96 / math.sqrt(100), rel=0.05)


def test_the_interval_of_luck_holds_the_true_share_19_times_in_20() -> None:
    random_ = random.Random(4)
    held = 0
    for _ in range(200):
        pairs = []
        for _ in range(60):
            first = random_.random() < 0.5
            second = not first if random_.random() < 0.4 else random_.random() < 0.5
            pairs.append((float(first), float(second)))
        both = compare_head_to_head(pairs)
        assert both.luck_low is not None
        assert both.luck_high is not None
        held += both.luck_low <= 0.4 <= both.luck_high

    assert 0.92 <= held / 200 <= 0.98


@pytest.mark.parametrize(
    ("counts", "elo"), [((0, 0, 0, 0, 5550), None), ((7, 0, 0, 0, 0), None), ((0, 0, 3, 0, 0), 0.0)]
)
def test_pairs_that_are_all_alike_have_no_error_and_no_likelihood(counts: tuple[int, ...], elo: float | None) -> None:
    estimate = estimate_pentanomial(counts)

    assert estimate.elo == elo
    assert (estimate.error, estimate.nelo, estimate.los) == (None, None, None)


def test_an_interval_that_reaches_a_score_of_one_has_no_error() -> None:
    estimate = estimate_multinomial((1, 0, 9), games=1)

    assert estimate.elo == pytest.approx(381.7, abs=0.05)
    assert estimate.error is None


def test_without_games_nothing_is_known() -> None:
    both = compare_head_to_head([])

    assert both.pairs.count == 0
    assert {both.pairs.score, both.pairs.elo, both.pairs.los, both.luck, both.luck_low} == {None}


def test_a_score_that_no_game_can_have_is_refused() -> None:
    with pytest.raises(ValueError, match=r"expected two scores of 0, 0\.5 or 1, got: \(1, 2\)"):
        compare_head_to_head([(1, 2)])
    with pytest.raises(ValueError, match="expected 5 counts of pairs"):
        estimate_pentanomial((1, 2, 3))


def test_elo_of_a_certain_score_is_unknown() -> None:
    assert convert_to_elo(0.75) == pytest.approx(190.8485)
    assert convert_to_elo(0) is None
    assert convert_to_elo(1) is None
