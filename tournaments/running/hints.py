"""Hints: what a bot would play in the place of a person, from what that person was told and nothing else."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import UNSET, Struct
from msgspec.structs import replace

from malice.protocol.messages import ClockRules, GameEnd, GameStart, Move
from malice.referee.clock import Clock
from malice.referee.errors import BotError
from malice.referee.records import Isolation, Player, Record
from malice.referee.seat import BYE_WAIT_NS, BotSeat
from malice.referee.verdicts import Verdict, judge_illegal_move
from malice.tournaments.entries.builds import ensure_built
from malice.tournaments.entries.lookup import Find, require_games
from malice.tournaments.running.rerun import Rerun, Surroundings, rerun_game

CLOCK = ClockRules(move_ms=1000, bank_ms=None, increment_ms=0)
"""What the bot is told: the clock of a person does not count, and may have run down."""
LIMIT_NS = 30 * 1_000_000_000
"""When the bot has hung."""
INIT_MS = 5000


def find_hints(words: str, find: Find, family: str, isolation: Isolation, init_ms: int = INIT_MS) -> Hints:
    """Find and build a bot that gives hints.

    Args:
        words: name it.
        find: returns the bot that words name.
        family: the game that it is to play.
        isolation: the isolation to request for it.
        init_ms: the time for its answers that are no actions.

    Raises:
        BotError, DataError: there is no such bot, it cannot be built, or it does not play the game.
    """
    found = find(words, Path.cwd())
    if found.guest:
        raise BotError(f"{words}: expected a bot to give hints, got a person")
    require_games(found, found.manifest.name, [family])
    built = ensure_built(found)
    return Hints(built.make_player(built.manifest.name), Surroundings(init_ms, isolation))


class Hint(Struct, frozen=True):
    """What a bot would play."""

    bot: str
    action: str
    note: str
    """What it says about it; empty if nothing."""


class Hints:
    """A bot that looks over the shoulder of one seat.

    It is started with the first hint, hears every request of the game in order, and is asked what it would play; the
    game goes on as the person played. Whoever makes one keeps to one thread, with which the bot ends.

    Args:
        player: the bot.
        around: the conditions under which it plays.
    """

    def __init__(self, player: Player, around: Surroundings) -> None:
        self._player = player
        self._around = around
        self._unheard: list[GameStart | Move] = []
        """The requests of the game that the bot has not got yet."""
        self._bot: BotSeat | None = None
        self._hint: Hint | None = None

    def copy(self) -> Hints:
        """Make one of the same bot for another seat."""
        return Hints(self._player, self._around)

    def hear(self, request: GameStart | Move | GameEnd) -> None:
        """Keep a request to the seat; a bot meets one game only."""
        self._hint = None
        if isinstance(request, Move):
            self._unheard.append(request)
        else:
            self.end()
            self._unheard = [request] if isinstance(request, GameStart) else []

    def give(self) -> Hint:
        """Ask what the bot answers to the last request, once.

        Raises:
            BotError: it cannot be started, fails, or the seat was not asked for an action.
        """
        if self._hint is None:
            try:
                self._hint = self._catch_up()
            except Verdict as verdict:
                said = verdict.quote_stderr()
                self.end()
                raise BotError(f"{self._player.label}: {verdict.code}: {said}") from None
        return self._hint

    def review(self, record: Record, rngs: Sequence[int], seat: int) -> Rerun:
        """Put a game that is over before the bot, as `rerun_game`."""
        return rerun_game(record, rngs, seat, self._player, self._around)

    def _catch_up(self) -> Hint:
        hint = None
        while self._unheard:
            request = self._unheard.pop(0)
            if isinstance(request, Move):
                hint = self._ask(request)
            else:
                self._begin(request)
        if hint is None:
            raise BotError(f"{self._player.label}: expected a seat that is to act, got one that waits")
        return hint

    def _begin(self, request: GameStart) -> None:
        bot = self._bot = BotSeat(self._player, self._around.init_ms, None, self._around.isolation)
        bot.begin()
        bot.ask(replace(request, id=bot.next_id(), game=1, clock=CLOCK))

    def _ask(self, request: Move) -> Hint:
        bot = self._bot
        if bot is None:
            raise BotError(f"{self._player.label}: has failed in this game")
        clock, legal = Clock(CLOCK), request.legal
        assert isinstance(legal, tuple)
        asked = replace(request, id=bot.next_id(), legal=legal if bot.wants_legal else UNSET, clock=clock.to_message())
        answer, _, _ = bot.ask_move(asked, LIMIT_NS)
        if answer.move not in legal:
            raise judge_illegal_move(answer.move, legal)
        return Hint(self._player.label, answer.move, answer.note if isinstance(answer.note, str) else "")

    def end(self) -> None:
        """End the bot, if it runs."""
        if self._bot is not None:
            self._bot.leave()
            self._bot.end(time.monotonic_ns() + BYE_WAIT_NS)
            self._bot.dismiss()
            self._bot = None
