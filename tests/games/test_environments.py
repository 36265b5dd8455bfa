"""The environments for learning pass the tests of PettingZoo and Gymnasium, and play what the games say."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test, seed_test

import malice.rl
from malice import Game
from malice.referee.errors import DataError, RulesetError
from malice.referee.rules import Result
from malice.rl.opponents import ProcessOpponent, ShippedOpponent, make_opponent
from malice.rl.table import Table
from malice.tournaments.entries.bots import find_bot
from malice.tournaments.entries.lookup import UnfitBot

pytestmark = [
    pytest.mark.slow,
    # What PettingZoo says of any observation with a mask.
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
]

TABLES = [
    ("standard", 2),
    ("multi-4", 4),
    ("partners-4", 4),
    ("skipbo", 2),
    ("klondike-3", 2),
    ("nuts", 4),
    ("double-solitaire", 2),
]
STEPS = 40
MOST_STEPS = 400


# The tests of others


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_one_agent_acts_at_a_time_as_pettingzoo_asks(ruleset: str, seats: int) -> None:
    pass_pettingzoo(ruleset, seats)


@pytest.mark.usefixtures("games")
@pytest.mark.parametrize("ruleset", ["stairs", "prizes"])
def test_the_games_of_a_package_have_environments(ruleset: str) -> None:
    pass_pettingzoo(ruleset, 2)


def pass_pettingzoo(ruleset: str, seats: int) -> None:
    api_test(malice.rl.env(ruleset, seats), num_cycles=STEPS)
    seed_test(lambda: malice.rl.env(ruleset, seats), num_cycles=STEPS)


@pytest.mark.parametrize(("ruleset", "seats"), [("klondike-3", 2), ("nuts", 4)])
def test_all_agents_act_at_once_as_pettingzoo_asks(ruleset: str, seats: int) -> None:
    parallel_api_test(malice.rl.parallel_env(ruleset, seats), num_cycles=STEPS)


@pytest.mark.parametrize("name", ["standard", "klondike-3"])
def test_one_seat_learns_as_gymnasium_asks(name: str) -> None:
    env = gymnasium.make(f"malice/{name}-v0", opponents=["uniform"])

    check_env(env.unwrapped, skip_render_check=True)


# Games


def play(env: Any, seed: int = 1) -> tuple[list[int], list[bytes], float]:
    """Play a game of Gymnasium's at random; return its actions, what was seen, and the reward."""
    rng, (vector, info), over = np.random.default_rng(seed), env.reset(seed=seed), False
    actions: list[int] = []
    seen, reward = [vector.tobytes()], 0.0
    while not over and len(actions) < MOST_STEPS:
        actions.append(int(rng.choice(np.flatnonzero(info["action_mask"]))))
        vector, reward, ended, cut, info = env.step(actions[-1])
        seen.append(vector.tobytes())
        over = ended or cut
    return actions, seen, reward


def test_a_module_has_the_environments_of_its_ruleset_and_no_other_is_there() -> None:
    env = malice.rl.standard_v0.env()
    env.reset(seed=1)

    assert str(env) == "standard_v0"
    assert malice.rl.double_solitaire_v0.raw_env().metadata["name"] == "double_solitaire_v0"
    with pytest.raises(AttributeError, match="no attribute 'poker_v0'"):
        malice.rl.poker_v0  # noqa: B018


def test_an_episode_is_a_game_of_the_engine() -> None:
    env = malice.rl.raw_env("standard")
    env.reset(seed=3)
    game, rng = Game("standard", seed=env.table.game.seed), np.random.default_rng(3)
    for agent in env.agent_iter(max_iter=MOST_STEPS):
        observation, _, ended, cut, info = env.last()
        assert not cut
        if ended:
            break
        assert agent == f"seat_{game.to_act[0]}"
        assert observation["observation"].tolist() == list(game.learner.encode(game.view()))
        assert observation["action_mask"] is info["action_mask"]
        possible = {env.learner.choices.index(game.learner.choice(action)) for action in game.legal()}
        assert {*np.flatnonzero(info["action_mask"])} == possible
        chosen = int(rng.choice(sorted(possible)))
        game.play(next(a for a in game.legal() if game.learner.choice(a) == env.learner.choices[chosen]))
        env.step(chosen)

    assert env.table.game.position() == game.position()


