"""Plays batches: starts referee processes, sends them batches, and passes their records to the one writer."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import IO

import msgspec
import trio
from msgspec.structs import replace

from malice.referee.bot import kill_group, prepare_parent_death_signal, read_start_time
from malice.referee.errors import GameFault
from malice.referee.records import (
    Batch,
    BatchDone,
    EndBatch,
    GameBegun,
    GameOrder,
    Key,
    Record,
    RefereeFault,
    Report,
    Started,
    StderrLine,
    TimeUp,
)
from malice.tournaments.running.hooks import Hooks, Outcome, Running
from malice.tournaments.running.leftovers import BEAT_S, ProcessLedger

END_WAIT_S = 0.5
"""How long a referee may take to end its bots once its input is closed."""

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Report] = msgspec.json.Decoder(Report)


class RefereeProcess:
    """One referee process; use it as an async context manager.

    Args:
        ledger: lists it and its bots while they live.
    """

    def __init__(self, ledger: ProcessLedger) -> None:
        self.alive = True
        self.gave_up = False
        """Whether its time was up, so that its end is nobody's failure."""
        self._has_begun = False
        self._ledger = ledger
        self._pending = b""
        self._bots: list[Started] = []
        self._sending = trio.Lock()

    async def __aenter__(self) -> RefereeProcess:
        # Not with trio, which starts processes in a thread: the parent-death signal comes when that thread ends. The
        # end of its input would not be enough either: the process reads it only after its imports.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "malice.referee"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # Ctrl-C in the terminal reaches only us; we end the referee in order
            preexec_fn=prepare_parent_death_signal(signal.SIGTERM),
        )
        self._ledger.add(Started(self._process.pid, read_start_time(self._process.pid) or 0))
        self._pidfd = os.pidfd_open(self._process.pid)
        self._stdin, self._stdout, self._stderr = map(
            _open_stream, (self._process.stdin, self._process.stdout, self._process.stderr)
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        with trio.CancelScope(shield=True):
            await self._stdin.aclose()
            if not self._has_begun:  # it may still import its modules, and would read the end of its input only then
                self._process.terminate()
            with trio.move_on_after(END_WAIT_S):
                await self._wait()
            if self._process.returncode is None:
                self._process.kill()
                await self._wait()
            await self._stdout.aclose()
            await self._stderr.aclose()
        os.close(self._pidfd)
        self._end_bots()
        self._ledger.remove(self._process.pid)

    def can_rest(self) -> bool:
        """Whether it is between two batches, and may play another one later."""
        return self.alive and not self.gave_up and not self._bots and self._process.poll() is None

    async def _wait(self) -> int:
        """Wait for the process to end; return its exit status."""
        await trio.lowlevel.wait_readable(self._pidfd)
        return self._process.wait()

    async def send_batch(self, batch: Batch) -> None:
        """Send a batch; its reports follow."""
        await self._send(batch)

    async def end_batch(self) -> None:
        """Let the batch end after its running game; without a batch this has no effect."""
        await self._send(EndBatch())

    def give_up(self) -> None:
        """Let the process give up its game, tell of it and end."""
        self.gave_up = True
        self._signal(signal.SIGUSR1)

    def kill(self) -> None:
        """End the process at once; its bots end when this context does."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)

    async def _send(self, order: Batch | EndBatch) -> None:
        # Reading its reports shows that a process is dead.
        with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            async with self._sending:
                await self._stdin.send_all(_encoder.encode(order) + b"\n")

    async def read_reports(self) -> list[Report]:
        """Wait for reports: at least one; none once the process is dead.

        What comes after the end of a batch belongs to the next one, which has not been sent yet.
        """
        while lines := await self._read_lines():
            self._has_begun = True
            reports = [report for line in lines if not self._notes_bot(report := _decoder.decode(line))]
            if any(isinstance(report, BatchDone) for report in reports):
                self._forget_bots()
            if reports:
                return reports
        self.alive = False
        return []

    def _notes_bot(self, report: Report) -> bool:
        """Tell whether a report is on a bot that was started; if so, note the bot."""
        if not isinstance(report, Started):
            return False
        self._bots.append(report)
        self._ledger.add(report)
        return True

    async def _read_lines(self) -> list[bytes]:
        """Wait for complete lines: at least one; none at the end."""
        while True:
            data = await self._stdout.receive_some()
            if not data:
                return []
            *lines, self._pending = (self._pending + data).split(b"\n")
            if lines:
                return lines

    async def explain_death(self) -> str:
        """Say why the process died: its exit status and the end of its stderr."""
        stderr = b""
        with trio.move_on_after(END_WAIT_S):
            async for data in self._stderr:
                stderr = (stderr + data)[-2000:]
            await self._wait()
        return f"the referee process ended ({self._process.returncode}): {stderr.decode('utf-8', 'replace').strip()}"

    def _end_bots(self) -> None:
        """Kill the bots that a dead referee left; skip a number that was reused, as its start time shows."""
        for bot in self._bots:
            # A group may outlive its leader; the kernel does not reuse its number before the group is empty.
            if read_start_time(bot.pid) in (bot.start_time, None):
                kill_group(bot.pid)
        self._forget_bots()

    def _forget_bots(self) -> None:
        for bot in self._bots:
            self._ledger.remove(bot.pid)
        self._bots.clear()


def _open_stream(pipe: IO[bytes] | None) -> trio.lowlevel.FdStream:
    """A stream that takes over the descriptor of a pipe."""
    assert pipe
    with pipe:
        return trio.lowlevel.FdStream(os.dup(pipe.fileno()))


STOP = signal.SIGUSR1
"""What `malice stop` sends: what a shell runs in the background ignores SIGINT."""
GENTLE = (signal.SIGINT, STOP)
"""The first of these lets the running games finish."""
STOPS = (*GENTLE, signal.SIGTERM, signal.SIGHUP)
GIVE_UP_S = 10.0
"""How long a referee may take to give up its game."""
TRIES = 3
"""How often a game is started before the tournament goes on without it."""


def name_stop(number: int) -> str:
    return "malice stop" if number == STOP else signal.Signals(number).name


def play_batches(
    batches: Iterator[Batch],
    jobs: int,
    cpus_per_game: int,
    hooks: Hooks,
    on_stderr: Callable[[StderrLine], None] = lambda line: None,
) -> Outcome:
    """Play all batches in `jobs` referee processes; the signals of `STOPS` stop the run in order.

    With `hooks.on_finishing`, the first of `GENTLE` lets the running games finish; any further signal stops at once.

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
        take_referee: makes the context in which a referee process plays; by default it starts one, and ends it.
    """

    def __init__(
        self,
        batches: Iterator[Batch],
        hooks: Hooks,
        on_stderr: Callable[[StderrLine], None] = lambda line: None,
        take_referee: Callable[[], AbstractAsyncContextManager[RefereeProcess]] | None = None,
    ) -> None:
        self.outcome = Outcome()
        self.tries: Counter[Key] = Counter()
        self._batches = batches
        self._hooks = hooks
        self._on_stderr = on_stderr
        self._take_referee = take_referee or (lambda: RefereeProcess(hooks.ledger))
        self._running: dict[int, Running] = {}
        self._taking = trio.Lock()
        self._next: Batch | None = None
        self._arrived: list[Record] = []
        self._finishing = False
        """Whether a first Ctrl-C came."""
        self._ending = trio.Event()
        self._changed = trio.Event()

    async def play(self, cpu_sets: list[tuple[int, ...]]) -> None:
        """Play all batches, with one referee process for each set of processors."""
        # A signal that is ignored stays ignored: nohup and a shell's background jobs rely on it.
        numbers = [each for each in STOPS if signal.getsignal(each) != signal.SIG_IGN] or STOPS
        with trio.open_signal_receiver(*numbers) as signals:
            async with trio.open_nursery() as everything:

                async def watch_signals() -> None:
                    async for number in signals:
                        self.outcome.stopped = name_stop(number)
                        if number not in GENTLE or not self.finish():
                            everything.cancel_scope.cancel()

                everything.start_soon(watch_signals)
                everything.start_soon(self._beat)
                async with trio.open_nursery() as workers:
                    for job, cpus in enumerate(cpu_sets):
                        workers.start_soon(self.work, job, cpus)
                everything.cancel_scope.cancel()

    async def _beat(self) -> None:
        while True:
            self._hooks.ledger.beat()
            await trio.sleep(BEAT_S)

    def finish(self) -> bool:
        """Let no further game begin; return False if nothing runs, or if this was done before."""
        if self._hooks.on_finishing is None or self._finishing or not self._running:
            return False
        self._finishing = True
        self._ending.set()
        self._tell_change()
        self._hooks.on_finishing(self._running.values())
        return True

    async def work(self, job: int, cpus: tuple[int, ...]) -> None:
        """Play batches until none is left, in one referee process, or in a new one whenever it dies."""
        rest: Batch | None = None
        while True:
            async with self._take_referee() as process:
                while process.alive:
                    if rest is None or not self._has_time(rest):
                        self._running.pop(job, None)
                        self._tell_change()
                        rest = await self._take()
                    if rest is None:
                        return
                    self._running[job] = Running(rest, {order.key for order in rest.games})
                    rest = await self.play_batch(process, replace(rest, cpus=cpus))

    async def _take(self) -> Batch | None:
        """Wait until the next batch may begin, and return it; None if none is left."""
        async with self._taking:
            while not self._ending.is_set() and (batch := self._next or next(self._batches, None)):
                self._next = None
                if not self._has_time(batch):
                    continue
                if not self._running or self._hooks.may_begin(batch, self._running.values()):
                    return batch
                self._next = batch
                await self._changed.wait()
        return None

    def _has_time(self, batch: Batch) -> bool:
        if self._hooks.now() >= self._hooks.latest_begin(batch):
            self._note_late()
            return False
        return not self._ending.is_set()

    def _note_late(self) -> None:
        if not self.outcome.late:
            self.outcome.late = True
            self._hooks.on_late()

    def _tell_change(self) -> None:
        """Let a waiting worker ask again whether its batch may begin."""
        self._changed.set()
        self._changed = trio.Event()

    async def _end_in_time(self, process: RefereeProcess, batch: Batch) -> None:
        """End the batch before its next game once no further game may begin; give up the running one in the end."""
        while not self._ending.is_set() and (left := self._hooks.latest_begin(batch) - self._hooks.now()) > 0:
            # In short steps, since somebody may set the clock.
            with trio.move_on_after(min(left, BEAT_S)):
                await self._ending.wait()
        await process.end_batch()
        if not self._ending.is_set():
            self._note_late()
        while (left := self._hooks.give_up_at - self._hooks.now()) > 0:
            await trio.sleep(min(left, BEAT_S))
        process.give_up()
        await trio.sleep(GIVE_UP_S)
        process.kill()

    async def play_batch(self, process: RefereeProcess, batch: Batch) -> Batch | None:
        """Play one batch; return the part of it that must be played again."""
        orders = {order.key: order for order in batch.games if self._hooks.wants(order.key)}
        if not orders:
            return None
        batch = replace(batch, games=tuple(orders.values()))
        await process.send_batch(batch)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._end_in_time, process, batch)
            games = await self._follow(process, batch, orders)
            nursery.cancel_scope.cancel()
        return replace(batch, games=games) if games else None

    async def _follow(
        self, process: RefereeProcess, batch: Batch, orders: dict[Key, GameOrder]
    ) -> tuple[GameOrder, ...]:
        """Pass on the reports of a batch until it is over; return the games that must be played again."""
        failures: dict[Key, str] = {}
        spared: set[Key] = set()
        over = False
        while not over and (reports := await process.read_reports()):
            records = [report for report in reports if isinstance(report, Record)]
            await self._announce(records)
            for report in reports:
                self._pass_on(report)
                match report:
                    case GameBegun(key):
                        self._hooks.on_begin(batch, orders[key])
                    case Record(key=key):
                        del orders[key]
                    case RefereeFault(key, sentence, memory=True):
                        spared.add(key)
                        self._hooks.on_failure(key, sentence, again=True)
                    case RefereeFault(key, sentence):
                        failures[key] = sentence
                    case TimeUp(key) if key in orders:
                        self._hooks.on_overrun(batch, orders.pop(key), report)
                    case BatchDone():
                        over = True
            if records and orders and not over and not any(map(self._hooks.wants, orders)):
                process.alive = False  # the process ends, and with it the rest of the batch
                return ()
        if not process.alive and orders and not process.gave_up:
            # It died over the first game that has neither a record nor a fault.
            unreported = (key for key in orders if key not in failures and key not in spared)
            failures[next(unreported, next(iter(orders)))] = await process.explain_death()
        for key in self._give_up(failures):
            del orders[key]
        return tuple(replace(order, spared=order.spared or order.key in spared) for order in orders.values())

    async def _announce(self, records: Sequence[Record]) -> None:
        """Pass on the games that arrived together, from all processes, as one burst."""
        if not records:
            return
        self._arrived += records
        # Let the others read what lies in their pipes; twice, since some of them only notice by then.
        for _ in range(2):
            await trio.lowlevel.cancel_shielded_checkpoint()
        if self._arrived:
            burst, self._arrived = self._arrived, []
            self._hooks.on_burst(burst)

    def _pass_on(self, report: Report) -> None:
        if isinstance(report, RefereeFault) and report.rules:
            raise GameFault(report.sentence, report.report)
        if isinstance(report, Record):
            self._hooks.on_record(report)
            for running in self._running.values():
                running.left.discard(report.key)
            if not self._ending.is_set() and self._hooks.pauses():
                self.outcome.paused = True
                self._ending.set()
            self._tell_change()
        elif isinstance(report, StderrLine):
            self._on_stderr(report)

    def _give_up(self, failures: dict[Key, str]) -> Iterator[Key]:
        """Count the failures; yield the games that failed too often."""
        for key, sentence in failures.items():
            self.tries[key] += 1
            self._hooks.on_failure(key, sentence, again=self.tries[key] < TRIES)
            if self.tries[key] >= TRIES:
                self.outcome.given_up[key] = sentence
                yield key


def _assign_cpus(jobs: int, each: int) -> list[tuple[int, ...]]:
    """The processors of each job; empty sets if there are too few for all."""
    cpus = sorted(os.sched_getaffinity(0))
    if jobs * each > len(cpus):
        return [()] * jobs
    return [tuple(cpus[job * each : (job + 1) * each]) for job in range(jobs)]


def count_default_jobs(cpus_per_game: int) -> int:
    """As many games as this machine can play at a time."""
    return max(1, len(os.sched_getaffinity(0)) // cpus_per_game)
