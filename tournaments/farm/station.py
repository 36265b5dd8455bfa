"""What a worker is made of: its slots and their processors, its bots, and the tasks that it plays now.

The functions at the end are what the coordinator calls in the process of a worker; Dask finds them by name. `dask
worker` loads this module at its start, and calls `dask_setup`.
"""

from __future__ import annotations

import math
import os
import platform
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import msgspec
import trio
from msgspec import Raw, Struct
from msgspec.structs import replace

from malice.protocol.errors import MaliceError
from malice.referee.errors import FamilyError, GameFault
from malice.referee.families import load_family
from malice.referee.isolation.probe import explain_missing_layer
from malice.referee.records import Batch, GameOrder, Record, TimeUp
from malice.tournaments.entries.bots import Bot
from malice.tournaments.errors import LeagueError
from malice.tournaments.farm.bot_cache import BotCache, Lacking
from malice.tournaments.farm.machine import Speeds, measure_speeds
from malice.tournaments.farm.work import (
    Answer,
    Introduction,
    Need,
    Refusal,
    Task,
    pack,
    place_player,
    read_identity,
    unpack,
)
from malice.tournaments.running.announcements import find_first_error
from malice.tournaments.running.coordinator import Coordinator, RefereeProcess
from malice.tournaments.running.hooks import NO_LEDGER, Hooks, Outcome
from malice.tournaments.running.isolation import explain_weaker_isolation

if TYPE_CHECKING:
    from distributed import Worker

VARIABLE = "MALICE_WORKER"
"""The environment variable in which `malice worker` tells its processes what they are."""
MEASURE_EVERY_S = 600.0
"""How often a worker measures again how fast it is."""
RUNS_AGAIN = 5
LEAST_SEATS = 2
REST_S = 2.0
"""How long a referee process waits for another task."""
ASK_EVERY_S = 0.2
"""How often a task that is played asks whether it is still wanted."""
FETCH_S = 120.0
"""How long the coordinator may take to fetch what was played last; what it has not by then is played again."""
END_S = 5.0
"""How long a worker may take to end."""

_encoder = msgspec.json.Encoder()


class Terms(Struct, frozen=True, forbid_unknown_fields=True):
    """What `malice worker` found out about its machine."""

    cpu_sets: tuple[tuple[int, ...], ...]
    """The processors of each slot; empty if the system chooses."""
    cpus_per_slot: int
    speed: float
    cache: str
    """The folder of its bots."""
    cache_bytes: int
    wall_speed: float | None = None
    memory: int | None = None
    """How many bytes it may use, if its control group says so."""


class NoStation(MaliceError):
    """This process was not started by `malice worker`."""


@cache
def find_station() -> Station:
    """The worker that this process is.

    Raises:
        NoStation: it is none.
    """
    text = os.environ.get(VARIABLE)
    if text is None:
        raise NoStation("expected a worker that `malice worker` started, got another one")
    return Station(msgspec.json.decode(text, type=Terms))


