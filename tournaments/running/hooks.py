"""What those who play batches call while they play, and what they return; the games go to the one writer that way."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from malice.referee.records import Batch, GameOrder, Key, Record, TimeUp
from malice.tournaments.running.audit import Audit
from malice.tournaments.running.leftovers import ProcessLedger

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
