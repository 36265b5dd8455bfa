"""Games in rows and rollouts are the games that Python would play."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import malice.rl
from malice import Game
from malice.referee.errors import DataError, RulesetError
from malice.referee.rollouts import Policy
from malice.referee.rulesets import list_rulesets
from malice.rl.opponents import make_opponent
from malice.rl.table import Table

from .engines import playing

ROW = 3
"""Games in a row."""
STEPS = 60
SEATS = {"multi": 5, "multi-three-stacks": 3, "skipbo-20": 5, "three-deck": 2}
"""For some rulesets more seats than they need."""


class Follower:
    """Plays after a row what Python plays, game by game."""

    def __init__(self, ruleset: str, env: Any, opponent: str | None = None) -> None:
        self.env, self.tables = env, [Table(ruleset, env.returns.shape[1]) for _ in range(env.num_envs)]
        self.opponent = make_opponent(opponent, self.tables[0].ruleset) if opponent else None
        for number in range(env.num_envs):
            self.deal(number)

    def deal(self, number: int) -> None:
        self.tables[number].deal(int(self.env.seeds[number]))
        self.play_on(number, int(self.env.seats[number]))

    def play_on(self, number: int, learner: int) -> None:
        """Let the opponent play until the learner is asked."""
        game = self.tables[number].game
        while self.opponent and not game.over and game.to_act != (learner,):
            (seat,) = game.to_act
            game.play(self.opponent.choose(game, seat))

    def compare(self) -> None:
        for number, table in enumerate(self.tables):
            (seat,) = table.game.to_act
            assert seat == self.env.seats[number]
            assert np.array_equal(table.observe(seat), self.env.observations[number])
            assert np.array_equal(table.make_mask([*table.list_options(seat)]), self.env.masks[number])

    def step(self, choices: Any) -> None:
        acting = self.env.seats.copy()
        options = [table.list_options(int(seat)) for table, seat in zip(self.tables, acting, strict=True)]
        self.env.step(choices)
        for number, table in enumerate(self.tables):
            table.game.play(options[number][int(choices[number])])
            self.play_on(number, int(acting[number]))
            assert table.game.over == self.env.ended[number]
            returns = table.compute_rewards() if table.game.over else [0.0] * table.seats
            assert np.allclose(returns, self.env.returns[number])
            assert np.isclose(returns[acting[number]], self.env.rewards[number])
            if table.game.over:
                self.deal(number)


def choose(masks: Any, rng: np.random.Generator) -> Any:
    """Choose at random where a mask allows it, and gladly an early choice, so that games move on."""
    return (masks * (rng.random(masks.shape) + np.linspace(1, 0, masks.shape[1]))).argmax(1)


@pytest.mark.core
@pytest.mark.slow
@pytest.mark.parametrize("name", list_rulesets("spite"))
def test_a_row_shows_and_plays_what_python_does(name: str) -> None:
    env = malice.rl.vector_env(name, ROW, seats=SEATS.get(name))
    env.reset(seed=5)
    follower, rng = Follower(name, env), np.random.default_rng(5)

    for _ in range(STEPS):
        follower.compare()
        follower.step(choose(env.masks, rng))


@pytest.mark.core
@pytest.mark.slow
@pytest.mark.parametrize("name", ["standard", "catsatcards", "loading", "skipbo", "squared"])
def test_the_greedy_opponent_plays_as_the_bot_does(name: str) -> None:
    env = malice.rl.vector_env(name, ROW, opponents="greedy", seat=0)
    env.reset(seed=6)
    follower, rng = Follower(name, env, "greedy"), np.random.default_rng(6)

    for _ in range(STEPS):
        follower.compare()
        follower.step(choose(env.masks, rng))


@pytest.mark.core
def test_the_same_seed_and_choices_are_the_same_games() -> None:
    told = []
    for _ in range(2):
        env, rng = malice.rl.vector_env("standard", 16, opponents="uniform"), np.random.default_rng(1)
        env.reset(seed=1)
        for _ in range(STEPS):
            env.step(choose(env.masks, rng))
        told.append((env.observations.tobytes(), env.seeds.tobytes(), env.seats.tobytes()))

    assert told[0] == told[1]
    assert len(set(env.seeds.tolist())) == 16


@pytest.mark.core
def test_what_a_mask_forbids_ends_the_game_and_costs_as_much_as_a_defeat() -> None:
    env = malice.rl.vector_env("standard", 2)
    env.reset(seed=1)
    before = env.seeds.copy()

    env.step(np.array([int(env.masks[0].argmin()), int(env.masks[1].argmax())]))

    assert env.ended.tolist() == [True, False]
    assert env.rewards.tolist() == [-1, 0]
    assert (env.seeds != before).tolist() == [True, False]


@pytest.mark.core
def test_wrong_arguments_of_a_row_are_refused_in_words() -> None:
    for wrong, sentence in (
        ({"num_envs": 0}, "num_envs: expected 1 or more, got 0"),
        ({"opponents": "planner"}, r"opponents: expected one of .* or None, got 'planner'"),
        ({"seat": 2}, "seat: expected 0 to 1, got 2"),
    ):
        with pytest.raises(DataError, match=sentence):
            malice.rl.vector_env("standard", **wrong)
    with pytest.raises(RulesetError, match="klondike-3: many games at once take compiled rules"):
        malice.rl.vector_env("klondike-3")


def test_without_the_core_there_are_no_rows_and_no_greedy_rollouts() -> None:
    with playing("python"):
        game = Game("standard")
        with pytest.raises(RulesetError, match=r"standard: many games at once take compiled rules.* make core"):
            malice.rl.vector_env("standard")
        with pytest.raises(RulesetError, match=r"^the policy 'greedy' takes compiled rules.*: make core"):
            game.rollout("greedy", 1, Random(1))


def test_rollouts_end_the_game_and_leave_it_as_it_is() -> None:
    game = Game("book", seed=4)
    before = game.view()

    results = game.rollout("first", 10, Random(1))

    assert len(set(results)) > 1
    assert results == game.rollout("first", 10, Random(1)) != game.rollout("first", 10, Random(2))
    assert game.view() == before


@pytest.mark.core
@pytest.mark.parametrize("policy", ["uniform", "first"])
def test_a_game_that_a_policy_plays_on_is_the_same_with_either_engine(policy: Policy) -> None:
    told: list[object] = []
    for engine in ("python", "core"):
        with playing(engine):
            game = Game("standard", seed=4)
            game.advance(policy, Random(1), turns=9)
            told.append((game.turn, game.actions, game.view(0), game.events(1), game.position()))
            game.advance(policy, Random(2))
            told.append(game.result)

    assert told[:2] == told[2:]


@pytest.mark.parametrize("name", ["standard", "klondike-3", "nuts-2", "double-solitaire"])
def test_a_policy_plays_so_many_turns_or_to_the_end(name: str) -> None:
    game = Game(name, seed=4)
    turn = game.turn

    game.advance("uniform", Random(1), turns=3)
    assert game.over or game.turn == turn + 3
    assert Game.from_position(game.position()).events(0) == game.events(0)
    game.advance("uniform", Random(1), turns=0)
    before = game.actions
    game.advance("uniform", Random(1))
    assert game.over
    assert game.actions >= before


@pytest.mark.core
def test_greedy_plays_on_as_its_bot_does_and_only_while_nobody_has_left() -> None:
    game, other = Game("multi-4", seed=4), Game("multi-4", seed=4)
    bot = make_opponent("greedy", game.ruleset)

    game.advance("greedy", Random(1), turns=20)
    while other.turn < game.turn:
        other.play(bot.choose(other, other.to_act[0]))

    assert other.view_table() == game.view_table()
    game.withdraw(0)
    with pytest.raises(RulesetError, match="no seat may have left"):
        game.advance("greedy", Random(1))


@pytest.mark.core
@pytest.mark.parametrize("name", ["standard", "partners-4", "skipbo"])
def test_rollouts_are_the_same_with_either_engine(name: str) -> None:
    told = []
    for engine in ("python", "core"):
        with playing(engine):
            game = Game(name, seed=4)
            for _ in range(20):
                game.play(game.legal()[0])
            told.append(game.rollout("uniform", 10, Random(1)) + game.rollout("first", 2, Random(1)))

    assert told[0] == told[1]
