"""Gymnasium's API: one seat learns, and opponents play the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from malice.referee.errors import DataError
from malice.referee.families import load_family
from malice.referee.rulesets import Ruleset
from malice.rl.opponents import Choose, SeatOpponent, make_opponent
from malice.rl.table import ILLEGAL_REWARD, Mask, RenderMode, Table


class SeatEnv(gymnasium.Env[NDArray[np.float32], int]):
    """A game from the seat of a learner: a step is an action of it, and whatever the others do until its next.

    Args:
        ruleset: its name, or a ruleset.
        opponents: who plays the other seats, in the order around the table: functions `choose(view, legal) -> action`,
            or the names and command lines of bots. One plays all of them; by default the bot that its game names,
            against which `malice check` plays.
        seat: where the learner sits; by default wherever the seed of the game says.
        seats: how many play; by default the fewest that can.
        render_mode: how `render` draws.

    Raises:
        RulesetError: the ruleset is unknown, is not for so many seats, or its game tells learners nothing.
        DataError: there are not so many opponents.
        BotError, UnfitBot: an opponent is no bot, or does not play the game; a process that fails later raises, too.
    """

    metadata = {"render_modes": ["ansi", "html"]}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        ruleset: str | Ruleset,
        opponents: Sequence[Choose | str] = (),
        seat: int | None = None,
        seats: int | None = None,
        render_mode: RenderMode | None = None,
    ) -> None:
        self.table = Table(ruleset, seats)
        self.learner = self.table.learner
        self.render_mode = render_mode
        self._mode: RenderMode | None = render_mode
        others = self.table.seats - 1
        opponents = opponents or (load_family(self.table.ruleset.family).opponent,)
        if len(opponents) not in (1, others):
            raise DataError(f"opponents: expected 1 or {others}, got {len(opponents)}")
        named = [*opponents] * others if len(opponents) == 1 else opponents
        self._opponents: list[SeatOpponent] = [make_opponent(each, self.table.ruleset) for each in named]
        self._fixed = seat
        self.seat = seat or 0
        """Where the learner sits in this game."""
        self.observation_space = self.table.vector_space
        self.action_space: Any = gymnasium.spaces.Discrete(self.table.size)
        self._options: dict[int, str] = {}
        self._most_actions = self.table.ruleset.match.max_actions

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Deal, and play up to the first action of the learner; a game that ends before is dealt again."""
        super().reset(seed=seed)
        while True:
            self.table.deal(int(self.np_random.integers(2**53)))
            if self._fixed is None:
                self.seat = int(self.np_random.integers(self.table.seats))
            for place, opponent in enumerate(self._opponents, 1):
                seat, rng = (self.seat + place) % self.table.seats, int(self.np_random.integers(2**31))
                opponent.begin(self.table.game, seat, rng)
            self._play_on()
            if not self.table.game.over:
                return self.table.observe(self.seat), self._info()

    def step(self, action: int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Choose for the learner; a choice that it does not have ends the game, and costs as much as a defeat."""
        game = self.table.game
        if (chosen := self._options.get(int(action))) is None:
            self._options = {}
            return self.table.observe(self.seat), ILLEGAL_REWARD, True, False, self._info()
        self._play_on(chosen)
        reward = self.table.compute_rewards()[self.seat] if game.over else 0.0
        cut = not game.over and game.actions >= self._most_actions
        return self.table.observe(self.seat), reward, game.over, cut, self._info()

    def _play_on(self, chosen: str = "") -> None:
        """Let the opponents play until the learner is asked; `chosen` is its answer, if it is already."""
        game = self.table.game
        while (asked := game.to_act) and (chosen or self.seat not in asked) and game.actions < self._most_actions:
            game.play({seat: chosen if seat == self.seat else self._ask(seat) for seat in asked})
            chosen = ""
        self._options = {} if game.over else self.table.list_options(self.seat)
        if game.over:
            for opponent in self._opponents:
                opponent.end(game)

    def _ask(self, seat: int) -> str:
        return self._opponents[(seat - self.seat) % self.table.seats - 1].choose(self.table.game, seat)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks()}

    def action_masks(self) -> Mask:
        """1 for each choice that the learner has, as algorithms with masks ask for it."""
        return self.table.make_mask(self._options)

    def render(self) -> Any:
        """Draw the table as a spectator sees it, as text or as HTML."""
        return self.table.render(self._mode)

    def close(self) -> None:
        """End the processes of opponents."""
        for opponent in self._opponents:
            opponent.close()
