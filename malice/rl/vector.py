"""Many games at once, in Gymnasium's vector API: compiled rules write them into buffers of numpy."""

from __future__ import annotations

from typing import Any, get_args

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from malice.referee.compiled import ADVICE, find_core
from malice.referee.errors import DataError, RulesetError
from malice.referee.families import make_rules
from malice.referee.rollouts import Policy
from malice.referee.rulesets import Ruleset
from malice.rl.table import Table

Info = dict[str, Any]


class GamesEnv(VectorEnv[NDArray[np.float32], NDArray[np.int64], NDArray[Any]]):
    """A row of games of one ruleset; each begins anew in the step in which it ends.

    What `reset` and `step` return are the buffers below, which the next step overwrites.

    Args:
        ruleset: its name, or a ruleset.
        num_envs: how many games.
        opponents: `first`, `uniform` or `greedy` plays all seats but the learner's; with None every seat learns, and a
            step is an action of whichever seat is asked.
        seat: where the learner sits; by default wherever the seed of each game says.
        seats: how many play; by default the fewest that can.

    Raises:
        RulesetError: the ruleset is unknown, is not for so many seats, or has no compiled rules here.
        DataError: an argument is none of those above.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        ruleset: str | Ruleset,
        num_envs: int = 1,
        opponents: Policy | None = None,
        seat: int | None = None,
        seats: int | None = None,
    ) -> None:
        table = Table(ruleset, seats)
        self.ruleset, self.learner = table.ruleset, table.learner
        core = find_core()
        rules = make_rules(self.ruleset.family, self.ruleset.rules, table.seats)
        if core is None or not isinstance(rules, core.Rules):
            name = self.ruleset.name
            raise RulesetError(f"{name}: many games at once take compiled rules, which it has not here: {ADVICE}")
        if num_envs < 1:
            raise DataError(f"num_envs: expected 1 or more, got {num_envs}")
        if opponents not in (None, *get_args(Policy)):
            raise DataError(f"opponents: expected one of {get_args(Policy)} or None, got {opponents!r}")
        if seat is not None and not 0 <= seat < table.seats:
            raise DataError(f"seat: expected 0 to {table.seats - 1}, got {seat}")
        self.num_envs = num_envs
        self.single_observation_space = table.vector_space
        self.single_action_space = gymnasium.spaces.Discrete(table.size)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observations = np.zeros((num_envs, len(self.learner.features)), np.float32)
        """What the seats to act see."""
        self.masks = np.zeros((num_envs, table.size), np.int8)
        """1 for each choice that they have."""
        self.rewards = np.zeros(num_envs, np.float32)
        """Of the seats that acted."""
        self.ended = np.zeros(num_envs, np.bool_)
        """Whether the game was over; what is seen belongs to the next one then."""
        self.seats = np.zeros(num_envs, np.int64)
        """Who acts next."""
        self.seeds = np.zeros(num_envs, np.uint64)
        """Of the games that go on: `malice.Game` with this seed deals the same cards."""
        self.returns = np.zeros((num_envs, table.seats), np.float32)
        """By seat: the reward, where the game was over."""
        self._choices = np.zeros(num_envs, np.int64)
        self._cut = np.zeros(num_envs, np.bool_)
        buffers = {
            "choices": self._choices,
            "observations": self.observations.reshape(-1),
            "masks": self.masks.reshape(-1),
            "rewards": self.rewards,
            "ended": self.ended.view(np.uint8),
            "seats": self.seats,
            "seeds": self.seeds,
            "returns": self.returns.reshape(-1),
        }
        self._lanes = core.Lanes(rules, num_envs, opponents, seat, buffers)
        self._info: Info = {"action_mask": self.masks, "seat": self.seats, "seed": self.seeds, "returns": self.returns}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], Info]:
        """Begin every game anew; the same seed and the same choices are the same games."""
        super().reset(seed=seed)
        self._lanes.reset(int(self.np_random.integers(2**53)))
        return self.observations, self._info

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[Any], NDArray[Any], NDArray[Any], Info]:
        """Choose in every game; a choice that its mask forbids ends a game, and costs as much as a defeat."""
        self._choices[:] = actions
        self._lanes.step()
        return self.observations, self.rewards, self.ended, self._cut, self._info


def vector_env(
    ruleset: str | Ruleset,
    num_envs: int = 1,
    opponents: Policy | None = None,
    seat: int | None = None,
    seats: int | None = None,
) -> GamesEnv:
    """Make a row of games; `GamesEnv` says of what."""
    return GamesEnv(ruleset, num_envs, opponents, seat, seats)
