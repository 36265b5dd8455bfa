"""Games in this process: for somebody at the terminal who takes part or watches, or with players of a Python program.

Such a program's players are functions and objects, a fresh one for each rotation of seats.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from msgspec.structs import replace

from malice.protocol.messages import GameEnd, GameStart, Move, MoveAnswer
from malice.referee.batch import BatchSeat, play_batch
from malice.referee.errors import Abandoned, GameFault, IllegalAction
from malice.referee.records import (
    Batch,
    GameBegun,
    GameOrder,
    Key,
    Record,
    RefereeFault,
    Report,
    SeatReport,
    Started,
    StderrLine,
)
from malice.referee.seat import InProcessSeat, Seat, Watch
from malice.tournaments.entries.bots import Bot
from malice.tournaments.entries.lookup import Find
from malice.tournaments.entries.manifests import Manifest
from malice.tournaments.running.hooks import Hooks, Outcome


class GameWatcher(Protocol):
    """Shows games to somebody."""

    def begin(self, batch: Batch, order: GameOrder) -> Watch:
        """Show the deal of a game; return the function to call after every ask."""

    def end(self, record: Record) -> None:
        """Show how it ended."""


class InProcess:
    """Plays batches one after the other in this process, with the same referee as in referee processes.

    It handles no signal: Ctrl-C ends the bots and reaches the caller as an exception.

    Args:
        guests: by label, the players that are not bot processes.
        watcher: shows every game.
        on_stderr: receives lines of stderr from batches that ask for them.
        guard: a descriptor whose hang-up means that nobody waits for the games.
        reseat: as of `play_batch`.
    """

    def __init__(
        self,
        guests: Mapping[str, BatchSeat],
        watcher: GameWatcher | None = None,
        on_stderr: Callable[[StderrLine], None] = lambda report: None,
        guard: int | None = None,
        reseat: Callable[[GameOrder, Sequence[BatchSeat]], Sequence[Seat]] = lambda order, seats: seats,
    ) -> None:
        self._guests = guests
        self._watcher = watcher
        self._on_stderr = on_stderr
        self._guard = guard
        self._reseat = reseat

    def __call__(self, batches: Iterator[Batch], jobs: int, cpus_per_game: int, hooks: Hooks) -> Outcome:
        """Play all batches, or stop when somebody leaves; give up a game that the referee cannot finish."""
        outcome = Outcome()
        for batch in batches:
            if hooks.now() >= hooks.latest_begin(batch):
                _note_late(hooks, outcome)
                break
            games = tuple(order for order in batch.games if hooks.wants(order.key))
            try:
                self._play(replace(batch, games=games), hooks, outcome)
            except Abandoned as why:
                outcome.stopped = str(why)
                break
        return outcome

    def _play(self, batch: Batch, hooks: Hooks, outcome: Outcome) -> None:
        orders = {order.key: order for order in batch.games}
        pids: list[int] = []
        spared: set[Key] = set()

        def on_report(report: Report) -> None:
            match report:
                case Started():
                    pids.append(report.pid)
                    hooks.ledger.add(report)
                case GameBegun(key):
                    hooks.on_begin(batch, orders[key])
                case Record():
                    if self._watcher:
                        self._watcher.end(report)
                    del orders[report.key]
                    hooks.on_record(report)
                case StderrLine():
                    self._on_stderr(report)
                case RefereeFault(_, sentence, rules=True):
                    raise GameFault(sentence, report.report)
                case RefereeFault(key, sentence, memory=True):
                    spared.add(key)
                    hooks.on_failure(key, sentence, again=True)
                case RefereeFault(key, sentence):
                    hooks.on_failure(key, sentence, again=False)
                    outcome.given_up[key] = sentence

        def watch(order: GameOrder) -> Watch:
            assert self._watcher
            return self._watcher.begin(batch, order)

        def is_ended() -> bool:
            if hooks.now() >= hooks.latest_begin(batch):
                _note_late(hooks, outcome)
            return outcome.late or not any(map(hooks.wants, orders))

        try:
            shown = watch if self._watcher else None
            play_batch(batch, self._guard, on_report, self._guests, shown, is_ended, self._reseat)
        finally:
            for pid in pids:
                hooks.ledger.remove(pid)
        if spared:
            again = tuple(replace(order, spared=True) for order in batch.games if order.key in spared)
            self._play(replace(batch, games=again), hooks, outcome)


def _note_late(hooks: Hooks, outcome: Outcome) -> None:
    if not outcome.late:
        outcome.late = True
        hooks.on_late()


Choose = Callable[[Any, tuple[str, ...]], str]
"""Takes the view of a seat, as `Game.view` returns it, and the legal actions; returns one of them."""


class Chooser(Protocol):
    """A player that wants more than the view.

    It may also have the methods `game_start` and `game_end`, which take the structs of these messages.
    """

    def choose(self, request: Move) -> str:
        """Choose one of `request.legal`; the request also has the events since the last one, and the clock."""


Factory = Callable[[], Choose | Chooser]
"""Makes a player that knows nothing of any other game: one for each rotation of seats, so that none knows the cards."""

Asked = GameStart | Move | GameEnd | None
"""What the player of a seat is asked; None asks for a fresh player."""


class Told(NamedTuple):
    """An answer; it is empty if nothing but a `Move` was asked."""

    action: str = ""
    wall: int = 0
    """Nanoseconds."""
    cpu: int = 0
    """Nanoseconds of the thread."""


Ask = Callable[[str, Asked], Told]
"""Asks the guest of a name; raises `Abandoned` if it failed, or nobody waits for the game any more."""


class Guests:
    """The players of a program, asked in its process.

    Args:
        factories: by any name.
    """

    def __init__(self, factories: Mapping[str, Factory]) -> None:
        self.error: Exception | None = None
        """What a player raised, after `ask` raised `Abandoned`."""
        self._factories = factories
        self._players: dict[str, Choose | Chooser] = {}

    def ask(self, name: str, asked: Asked) -> Told:
        """Ask a guest; as `Ask`."""
        try:
            return self._ask(name, asked)
        except Exception as error:  # whatever somebody else's player raises
            self.error = error
            raise Abandoned(name) from None

    def _ask(self, name: str, asked: Asked) -> Told:
        if asked is None:
            self._players[name] = _make_player(self._factories[name])
            return Told()
        player = self._players[name]
        if not isinstance(asked, Move):
            listen = getattr(player, "game_start" if isinstance(asked, GameStart) else "game_end", None)
            if listen is not None:
                listen(asked)
            return Told()
        assert isinstance(asked.legal, tuple)
        choose = getattr(player, "choose", None)
        wall, cpu = time.monotonic_ns(), time.thread_time_ns()
        action = player(asked.view, asked.legal) if choose is None else choose(asked)  # type: ignore[operator]
        told = Told(action, time.monotonic_ns() - wall, time.thread_time_ns() - cpu)
        if action not in asked.legal:
            who = name_factory(self._factories[name])
            raise IllegalAction(f"{who}: expected one of {list(asked.legal)}, got {action!r}")
        return told


def _make_player(factory: Factory) -> Choose | Chooser:
    player = factory()
    if not callable(player) and not callable(getattr(player, "choose", None)):
        raise TypeError(
            f"expected {factory!r} to return a function choose(view, legal) or an object with choose(request),"
            f" got {player!r}"
        )
    return player


def name_factory(factory: Factory) -> str:
    """Name what a factory makes, fit for a label.

    Raises:
        TypeError: it cannot be called without arguments.
    """
    try:
        signature(factory).bind()
    except TypeError:
        raise TypeError(
            f"expected a bot's name, or a factory: something to call without arguments that returns a player,"
            f" got {factory!r}; for a function without memory, `lambda: choose` is one"
        ) from None
    except ValueError:  # of a class written in C nobody knows the arguments
        pass
    name = getattr(factory, "__name__", type(factory).__name__)
    return re.sub(r"\W", "", name)[:50] or "player"


def seat_guests(find: Find, names: Mapping[str, str]) -> Find:
    """Make `find` find guests, too.

    Args:
        find: finds all others.
        names: by the words that stand for a guest, its name.
    """
    bots = {words: _make_bot(words, name) for words, name in names.items()}

    def find_any(words: str, base: Path) -> Bot:
        return bots.get(words) or find(words, base)

    return find_any


def _make_bot(words: str, name: str) -> Bot:
    # Nobody can tell whether a function has changed: what it learned may lie anywhere.
    return Bot(Manifest(name, (words,)), (words,), None, secrets.token_hex(32), guest=True)


class GuestSeat(InProcessSeat):
    """The seat of a guest for a whole batch; it has no deadline, but its clock runs.

    Args:
        label: its entry's.
        words: what its program calls it.
        ask: asks it.
    """

    def __init__(self, label: str, words: str, ask: Ask) -> None:
        self.isolation: tuple[str, ...] = ()
        self._label = label
        self._words = words
        self._ask = ask
        self._games = 0
        self._requests = 1

    def begin(self) -> int:
        """Count a game; before the first one of a batch, have a fresh player made."""
        if not self._games:
            self._ask(self._words, None)
        self._games += 1
        return self._games

    def report(self) -> SeatReport:
        return SeatReport(self._label)

    def next_id(self) -> int:
        """The number of the next request, from 2: with bots, request 1 is the greeting."""
        self._requests += 1
        return self._requests

    def ask_move(self, request: Move, limit: int | None, cpu_limit: int | None) -> tuple[MoveAnswer, int, int]:
        told = self._ask(self._words, request)
        return MoveAnswer(request.id, told.action), told.wall, told.cpu

    def ask(self, request: GameStart | GameEnd) -> None:
        self._ask(self._words, request)

    def dismiss(self) -> tuple[str | None, tuple[str, ...], str]:
        """Let the player go; there is no process to end."""
        self.leave()
        return None, (), ""

    def leave(self) -> None:
        """Let the player go."""
        self._games, self._requests = 0, 1

    def end(self, deadline: int) -> None:
        """Do nothing."""