class Referees:
    """Referee processes that rest between two tasks: to start one takes as long as some games."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._resting: dict[RefereeProcess, tuple[tuple[int, ...], threading.Timer]] = {}
        """Each with the processors to which it keeps, and with what ends it."""

    @asynccontextmanager
    async def take(self, cpus: tuple[int, ...]) -> AsyncIterator[RefereeProcess]:
        """Yield a referee process for these processors; then it rests a while, if it can."""
        process = self._wake(cpus) or await RefereeProcess(NO_LEDGER).__aenter__()
        try:
            yield process
        except BaseException:
            await process.__aexit__()
            raise
        if not process.can_rest():
            await process.__aexit__()
            return
        # A thread of its own, and no thread that starts processes: these would end with it.
        timer = threading.Timer(REST_S, self._end, (process,))
        timer.daemon = True
        with self._changing:
            self._resting[process] = cpus, timer
        timer.start()

    def _wake(self, cpus: tuple[int, ...]) -> RefereeProcess | None:
        with self._changing:
            for process, (known, timer) in self._resting.items():
                if known == cpus and process.can_rest():
                    timer.cancel()
                    del self._resting[process]
                    return process
        return None

    def _end(self, process: RefereeProcess) -> None:
        with self._changing:
            ours = self._resting.pop(process, None)
        if ours:
            trio.run(process.__aexit__)


class Station:
    """One worker process.

    Args:
        terms: what it is.
    """

    def __init__(self, terms: Terms) -> None:
        self.bots = BotCache(Path(terms.cache), terms.cache_bytes)
        self._referees = Referees()
        self._terms = terms
        self._free = list(terms.cpu_sets)
        self._changed = threading.Condition()
        self._finishing: set[str] = set()
        self._playing = 0
        """How many tasks are played, or wait for their slots."""
        self._leaving = False
        self._measured_at = time.monotonic()

    def introduce(self, need: Need) -> Introduction | Refusal:
        """What this worker is, or why it cannot play in a run."""
        terms = self._terms
        per_game = -(-need.cpus_per_game // terms.cpus_per_slot)
        if why := self._explain_refusal(need, per_game):
            return Refusal(platform.node(), why)
        warnings = [explain_weaker_isolation(need.isolation.layer), self._explain_little_memory(need, per_game)]
        return Introduction(
            host=platform.node(),
            slots=len(terms.cpu_sets),
            slots_per_game=per_game,
            speed=terms.speed,
            lacks=self.bots.find_lacking(need.contents),
            wall_speed=terms.wall_speed,
            warnings=tuple(filter(None, warnings)),
        )

    def _explain_little_memory(self, need: Need, per_game: int) -> str | None:
        """A warning if the bots of all games together may use more memory than this worker."""
        memory, games = self._terms.memory, len(self._terms.cpu_sets) // per_game
        most = games * LEAST_SEATS * need.isolation.memory_mb * 10**6
        if memory is None or most <= memory:
            return None
        return (
            f"warning: it may use {memory // 10**6} MB of memory; the bots of {games} games may use"
            f" {most // 10**6} MB (memory_mb): fewer --slots are safe"
        )

    def _explain_refusal(self, need: Need, per_game: int) -> str | None:
        if self._leaving:
            return "it was told to leave"
        if why := read_identity().explain_difference(need.malice):
            return why
        for family in need.families:
            try:
                load_family(family)
            except FamilyError as error:
                return str(error)
        slots = len(self._terms.cpu_sets)
        if per_game > slots:
            has = slots * self._terms.cpus_per_slot
            return f"a game takes {need.cpus_per_game} processors, it has {has}"
        layer = need.isolation.layer
        if need.isolation.required and (why := explain_missing_layer(layer)):
            return f"{'no sandbox' if layer == 'auto' else f'isolation {layer!r} is unavailable'}: {why}"
        return None

    def finish(self, run: str) -> None:
        """Let the games of a run finish that are played now, and begin no other."""
        self._finishing.add(run)

    def leave(self) -> None:
        """Let the games finish that are played now, and begin no other."""
        self._leaving = True

    def is_idle(self) -> bool:
        """Whether it plays nothing, and nothing waits for a slot."""
        return not self._playing

    def play(self, task: Task, is_abandoned: Callable[[], bool]) -> Answer:
        """Play a task in a referee process, or in a new one whenever it dies.

        Args:
            task: what to play.
            is_abandoned: asked now and then; once it is true, nobody waits for the answer.
        """
        with self._changed:
            self._playing += 1
        try:
            return replace(self._answer(task, is_abandoned), leaving=self._leaving)
        finally:
            with self._changed:
                self._playing -= 1

    def _answer(self, task: Task, is_abandoned: Callable[[], bool]) -> Answer:
        try:
            with ExitStack() as stack:
                if self._is_finishing(task.run):
                    return Answer(task.number)
                bots = [stack.enter_context(self.bots.hold(ticket)) for ticket in task.tickets]
                cpus = stack.enter_context(self._take_slots(task.slots))
                if is_abandoned():  # while its bots were built, or while it waited for its slots
                    return Answer(task.number)
                measured = self._measure_again(cpus)
                begin = time.monotonic()
                answer = self._play(task, bots, cpus, is_abandoned)
                return replace(answer, seconds=time.monotonic() - begin, measured=measured)
        except Lacking:
            return Answer(task.number, lacks=True)
        except (MaliceError, OSError) as error:
            return Answer(task.number, trouble=str(error))

    def _play(self, task: Task, bots: list[Bot], cpus: tuple[int, ...], is_abandoned: Callable[[], bool]) -> Answer:
        for player, bot in zip(task.batches[0].players, bots, strict=True):
            if player.hash != bot.hash:
                raise MaliceError(f"expected the bot {player.hash[:12]}, its ticket leads to {bot.hash[:12]}")
        builds = [self.bots.describe_build(ticket) for ticket in task.tickets]
        records: list[Raw] = []

        def keep(record: Record) -> None:
            records.append(Raw(_encoder.encode(record)))

        def place(batch: Batch) -> Batch:
            players = (place_player(*each) for each in zip(batch.players, bots, builds, strict=True))
            return replace(batch, players=tuple(players))

        overruns: list[TimeUp] = []

        def note_overrun(batch: Batch, order: GameOrder, report: TimeUp) -> None:
            overruns.append(report)

        latest, over = (math.inf if at is None else at for at in (task.latest, task.give_up_at))
        hooks = Hooks(
            keep,
            latest_begin=lambda batch: latest,
            on_finishing=lambda running: None,
            give_up_at=over,
            on_overrun=note_overrun,
        )
        coordinator = Coordinator(map(place, task.batches), hooks, take_referee=lambda: self._referees.take(cpus))
        try:
            outcome = _run(coordinator, cpus, partial(self._is_finishing, task.run), is_abandoned)
        except ExceptionGroup as errors:
            if isinstance(error := find_first_error(errors), GameFault):
                return Answer(task.number, tuple(records), rules=str(error))
            return Answer(task.number, tuple(records), trouble=f"{type(error).__name__}: {error}")
        given_up = tuple(outcome.given_up.items())
        return Answer(task.number, tuple(records), given_up=given_up, late=outcome.late, overruns=tuple(overruns))

    def _is_finishing(self, run: str) -> bool:
        return self._leaving or run in self._finishing

    def _measure_again(self, cpus: tuple[int, ...]) -> Speeds | None:
        """Measure how fast a slot is before it plays, if that was long ago and all others are at work."""
        with self._changed:
            if self._free or time.monotonic() - self._measured_at < MEASURE_EVERY_S:
                return None
            self._measured_at = time.monotonic()
        with suppress(MaliceError):
            return measure_speeds([cpus], runs=RUNS_AGAIN)
        return None

    @contextmanager
    def _take_slots(self, count: int) -> Iterator[tuple[int, ...]]:
        """Wait for free slots, and yield their processors."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._free) >= count)
            taken, self._free = self._free[:count], self._free[count:]
        try:
            yield tuple(cpu for cpus in taken for cpu in cpus)
        finally:
            with self._changed:
                self._free += taken
                self._changed.notify_all()


