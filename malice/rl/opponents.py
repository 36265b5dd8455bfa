"""Opponents: functions, the Python bots that ship, in this process, and any other bot in a process of its own.

Only the last takes a Linux; so what starts processes is imported where one is started.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from inspect import signature
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from malice import referee
from malice.protocol.messages import ClockRules, GameEnd, GameStart, Move, SeatClock, SeatName
from malice.referee.errors import BotError
from malice.referee.game import Game
from malice.referee.games import DEFAULT_FAMILY
from malice.referee.records import Isolation, Player
from malice.referee.rulesets import Ruleset

Choose = Callable[[Any, tuple[str, ...]], str]
SHIPPED = Path(referee.__file__).parents[1] / "bots/python"
HERE = ("uniform", "greedy", "planner")
"""The bots whose `choose(view, legal, rules)` plays in this process, from their own files."""
INIT_MS = 60_000
FOR_EVER = ClockRules(move_ms=None, bank_ms=None, increment_ms=0)


class SeatOpponent(ABC):
    """Whoever plays a seat; asked only when that seat acts."""

    def begin(self, game: Game, seat: int, rng: int) -> None:
        """Take a seat of a game; `rng` is all the chance that a bot uses, so that it plays the same game again."""

    @abstractmethod
    def choose(self, game: Game, seat: int) -> str:
        """Choose a legal action of its seat."""

    def end(self, game: Game) -> None:
        """Learn that the game is over."""

    def close(self) -> None:
        """End what was started."""


def make_opponent(player: Choose | str, ruleset: Ruleset) -> SeatOpponent:
    """Let a function play, or the bot that words name.

    Raises:
        BotError, DataError: there is no such bot, or it cannot be built.
        UnfitBot: it does not play the game.
    """
    if not isinstance(player, str):
        return FunctionOpponent(player)
    if player == "uniform" or (player in HERE and ruleset.family == DEFAULT_FAMILY):
        return ShippedOpponent(SHIPPED / player / "bot.py", ruleset)
    from malice.tournaments.entries.bots import find_bot
    from malice.tournaments.entries.lookup import find_and_build_bots, require_games

    (found,) = find_and_build_bots([player], Path(), find_bot)
    if found.absence:
        raise BotError(f"{player}: {found.absence.sentence}")
    require_games(found.bot, player, [ruleset.family])
    return ProcessOpponent(player, found.bot.make_player(player), ruleset)


class FunctionOpponent(SeatOpponent):
    """A function `choose(view, legal) -> action`, with the view as `Game.view` returns it."""

    def __init__(self, choose: Choose) -> None:
        self._choose = choose

    def choose(self, game: Game, seat: int) -> str:
        return self._choose(game.view(seat), game.legal(seat))


class ShippedOpponent(SeatOpponent):
    """A bot that ships, by the function `choose` of its file."""

    def __init__(self, file: Path, ruleset: Ruleset) -> None:
        spec = spec_from_file_location(f"malice_bot_{file.parent.name}", file)
        assert spec
        assert spec.loader
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        self._choose = module.choose
        self._draws = "rng" in signature(module.choose).parameters
        self._rules: Mapping[str, Any] = msgspec.to_builtins(ruleset.rules)
        self._rng = Random(0)

    def begin(self, game: Game, seat: int, rng: int) -> None:
        """Take the chance of this game."""
        self._rng = Random(rng)

    def choose(self, game: Game, seat: int) -> str:
        view, legal = msgspec.to_builtins(game.view(seat)), [*game.legal(seat)]
        action: str = self._choose(view, legal, self._rules, *([self._rng] if self._draws else []))
        return action


class ProcessOpponent(SeatOpponent):
    """A bot that speaks the protocol; it has no clock, and no isolation but limits."""

    def __init__(self, words: str, player: Player, ruleset: Ruleset) -> None:
        from malice.referee.seat import BotSeat

        self._words = words
        self._ruleset = ruleset
        self._seat = BotSeat(player, INIT_MS, None, Isolation("rlimit"))
        self._place = self._heard = 0
        self._game: Game | None = None

    def begin(self, game: Game, seat: int, rng: int) -> None:
        """Tell the bot of a new game; the first starts its process."""
        if self._game:
            self.end(self._game)
        self._game, self._place, self._heard = game, seat, 0
        number = self._ask(self._seat.begin)
        names = tuple(SeatName(f"seat {place}", team) for place, team in enumerate(game.teams))
        rules = msgspec.to_builtins(self._ruleset.rules)
        commit = "sha256:" + secrets.token_hex(32)
        start = GameStart(
            self._seat.next_id(),
            number,
            self._ruleset.family,
            self._ruleset.name,
            rules,
            seat,
            names,
            rng,
            commit,
            FOR_EVER,
        )
        self._ask(lambda: self._seat.ask(start))

    def choose(self, game: Game, seat: int) -> str:
        """Ask the bot."""
        events = game.events(seat, self._heard)
        self._heard += len(events)
        legal, clock = game.legal(seat), SeatClock(None, None, None)
        request = Move(id=self._seat.next_id(), view=game.view(seat), events=events, legal=legal, clock=clock)
        answer, _, _ = self._ask(lambda: self._seat.ask_move(request, None))
        return str(answer.move)

    def end(self, game: Game) -> None:
        """Tell the bot how the game ended, if it did."""
        self._game = None
        if result := game.result:
            end = GameEnd(
                self._seat.next_id(),
                result.places[self._place],
                result.places,
                result.scores,
                result.reason,
                "0.0.0.0",
            )
            self._ask(lambda: self._seat.ask(end))

    def close(self) -> None:
        """End the process."""
        self._seat.dismiss()

    def _ask(self, ask: Callable[[], Any]) -> Any:
        from malice.referee.verdicts import Verdict

        try:
            return ask()
        except Verdict as verdict:
            self._seat.dismiss()
            raise BotError(f"{self._words}: {verdict.sentence}") from None
