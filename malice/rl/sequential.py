"""PettingZoo's AEC: one agent at a time, which stays selected while it goes on acting."""

from __future__ import annotations

from typing import Any

import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from malice.referee.rulesets import Ruleset
from malice.rl.table import ILLEGAL_REWARD, Observation, RenderMode, Table


def env(ruleset: str | Ruleset, seats: int | None = None, render_mode: RenderMode | None = None) -> Any:
    """Wrap the environment of a ruleset as PettingZoo does: an illegal action ends the game."""
    wrapped: Any = SequentialEnv(ruleset, seats, render_mode)
    wrapped = wrappers.TerminateIllegalWrapper(wrapped, illegal_reward=ILLEGAL_REWARD)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return wrappers.OrderEnforcingWrapper(wrapped)


def raw_env(ruleset: str | Ruleset, seats: int | None = None, render_mode: RenderMode | None = None) -> SequentialEnv:
    """The environment of a ruleset without wrappers."""
    return SequentialEnv(ruleset, seats, render_mode)


class SequentialEnv(AECEnv[str, Observation, int | None]):
    """A game in which an action is the place of a choice, see `learner.choices`.

    Seats that are asked at the same time choose one after the other; what they chose is played when the last one has.
    """

    def __init__(self, ruleset: str | Ruleset, seats: int | None = None, render_mode: RenderMode | None = None) -> None:
        super().__init__()
        self.table = Table(ruleset, seats)
        self.learner = self.table.learner
        self.render_mode = render_mode
        name = f"{self.table.ruleset.name.replace('-', '_')}_v0"
        simultaneous = self.table.ruleset.match.simultaneous
        self.metadata = {"name": name, "render_modes": ["ansi", "html"], "is_parallelizable": simultaneous}
        self.possible_agents = [f"seat_{seat}" for seat in range(self.table.seats)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._spaces = self.table.make_action_spaces(self.possible_agents)
        self._most_actions = self.table.ruleset.match.max_actions
        self._rng = np.random.default_rng()
        self.agents: list[str] = []
        self.agent_selection = self.possible_agents[0]
        self._options: dict[int, str] = {}
        self._asked: tuple[int, ...] = ()
        self._chosen: dict[int, str] = {}
        self._blank = self._mask = self.table.make_mask([])

    def observation_space(self, agent: str) -> Any:
        """The same for all agents."""
        return self.table.observation_space

    def action_space(self, agent: str) -> Any:
        """The same for all agents."""
        return self._spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal; the seed decides every shuffle."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self.table.deal(int(self._rng.integers(2**53)))
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {"action_mask": self._blank} for agent in self.agents}
        self._asked, self._chosen = self.table.game.to_act, {}
        self._ask()

    def step(self, action: int | None) -> None:
        """Choose for the selected agent.

        Raises:
            ValueError: it does not have this choice; the game is as it was.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        try:
            self._chosen[self._seats[agent]] = self._options[-1 if action is None else int(action)]
        except KeyError:
            raise ValueError(f"expected one of the choices {sorted(self._options)}, got {action!r}") from None
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent]["action_mask"] = self._blank
        game = self.table.game
        if len(self._chosen) == len(self._asked):
            game.play(self._chosen)
            self._asked, self._chosen = game.to_act, {}
        if game.over:
            for each, reward in zip(self.possible_agents, self.table.compute_rewards(), strict=True):
                self.rewards[each] = self._cumulative_rewards[each] = reward
            self.terminations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.agents[0]
        elif game.actions >= self._most_actions:
            self.truncations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.agents[0]
        else:
            self._ask()

    def _ask(self) -> None:
        seat = self._asked[len(self._chosen)]
        self.agent_selection = agent = self.possible_agents[seat]
        self._options = self.table.list_options(seat)
        self._mask = self.table.make_mask(self._options)
        self.infos[agent]["action_mask"] = self._mask

    def observe(self, agent: str) -> Observation:
        """What an agent sees, and its mask, which is empty unless the agent is selected."""
        asked = agent == self.agent_selection and not self.terminations[agent]
        mask = self._mask if asked else self._blank
        return {"observation": self.table.observe(self._seats[agent]), "action_mask": mask}

    def render(self) -> Any:
        """Draw the table as a spectator sees it, as text or as HTML."""
        return self.table.render(self.render_mode)

    def close(self) -> None:
        """Do nothing: there is no window."""
