"""What it costs to differ from a second opinion: what is told, what is not, and that nothing is weighed twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from malice.referee.errors import RulesetError
from malice.referee.records import Key, Record
from malice.referee.requests import ReplayedDecision, replay_decisions
from malice.referee.rulesets import load_ruleset
from malice.site_pages.opinions import format_cost
from malice.tournaments.errors import LeagueError
from malice.tournaments.ratings.bradley_terry import student_quantile
from malice.tournaments.running import costs
from malice.tournaments.running.costs import Disagreement, SureCost, Trial, Weigher, require_policy
from tests.simulated_costs import measure_cost_errors, weigh_choices
from tests.site_league import play

pytestmark = pytest.mark.core


@pytest.fixture
def record() -> Record:
    """A game for one pay-off card, which one of the two never plays if anything else can be done."""

    def choose(legal: tuple[str, ...], label: str, random: Random) -> str:
        lazy = [action for action in legal if not action.startswith("p-")]
        return random.choice(lazy or legal) if label == "sloth" else legal[0]

    standard = load_ruleset("standard")
    rules = replace(standard.rules, payoff_size=1)
    return replace(play(rules, ("sloth", "other"), Key(0, 0, 4, 0), choose=choose), ruleset="short")


def list_wins(record: Record, seat: int) -> Iterator[ReplayedDecision]:
    """Yield the moments in which a seat could win at once."""
    for each in replay_decisions(record):
        if each.seat == seat and any(action.startswith("p-") for action in each.legal) and len(each.legal) > 1:
            yield each


def test_a_win_that_was_missed_is_told_and_one_that_was_taken_is_not(
    record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(costs, "LOOK", Trial(2, 4))
    monkeypatch.setattr(costs, "PROOF", Trial(20, 8))
    missed = next(each for each in list_wins(record, 0) if not each.played.startswith("p-"))
    instead = next(action for action in missed.legal if action.startswith("p-"))
    taken = next(each for each in list_wins(record, 1) if each.played.startswith("p-"))
    choices = [
        Disagreement(0, missed.index, missed.played, instead),
        Disagreement(1, taken.index, taken.played, taken.legal[-1]),
    ]

    weigher = Weigher(tmp_path / "t.db")
    told = weigher.weigh(record, choices, games=1)

    assert [(cost.seat, cost.action) for cost in told] == [(0, missed.index)]
    assert 0 < told[0].margin < told[0].cost <= 1
    assert weigher.told == [("0.0.4.0", told[0])]
    monkeypatch.setattr(costs, "_weigh_game", None)  # what is kept is not weighed again
    (more,) = Weigher(tmp_path / "t.db").weigh(record, choices, games=3)
    assert (more.cost, more.margin > told[0].margin) == (told[0].cost, True), "more is tried, so bounds are wider"
    (kept,) = (tmp_path / "t.opinions/costs").iterdir()
    kept.write_text("{")
    with pytest.raises(LeagueError, match="delete it, and the game is weighed again"):
        Weigher(tmp_path / "t.db").weigh(record, choices, games=1)


def test_bounds_hold_for_all_that_is_tried() -> None:
    # With 3 degrees of freedom 99.5 % lie below 5.8409; Bonferroni for five trials of 5 % on two sides.
    assert student_quantile(3, 0.005) == pytest.approx(5.8409, abs=1e-4)
    bounded = costs.bound(costs.Weighed(0, 7, 0.2, 0.01, 4), 5)

    assert bounded.cost == 0.2
    assert bounded.margin == pytest.approx(0.058409, abs=1e-6)
    told = [format_cost(SureCost(0, 7, cost, margin)) for cost, margin in ((0.093, 0.041), (0.126, 0.125))]
    assert told == ["9 ± 4 %", "12.6 ± 12.5 %"]


def test_intervals_that_are_told_hold_together() -> None:
    found = measure_cost_errors(weigh_choices(3, Trial(worlds=60, tries=8)), runs=2000, trials=90)

    assert found.nothing <= found.together <= 0.05


def test_a_game_that_nobody_can_play_on_is_refused() -> None:
    require_policy(load_ruleset("standard"))
    with pytest.raises(RulesetError, match="klondike-1: what choices cost cannot be said"):
        require_policy(load_ruleset("klondike-1"))
