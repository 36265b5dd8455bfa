"""What players of batches call while they play, and the audit that replays the records of other machines."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol

import msgspec

from malice.referee.nouns import format_count
from malice.referee.records import Batch, GameOrder, Key, Record, TimeUp
from malice.tournaments.errors import Stopped
from malice.tournaments.league.replay_pool import ReplayPool, count_processors
from malice.tournaments.league.replays import CHECK
from malice.tournaments.league.store import Store
from malice.tournaments.running.leftovers import ProcessLedger

Judge = Callable[[Record, str], None]
"""Receives a record and what is wrong with it; nothing, if the string is empty."""
NAMED = 5
"""How many wrong games a message names."""

_KILLED = b"its replay was killed"
_encoder = msgspec.json.Encoder()  # unlike msgpack, it takes every number that a worker may send


class CheckPool(ReplayPool[bytes]):
    """As many processes as there are processors; they tell what is wrong with records, which they receive as JSON.

    Each record comes alone, since a forged one may end its process.
    """

    def __init__(self) -> None:
        super().__init__(lambda line: _KILLED, (CHECK,), count_processors(), 1)


class Audit:
    """Replays records of other machines, each once while this run lasts. Use it as a context manager.

    Args:
        store: the league.
        go_on: how to resume after a stop, in words.
        checkers: replay them.
    """

    def __init__(self, store: Store, go_on: str = "", checkers: CheckPool | None = None) -> None:
        self._store = store
        self._go_on = go_on
        self._checkers = checkers or CheckPool()
        self._replayed: set[Key] = set()

    def __enter__(self) -> Audit:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._checkers.__exit__(None, None, None)

    def replay(self, record: Record, judge: Judge) -> None:
        """Replay a record that is not stored yet; `judge` hears of it in another thread."""

        def tell(done: Future[list[bytes]]) -> None:
            if done.cancelled():  # the run is over
                return
            if done.exception():  # that is our own trouble: it is replayed before its part closes
                judge(record, "")
                return
            (why,) = done.result() or [_KILLED]
            if not why:
                self._replayed.add(record.key)
            judge(record, why.decode())

        self._checkers.submit([_encoder.encode(record)]).add_done_callback(tell)

    def check(self, keys: Iterable[Key]) -> None:
        """Replay stored games, unless that was done before.

        Raises:
            Stopped: some of them are wrong; they are taken out of the league, and are open again.
        """
        fresh = [key for key in keys if key not in self._replayed]
        found = self._checkers.replay(map(_encoder.encode, self._store.read_records(fresh)))
        wrong = {key: why.decode() for key, (_, why) in zip(fresh, found, strict=True) if why}
        self._replayed.update(key for key in fresh if key not in wrong)
        if wrong:
            self._store.take_back(wrong)
            named = "".join(f"\n  {why}" for _, why in sorted(wrong.items())[:NAMED])
            games = format_count(len(wrong), "game")
            raise Stopped(f"{games} of other machines did not replay, and must be played again; {self._go_on}{named}")

    def close(self, parts: Collection[int]) -> None:
        """Replay all games of other machines in parts that are over, with the errors of `check`."""
        for part in parts:
            self.check(self._store.list_foreign(part))


NO_LEDGER = ProcessLedger(None)


class OnFailure(Protocol):
    """Is told of games that the referee could not finish."""

    def __call__(self, key: Key, sentence: str, *, again: bool) -> None:
        """Take a game, what happened, and whether it is tried again."""


class Outcome:
    """The outcome of a run: whether it was stopped or its time was up, and which games could not be played."""

    def __init__(self) -> None:
        self.stopped: str | None = None
        self.late = False
        """Whether games were not begun because of `Hooks.latest_begin`."""
        self.paused = False
        """Whether further games wait because of `Hooks.pauses`."""
        self.given_up: dict[Key, str] = {}


@dataclass(frozen=True)
class Running:
    """A batch that a referee process plays."""

    batch: Batch
    left: set[Key]
    """Its games that have no record yet."""


@dataclass(frozen=True)
class Hooks:
    """What the player of batches calls while it plays."""

    on_record: Callable[[Record], None]
    """Receives every finished game, in the order in which the games finish."""
    wants: Callable[[Key], bool] = lambda key: True
    """Whether a game must still be played; asked again after each game."""
    ledger: ProcessLedger = NO_LEDGER
    """Lists every process while it lives."""
    may_begin: Callable[[Batch, Collection[Running]], bool] = lambda batch, running: True
    """Whether a batch may begin beside those that run; asked again after each game. It may if none runs."""
    latest_begin: Callable[[Batch], float] = lambda batch: math.inf
    """The time, in seconds since 1970, from which on no game of the batch may begin."""
    on_late: Callable[[], None] = lambda: None
    """Told once, when `latest_begin` first holds a game back."""
    give_up_at: float = math.inf
    """The time, in seconds since 1970, at which the games that still run are given up."""
    on_overrun: Callable[[Batch, GameOrder, TimeUp], None] = lambda batch, order, report: None
    """Told of every game that is given up then."""
    now: Callable[[], float] = time.time
    """The clock of these times."""
    on_finishing: Callable[[Collection[Running]], None] | None = None
    """Told what runs when a first Ctrl-C lets it finish; without it, the first Ctrl-C stops the run at once."""
    pauses: Callable[[], bool] = lambda: False
    """Whether no further game is to begin; asked after each game."""
    on_begin: Callable[[Batch, GameOrder], None] = lambda batch, order: None
    """Told of every game that begins."""
    on_failure: OnFailure = lambda key, sentence, *, again: None
    """Told of every game that the referee could not finish."""
    say: Callable[[str], None] = lambda line: None
    """Shows a line to people."""
    audit: Audit | None = None
    """Replays records that come from other machines."""
    on_burst: Callable[[Sequence[Record]], None] = lambda records: None
    """Receives games that arrived together, before `on_record` receives each of them: the disk takes them at once."""
    on_rate: Callable[[float], None] = lambda rate: None
    """Told how many games a second are played now, where games arrive so many at a time that nobody can count."""
    describe_limit: Callable[[int], str] = lambda slots: ""
    """Returns how long the open games can take with so many at a time, in words; empty if that is not known."""
    count_left: Callable[[], float] = lambda: math.inf
    """How many games have no record yet; about as many, where some are not wanted any more."""