@pytest.mark.parametrize(
    ("ruleset", "seats", "places", "rewards"),
    [
        ("standard", 2, (1, 2), [1, -1]),
        ("standard", 2, (1, 1), [0, 0]),
        ("multi-4", 4, (1, 2, 3, 4), [1, 1 / 3, -1 / 3, -1]),
        ("multi-4", 4, (1, 2, 2, 4), [1, 0, 0, -1]),
        ("partners-4", 4, (2, 1, 2, 1), [-1, 1, -1, 1]),
    ],
)
def test_rewards_follow_from_places(
    ruleset: str, seats: int, places: tuple[int, ...], rewards: Sequence[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table(ruleset, seats)
    monkeypatch.setattr(Game, "result", Result(places, (0,) * seats, "made up"))

    assert table.compute_rewards() == pytest.approx(rewards)


def test_a_choice_that_nobody_has_is_refused_where_it_is_raw_and_lost_where_it_is_wrapped() -> None:
    raw, wrapped, seat = malice.rl.raw_env("standard"), malice.rl.env("standard"), make("standard", "uniform")
    for env in (raw, wrapped, seat):
        env.reset(seed=1)
    forbidden = int(np.flatnonzero(raw.last()[0]["action_mask"] == 0)[0])
    before, loser = raw.table.game.position(), wrapped.agent_selection

    with pytest.raises(ValueError, match=rf"expected one of the choices \[.*\], got {forbidden}"):
        raw.step(forbidden)
    wrapped.step(forbidden)
    _, reward, ended, _, info = seat.step(int(np.flatnonzero(seat.unwrapped.action_masks() == 0)[0]))

    assert raw.table.game.position() == before
    assert wrapped.rewards[loser] == -1
    assert all(wrapped.terminations.values())
    assert (reward, ended, info["action_mask"].any()) == (-1, True, False)


def test_a_game_without_turns_waits_for_all_and_one_with_turns_has_no_parallel_form() -> None:
    env = malice.rl.parallel_env("klondike-3")
    env.reset(seed=1)
    one, other = env.agents

    with pytest.raises(ValueError, match=f"{other}: expected one of the choices"):
        env.step({one: next(iter(env._options[0]))})
    with pytest.raises(RulesetError, match="standard: seats act one after the other"):
        malice.rl.parallel_env("standard")


@pytest.mark.parametrize("mode", ["ansi", "html"])
def test_a_table_is_drawn(mode: Any) -> None:
    envs: list[Any] = [
        malice.rl.raw_env("standard", render_mode=mode),
        malice.rl.parallel_env("nuts", render_mode=mode),
    ]
    seat = gymnasium.make("malice/standard-v0", opponents=["uniform"], render_mode=mode)
    for env in (*envs, seat):
        env.reset(seed=1)
        drawn = env.render()
        assert "seat 1" in drawn
        assert drawn.startswith('<pre class="malice">') == (mode == "html")


# Opponents


def make(ruleset: str, *opponents: Any) -> Any:
    return gymnasium.make(f"malice/{ruleset}-v0", opponents=opponents)


@pytest.mark.parametrize("name", ["uniform", "greedy", "planner"])
def test_a_bot_that_ships_plays_in_this_process_what_it_plays_in_its_own(name: str) -> None:
    env = make("standard", name)
    ruleset = env.unwrapped.table.ruleset
    assert isinstance(make_opponent(name, ruleset), ShippedOpponent)
    here = play(env)
    env.unwrapped._opponents = [ProcessOpponent(name, find_bot(name).make_player(name), ruleset)]
    there = play(env)
    env.close()

    assert here == there
    assert len(here[0]) > 20


@pytest.mark.parametrize("opponent", ["first", lambda view, legal: legal[0]], ids=["process", "function"])
def test_the_same_seed_is_the_same_game(opponent: Any) -> None:
    env = make("standard", opponent)
    one, again, other = play(env, 5), play(env, 5), play(env, 6)
    env.close()

    assert one == again != other


def test_opponents_sit_around_the_table_in_order() -> None:
    asked: set[tuple[str, int]] = set()

    def note(name: str) -> Any:
        def choose(view: Any, legal: tuple[str, ...]) -> str:
            asked.add((name, view.seat))
            return legal[0]

        return choose

    play(gymnasium.make("malice/multi-4-v0", opponents=[note("a"), note("b"), note("c")], seat=1, seats=4))

    assert asked == {("a", 2), ("b", 3), ("c", 0)}


@pytest.mark.usefixtures("games")
def test_who_cannot_play_is_refused_by_name() -> None:
    with pytest.raises(DataError, match="opponents: expected 1 or 3, got 2"):
        malice.rl.SeatEnv("multi-4", ["uniform", "uniform"], seats=4)
    with pytest.raises(UnfitBot, match="greedy: plays spite"):
        make("klondike-3", "greedy")
    with pytest.raises(RulesetError, match="expected a game with a `learner`, 'tricks' has none"):
        Table("tricks-4")


# The extra


@pytest.mark.parametrize("missing", ["gymnasium", "pettingzoo"])
def test_who_lacks_the_extra_is_told_its_name(missing: str) -> None:
    hide = f"import sys; sys.modules[{missing!r}] = None; import malice.rl"

    done = subprocess.run([sys.executable, "-P", "-c", hide], capture_output=True, text=True, check=False)

    assert done.returncode
    assert done.stderr.splitlines()[-1].endswith(": malice.rl needs the extra malice-arena[rl]")
    assert missing in done.stderr.splitlines()[-1]
