"""What all environments share: a game whose actions are numbers, its observations and rewards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Literal

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray

from malice.referee.families import load_family
from malice.referee.game import Game
from malice.referee.learning import Learner
from malice.referee.rules import Result
from malice.referee.rulesets import Ruleset, load_ruleset

RenderMode = Literal["ansi", "html"]
ILLEGAL_REWARD = -1.0
"""What a seat gets that chooses what its mask forbids; the game ends then."""
Mask = NDArray[np.int8]
Observation = dict[str, NDArray[Any]]
"""`observation`: the vector of the seat's view; `action_mask`: 1 for each choice that it has."""


class _Places(dict[str, int]):
    """The place of the choice of each action that has been legal so far."""

    def __init__(self, learner: Learner) -> None:
        self._choice = learner.choice
        self._by_choice = {choice: place for place, choice in enumerate(learner.choices)}

    def __missing__(self, action: str) -> int:
        place = self[action] = self._by_choice[self._choice(action)]
        return place


class Table:
    """One ruleset for a number of seats, played in numbers: an action is the place of a choice.

    Args:
        ruleset: its name, or a ruleset.
        seats: how many play; by default the fewest that can.
        waits: whether a seat that is not asked has a choice of its own, after all others: to wait.

    Raises:
        RulesetError: the ruleset is unknown, is not for so many seats, or its family tells learners nothing.
    """

    def __init__(self, ruleset: str | Ruleset, seats: int | None = None, *, waits: bool = False) -> None:
        self.ruleset = load_ruleset(ruleset) if isinstance(ruleset, str) else ruleset
        self.seats = self.ruleset.match.players[0] if seats is None else seats
        self._family = load_family(self.ruleset.family)
        self.game = Game(self.ruleset, self.seats)
        self.learner = self.game.learner
        self._places = _Places(self.learner)
        size = len(self.learner.choices)
        self.wait = size if waits else None
        """The place of the choice to wait."""
        self.size = size + waits
        self.vector_space = Box(0, 1, (len(self.learner.features),), np.float32)
        self.observation_space = Dict(
            {"observation": self.vector_space, "action_mask": Box(0, 1, (self.size,), np.int8)}
        )

    def make_action_spaces(self, agents: Sequence[str]) -> dict[str, Discrete[Any]]:
        """Make the space of the actions of each agent, each with a chance of its own."""
        return {agent: Discrete(self.size) for agent in agents}

    def deal(self, seed: int) -> None:
        """Begin another game."""
        self.game = Game(self.ruleset, self.seats, seed)

    def list_options(self, seat: int) -> dict[int, str]:
        """The legal actions of a seat by the place of their choice; of one choice the first."""
        places = self._places
        return {places[action]: action for action in reversed(self.game.legal(seat))}

    def make_mask(self, options: Iterable[int]) -> Mask:
        """1 at the places of these choices, and 0 elsewhere."""
        mask = bytearray(self.size)
        for option in options:
            mask[option] = 1
        return np.frombuffer(mask, np.int8)

    def observe(self, seat: int) -> NDArray[np.float32]:
        return np.frombuffer(self.game.encode(seat), np.float32)

    def compute_rewards(self) -> list[float]:
        """By seat, from 1 to -1, at the end of the game: 0 on average, and the same for partners.

        A seat gets the share of the others, but partners, that it is placed before, less the share placed before it.
        """
        result, teams = self.game.result, self.game.teams
        assert isinstance(result, Result)
        by_team = dict(zip(teams, result.places, strict=True))
        others = max(1, len(by_team) - 1)
        places = [*by_team.values()]
        return [sum((other > own) - (other < own) for other in places) / others for own in result.places]

    def render(self, mode: RenderMode | None) -> str | None:
        """Draw the table as a spectator sees it."""
        if mode is None:
            return None
        names = [f"seat {seat}" for seat in range(self.seats)]
        text = "\n".join(self._family.sketch(self.game.view_table(), names))
        return f'<pre class="malice">{escape(text)}</pre>' if mode == "html" else text
