"""What families tell programs that learn: every action is a choice that leads back to it, every view a vector."""

from __future__ import annotations

import pytest

from malice.referee.families import load_family
from malice.referee.rulesets import list_rulesets, load_ruleset
from malice.testing import CLAIMS, Subject


def _list_tables() -> list[tuple[str, int]]:
    """Every ruleset that ships, with the fewest and the most seats that play it."""
    rulesets = [load_ruleset(name) for name in list_rulesets()]
    return sorted({(each.name, seats) for each in rulesets for seats in each.match.players})


@pytest.mark.parametrize(("name", "seats"), _list_tables())
def test_every_action_is_a_choice_and_every_view_a_vector(name: str, seats: int) -> None:
    ruleset = load_ruleset(name)
    family = load_family(ruleset.family)

    assert family.learner
    CLAIMS["learner"](Subject(family, ruleset.rules, seats, name), 5)


def test_the_standard_game_of_two_has_106_choices() -> None:
    learner = load_family("spite").learner
    assert learner
    assert len(learner(load_ruleset("standard").rules, 2).choices) == 106


def test_centre_stacks_that_give_up_their_first_card_leave_room_for_more() -> None:
    learner = load_family("spite").learner
    assert learner
    assert "p-c8" in learner(load_ruleset("cats-unlimited").rules, 2).choices, "eight aces begin eight stacks"