def _run(
    coordinator: Coordinator, cpus: tuple[int, ...], is_finishing: Callable[[], bool], is_abandoned: Callable[[], bool]
) -> Outcome:
    async def watch(scope: trio.CancelScope) -> None:
        while not is_abandoned():
            if is_finishing():
                coordinator.finish()
            await trio.sleep(ASK_EVERY_S)
        scope.cancel()

    async def play() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch, nursery.cancel_scope)
            await coordinator.work(0, cpus)
            nursery.cancel_scope.cancel()

    trio.run(play)
    return coordinator.outcome


def introduce(need: bytes, contents: Sequence[str] = (), *tars: bytes) -> bytes:
    """Keep the tar files of some bots, and pack the `Introduction` or the `Refusal` of this worker."""
    try:
        station = find_station()
        for content, tar in zip(contents, tars, strict=True):
            station.bots.receive(content, tar)
        return pack(station.introduce(msgspec.json.decode(unpack(need), type=Need)))
    except (NoStation, LeagueError, OSError, ValueError) as error:
        return pack(Refusal(platform.node(), str(error)))


def play(task: bytes) -> bytes:
    """Play a packed `Task`; pack the `Answer`."""
    return pack(find_station().play(msgspec.json.decode(unpack(task), type=Task), make_abandonment()))


def finish(run: str) -> None:
    """Let the games of a run finish, and begin no other."""
    find_station().finish(run)


def make_abandonment() -> Callable[[], bool]:
    """Make a function that says whether nobody waits any more for the task of this thread."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def is_abandoned() -> bool:
        # Read from another thread: these are the plain attributes of an object, and an old value is no harm.
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled" or worker.status.name != "running"

    return is_abandoned


def dask_setup(worker: Worker) -> None:
    """Let SIGTERM make this worker leave; SIGINT ends it at once."""
    leaving = threading.Thread(target=_leave, args=(worker, find_station()), daemon=True)

    def leave(number: int, frame: FrameType | None) -> None:
        if leaving.ident is None:  # the first one
            leaving.start()

    signal.signal(signal.SIGTERM, leave)


def _leave(worker: Worker, station: Station) -> None:
    """Let the games finish and the coordinator fetch them; begin no other, and end."""
    station.leave()
    while not station.is_idle():
        time.sleep(ASK_EVERY_S)
    deadline = time.monotonic() + FETCH_S
    while worker.state.tasks and time.monotonic() < deadline:  # each until its answer was fetched
        time.sleep(ASK_EVERY_S)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(END_S)
    os._exit(0)  # its scheduler closed it at the same moment, and Dask would never end
