"""PettingZoo's parallel API: all agents act in each step, and those that are not asked wait."""

from __future__ import annotations

from typing import Any

import numpy as np
from pettingzoo import ParallelEnv

from malice.referee.errors import RulesetError
from malice.referee.rulesets import Ruleset
from malice.rl.table import Observation, RenderMode, Table


def parallel_env(
    ruleset: str | Ruleset, seats: int | None = None, render_mode: RenderMode | None = None
) -> SimultaneousEnv:
    """For a ruleset under which seats act at the same time."""
    return SimultaneousEnv(ruleset, seats, render_mode)


class SimultaneousEnv(ParallelEnv[str, Observation, int]):
    """A game in which an action is the place of a choice; the last place is to wait, the only one of who is not asked.

    Raises:
        RulesetError: seats never act at the same time under the ruleset.
    """

    def __init__(self, ruleset: str | Ruleset, seats: int | None = None, render_mode: RenderMode | None = None) -> None:
        self.table = Table(ruleset, seats, waits=True)
        if not self.table.ruleset.match.simultaneous:
            raise RulesetError(f"{self.table.ruleset.name}: seats act one after the other: use env()")
        self.learner = self.table.learner
        self.render_mode = render_mode
        self.metadata = {"name": f"{self.table.ruleset.name.replace('-', '_')}_v0", "render_modes": ["ansi", "html"]}
        self.possible_agents = [f"seat_{seat}" for seat in range(self.table.seats)]
        self.agents: list[str] = []
        self._spaces = self.table.make_action_spaces(self.possible_agents)
        self._most_actions = self.table.ruleset.match.max_actions
        self._rng = np.random.default_rng()

    def observation_space(self, agent: str) -> Any:
        """The same for all agents."""
        return self.table.observation_space

    def action_space(self, agent: str) -> Any:
        return self._spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Deal; the seed decides every shuffle."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self.table.deal(int(self._rng.integers(2**53)))
        self.agents = self.possible_agents[:]
        return self._look()

    def step(
        self, actions: dict[str, int]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Choose for all agents.

        Raises:
            ValueError: one does not have its choice; the game is as it was.
        """
        game = self.table.game
        chosen: dict[int, str] = {}
        for seat, agent in enumerate(self.possible_agents):
            if (action := actions.get(agent)) not in self._options[seat]:
                raise ValueError(f"{agent}: expected one of the choices {sorted(self._options[seat])}, got {action!r}")
            if seat in game.to_act:
                chosen[seat] = self._options[seat][int(action)]
        game.play(chosen)
        agents = self.agents
        rewards = self.table.compute_rewards() if game.over else [0.0] * len(agents)
        ended = dict.fromkeys(agents, game.over)
        cut = dict.fromkeys(agents, not game.over and game.actions >= self._most_actions)
        observations, infos = self._look()
        if game.over or any(cut.values()):
            self.agents = []
        return observations, dict(zip(agents, rewards, strict=True)), ended, cut, infos

    def _look(self) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """List the choices of all agents, and return what they see."""
        table, asked = self.table, self.table.game.to_act
        assert table.wait is not None
        self._options = [table.list_options(seat) if seat in asked else {table.wait: ""} for seat in range(table.seats)]
        masks = [table.make_mask(options) for options in self._options]
        return (
            {
                agent: {"observation": table.observe(seat), "action_mask": masks[seat]}
                for seat, agent in enumerate(self.possible_agents)
            },
            {agent: {"action_mask": masks[seat]} for seat, agent in enumerate(self.possible_agents)},
        )

    def render(self) -> Any:
        """Draw the table as a spectator sees it, as text or as HTML."""
        return self.table.render(self.render_mode)

    def close(self) -> None:
        """Do nothing: there is no window."""
