"""What families tell programs that learn: every action is a choice that leads back to it, every view a vector."""

from __future__ import annotations

from random import Random

import pytest

from malice import Game
from malice.referee.families import load_family
from malice.referee.rulesets import list_rulesets, load_ruleset

MOST_ACTIONS = 300


def _list_tables() -> list[tuple[str, int]]:
    """Every ruleset that ships, with the fewest and the most seats that play it."""
    rulesets = [load_ruleset(name) for name in list_rulesets()]
    return sorted({(each.name, seats) for each in rulesets for seats in each.match.players})


@pytest.mark.parametrize(("name", "seats"), _list_tables())
def test_every_action_is_a_choice_and_every_view_a_vector(name: str, seats: int) -> None:
    game, rng = Game(name, seats, seed=5), Random(name)
    family = load_family(game.ruleset.family)
    assert family.learner
    learner = family.learner(game.ruleset.rules, seats)
    choices = set(learner.choices)
    assert len(choices) == len(learner.choices)
    assert len(set(learner.features)) == len(learner.features)
    while not game.over and game.actions < MOST_ACTIONS:
        for seat in game.to_act:
            vector = learner.encode(game.view(seat))
            assert len(vector) == len(learner.features)
            assert min(vector) >= 0
            assert max(vector) <= 1
            assert choices.issuperset(map(learner.choice, game.legal(seat)))
        game.play({seat: rng.choice(game.legal(seat)) for seat in game.to_act})


def test_the_standard_game_of_two_has_106_choices() -> None:
    learner = load_family("spite").learner
    assert learner
    assert len(learner(load_ruleset("standard").rules, 2).choices) == 106
