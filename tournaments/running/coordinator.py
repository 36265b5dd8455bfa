"""Plays batches: sends them to referee processes, and passes the records to the one writer."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import trio
from msgspec.structs import replace

from referee.errors import FamilyError
from referee.records import Batch, BatchDone, Key, Record, RefereeFault, Report, StderrLine
from tournaments.running.leftovers import BEAT_S, ProcessLedger
from tournaments.running.referees import RefereeProcess

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
TRIES = 3
"""How often a game is started before the tournament goes on without it."""
NO_LEDGER = ProcessLedger(None)


class Outcome:
    """The outcome of a run: whether it was stopped, and which games could not be played."""

    def __init__(self) -> None:
        self.stopped: str | None = None
        self.given_up: dict[Key, str] = {}


@dataclass(frozen=True)
class Hooks:
    """What the player of batches calls while it plays."""

    on_record: Callable[[Record], None]
    """Receives every finished game, in the order in which the games finish."""
    wants: Callable[[Key], bool] = lambda key: True
    """Whether a game must still be played; asked again after each game."""
    ledger: ProcessLedger = NO_LEDGER
    """Lists every process while it lives."""


def play_batches(
    batches: Iterator[Batch],
    jobs: int,
    cpus_per_game: int,
    hooks: Hooks,
    on_stderr: Callable[[StderrLine], None] = lambda line: None,
) -> Outcome:
    """Play all batches in `jobs` referee processes; SIGINT, SIGTERM and SIGHUP stop the run in order.

    Args:
        batches: the games to play; each batch is taken when a process is free.
        jobs: the number of referee processes.
        cpus_per_game: processors for each of them; games are pinned only if there are enough for all.
        hooks: called while the games are played.
        on_stderr: receives lines of stderr from batches that ask for them.

    Raises:
        Any exception of `hooks.on_record`; no process is left in that case either.
    """
    coordinator = Coordinator(batches, hooks, on_stderr)
    trio.run(coordinator.play, _assign_cpus(jobs, cpus_per_game))
    return coordinator.outcome


class Coordinator:
    """Hands batches to referee processes, passes on their reports, and counts the games that they could not play.

    Args:
        batches: the games to play.
        hooks: called while the games are played.
        on_stderr: receives the bots' lines of stderr.
    """

    def __init__(
        self, batches: Iterator[Batch], hooks: Hooks, on_stderr: Callable[[StderrLine], None] = lambda line: None
    ) -> None:
        self.outcome = Outcome()
        self.tries: Counter[Key] = Counter()
        self._batches = batches
        self._hooks = hooks
        self._on_stderr = on_stderr

    async def play(self, cpu_sets: list[tuple[int, ...]]) -> None:
        """Play all batches, with one referee process for each set of processors."""
        # A signal that is ignored stays ignored: nohup and a shell's background jobs rely on it.
        numbers = [each for each in STOPS if signal.getsignal(each) != signal.SIG_IGN] or STOPS
        with trio.open_signal_receiver(*numbers) as signals:
            async with trio.open_nursery() as everything:

                async def watch_signals() -> None:
                    async for number in signals:
                        self.outcome.stopped = signal.Signals(number).name
                        everything.cancel_scope.cancel()

                everything.start_soon(watch_signals)
                everything.start_soon(self._beat)
                async with trio.open_nursery() as workers:
                    for cpus in cpu_sets:
                        workers.start_soon(self._work, cpus)
                everything.cancel_scope.cancel()

    async def _beat(self) -> None:
        while True:
            self._hooks.ledger.beat()
            await trio.sleep(BEAT_S)

    async def _work(self, cpus: tuple[int, ...]) -> None:
        """Play batches until none is left, in one referee process, or in a new one whenever it dies."""
        rest: Batch | None = None
        while True:
            async with RefereeProcess(self._hooks.ledger) as process:
                while process.alive:
                    batch = rest or next(self._batches, None)
                    if batch is None:
                        return
                    rest = await self.play_batch(process, replace(batch, cpus=cpus))

    async def play_batch(self, process: RefereeProcess, batch: Batch) -> Batch | None:
        """Play one batch; return the part of it that must be played again."""
        orders = {order.key: order for order in batch.games if self._hooks.wants(order.key)}
        if not orders:
            return None
        batch = replace(batch, games=tuple(orders.values()))
        failures: dict[Key, str] = {}
        spared: set[Key] = set()
        await process.send_batch(batch)
        while not isinstance(report := await process.read_report(), BatchDone | None):
            self._pass_on(report)
            match report:
                case Record(key=key):
                    del orders[key]
                    if orders and not any(map(self._hooks.wants, orders)):
                        process.alive = False  # the process ends, and with it the rest of the batch
                        return None
                case RefereeFault(key, memory=True):
                    spared.add(key)
                case RefereeFault(key, sentence):
                    failures[key] = sentence
        if not process.alive and orders:
            # It died over the first game that has neither a record nor a fault.
            unreported = (key for key in orders if key not in failures and key not in spared)
            failures[next(unreported, next(iter(orders)))] = await process.explain_death()
        for key in self._give_up(failures):
            del orders[key]
        games = (replace(order, spared=order.spared or order.key in spared) for order in orders.values())
        return replace(batch, games=tuple(games)) if orders else None

    def _pass_on(self, report: Report) -> None:
        if isinstance(report, RefereeFault) and report.rules:
            raise FamilyError(report.sentence)
        if isinstance(report, Record):
            self._hooks.on_record(report)
        elif isinstance(report, StderrLine):
            self._on_stderr(report)

    def _give_up(self, failures: dict[Key, str]) -> Iterator[Key]:
        """Count the failures; yield the games that failed too often."""
        for key, sentence in failures.items():
            self.tries[key] += 1
            if self.tries[key] >= TRIES:
                self.outcome.given_up[key] = sentence
                yield key


def _assign_cpus(jobs: int, each: int) -> list[tuple[int, ...]]:
    """Return the processors of each job; empty sets if there are too few for all."""
    cpus = sorted(os.sched_getaffinity(0))
    if jobs * each > len(cpus):
        return [()] * jobs
    return [tuple(cpus[job * each : (job + 1) * each]) for job in range(jobs)]


def default_jobs(cpus_per_game: int) -> int:
    """Return how many games this machine can play at a time."""
    return max(1, len(os.sched_getaffinity(0)) // cpus_per_game)
