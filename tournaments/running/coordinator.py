"""Playing a tournament: batches to referee processes, records to the one writer."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import trio
from msgspec.structs import replace

from referee.records import Batch, BatchDone, Key, Record, RefereeFault, StderrLine
from tournaments.running.leftovers import BEAT_S, ProcessLedger
from tournaments.running.referees import RefereeProcess

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
NO_ACCOUNT = ProcessLedger(None)
TRIES = 3
"""How often a game is started before the tournament goes on without it."""


class Outcome:
    """What happened in a run: whether it was stopped, and which games could not be played."""

    def __init__(self) -> None:
        self.stopped: str | None = None
        self.given_up: dict[Key, str] = {}


def play_batches(
    batches: Iterator[Batch],
    jobs: int,
    cpus_per_game: int,
    on_record: Callable[[Record], None],
    running: ProcessLedger = NO_ACCOUNT,
    wanted: Callable[[Key], bool] = lambda key: True,
    on_stderr: Callable[[StderrLine], None] = lambda line: None,
) -> Outcome:
    """Play all batches in `jobs` referee processes; SIGINT, SIGTERM and SIGHUP stop the run in order.

    Args:
        batches: what is to be played, taken one by one.
        jobs: how many referee processes.
        cpus_per_game: processors for each of them; kept to only where there are enough for all.
        on_record: is called with every finished game, in the order in which they finish.
        running: where every process is written down while it lives.
        wanted: whether a game is still to be played; asked again after each game.
        on_stderr: takes the lines of stderr, where a batch asks for them.

    Raises:
        whatever `on_record` raises; no process is left then either.
    """
    outcome = Outcome()
    trio.run(_play, batches, _cpu_sets(jobs, cpus_per_game), on_record, running, wanted, on_stderr, outcome)
    return outcome


async def _play(
    batches: Iterator[Batch],
    cpu_sets: list[tuple[int, ...]],
    on_record: Callable[[Record], None],
    running: ProcessLedger,
    wanted: Callable[[Key], bool],
    on_stderr: Callable[[StderrLine], None],
    outcome: Outcome,
) -> None:
    # What is ignored stays ignored: that is how nohup and a shell's background jobs ask to be left alone.
    heard = [each for each in STOPS if signal.getsignal(each) != signal.SIG_IGN] or STOPS
    with trio.open_signal_receiver(*heard) as signals:
        async with trio.open_nursery() as everything:

            async def watch() -> None:
                async for number in signals:
                    outcome.stopped = signal.Signals(number).name
                    everything.cancel_scope.cancel()

            async def beat() -> None:
                while True:
                    running.beat()
                    await trio.sleep(BEAT_S)

            everything.start_soon(watch)
            everything.start_soon(beat)
            async with trio.open_nursery() as workers:
                for cpus in cpu_sets:
                    workers.start_soon(_work, batches, cpus, on_record, running, wanted, on_stderr, outcome)
            everything.cancel_scope.cancel()


async def _work(
    batches: Iterator[Batch],
    cpus: tuple[int, ...],
    on_record: Callable[[Record], None],
    running: ProcessLedger,
    wanted: Callable[[Key], bool],
    on_stderr: Callable[[StderrLine], None],
    outcome: Outcome,
) -> None:
    """Play batches until there are none, in one referee process, or a new one whenever it dies."""
    tries: dict[Key, int] = {}
    again: Batch | None = None
    while True:
        async with RefereeProcess(running) as process:
            while process.alive:
                batch = again or next(batches, None)
                if batch is None:
                    return
                batch = replace(batch, cpus=cpus)
                again = await _play_batch(process, batch, on_record, wanted, on_stderr, tries, outcome)


async def _play_batch(
    process: RefereeProcess,
    batch: Batch,
    on_record: Callable[[Record], None],
    wanted: Callable[[Key], bool],
    on_stderr: Callable[[StderrLine], None],
    tries: dict[Key, int],
    outcome: Outcome,
) -> Batch | None:
    """Play one batch; return what is left of it to be played again."""
    left = {order.key: order for order in batch.games if wanted(order.key)}
    if not left:
        return None
    batch = replace(batch, games=tuple(left.values()))
    failed: dict[Key, str] = {}
    spared: set[Key] = set()
    await process.give(batch)
    while not isinstance(report := await process.report(), BatchDone | None):
        match report:
            case Record(key=key):
                on_record(report)
                del left[key]
                if left and not any(map(wanted, left)):
                    process.alive = False  # it ends with what is left of the batch
                    return None
            case RefereeFault(key, memory=True):
                spared.add(key)
            case RefereeFault(key, sentence):
                failed[key] = sentence
            case StderrLine():
                on_stderr(report)
    if not process.alive and left:
        # It died over the first game that has neither a record nor a fault.
        over = (key for key in left if key not in failed and key not in spared)
        failed[next(over, next(iter(left)))] = await process.last_words()
    for key, sentence in failed.items():
        tries[key] = tries.get(key, 0) + 1
        if tries[key] >= TRIES:
            outcome.given_up[key] = sentence
            del left[key]
    games = (replace(order, spared=order.spared or order.key in spared) for order in left.values())
    return replace(batch, games=tuple(games)) if left else None


def _cpu_sets(jobs: int, each: int) -> list[tuple[int, ...]]:
    """Give every job processors of its own, or none where there are too few."""
    cpus = sorted(os.sched_getaffinity(0))
    if jobs * each > len(cpus):
        return [()] * jobs
    return [tuple(cpus[job * each : (job + 1) * each]) for job in range(jobs)]


def default_jobs(cpus_per_game: int) -> int:
    """Return how many games this machine can play at a time."""
    return max(1, len(os.sched_getaffinity(0)) // cpus_per_game)
