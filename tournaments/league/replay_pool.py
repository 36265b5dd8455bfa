"""Replays many games in processes of their own, and yields the results in the order of the games."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Generic, TypeVar

import msgspec

from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.league.replays import Piece, Replay, make_replay, read_frame, write_frame

MANY = 300
"""From how many games on processes are worth their start, about 0.3 s each."""
CHUNK = 25
"""Games that a process receives at once."""
AHEAD = 50
"""Games for each process that are read ahead: the memory holds no more of them."""
TRIES = 2
"""How many processes are given the same games, if they die: the first may have died of something else."""

T = TypeVar("T")
Process = subprocess.Popen[bytes]
Chunk = tuple[list[T], Future[list[bytes]]]
_results = msgspec.msgpack.Decoder(list[bytes])


class ReplayPool(Generic[T]):
    """Processes that replay games; each starts when it is first needed, and again if it dies.

    Use it as a context manager, which ends them.

    Args:
        replay: does here what no process did.
        words: say to `replaying` what to do with each game.
        count: the most processes; 0 for none but this one.
        chunk: how many games a process receives at once.
    """

    def __init__(self, replay: Replay[T], words: Sequence[str], count: int, chunk: int | None = None) -> None:
        self._replay = replay
        self._words = words
        self._count = count
        self._chunk = chunk or CHUNK
        self._threads = ThreadPoolExecutor(max(1, count))
        self._idle: queue.LifoQueue[Process | None] = queue.LifoQueue()
        for _ in range(count):
            self._idle.put(None)  # one that is not started yet
        self._processes: set[Process] = set()
        self._changing = threading.Lock()
        self._closed = False

    def __enter__(self) -> ReplayPool[T]:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._changing:
            self._closed = True
            for process in self._processes:
                process.kill()  # who waits for its answer sees the end of it
        self._threads.shutdown()
        for process in [*self._processes]:
            self._end(process)

    def submit(self, pieces: Sequence[T]) -> Future[list[bytes]]:
        """Let a process replay games; the future tells what came of the first of them, as far as it got.

        It stops at a game with which something is wrong, or dies with it.
        """
        return self._threads.submit(self._ask, msgspec.msgpack.encode(pieces))

    def replay(self, pieces: Iterable[T]) -> Iterator[tuple[T, bytes]]:
        """Yield each game with what came of it, in the order of the games.

        What no process did is done here, so every error is raised as if there were none, and at the same place.

        Raises:
            Exception: what is wrong with a game, or with the next one that was to be read, after all before it.
        """
        if not self._count:
            for piece in pieces:
                yield piece, self._replay(piece)
            return
        waiting: deque[Chunk[T]] = deque()
        for chunk in _cut(pieces, self._chunk):
            if isinstance(chunk, Exception):
                yield from self._drain(waiting, 0)
                raise chunk
            waiting.append((chunk, self.submit(chunk)))
            yield from self._drain(waiting, AHEAD // self._chunk * self._count)
        yield from self._drain(waiting, 0)

    def _drain(self, waiting: deque[Chunk[T]], most: int) -> Iterator[tuple[T, bytes]]:
        """Yield the results of the first chunks until no more than `most` are left."""
        while len(waiting) > most:
            pieces, future = waiting.popleft()
            done = future.result()
            for number, piece in enumerate(pieces):
                yield piece, done[number] if number < len(done) else self._replay(piece)

    def _ask(self, message: bytes) -> list[bytes]:
        process = self._idle.get()
        try:
            for _ in range(TRIES):
                process = process or self._start()
                if (answer := _exchange(process, message)) is not None:
                    return _results.decode(answer)
                self._end(process)
                process = None
            return []
        finally:
            self._idle.put(process)

    def _start(self) -> Process:
        with self._changing:
            if self._closed:
                raise OSError("nothing is replayed any more")
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "malice.tournaments.league.replays", *self._words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # what is wrong is found again here, and told once
                start_new_session=True,  # a Ctrl-C is for us
            )
            self._processes.add(process)
            return process

    def _end(self, process: Process) -> None:
        process.kill()
        process.communicate()
        with self._changing:
            self._processes.discard(process)


def replay_rows(league: LeagueReader, work: str, games: int, jobs: int) -> ReplayPool[Piece]:
    """Make what replays stored games of the chosen tournament.

    Args:
        league: the league, also while this process reads a snapshot of it.
        work: what to do with each game, as in `replaying.make_replay`.
        games: about how many games there are; for few of them no process is started.
        jobs: the most processes; 1 for none but this one.
    """
    words = work, str(league.path), league.tournament().name
    return ReplayPool(make_replay(work, league), words, count_processes(games, jobs))


def count_processes(games: int, jobs: int) -> int:
    """How many processes are worth their start for so many games, `jobs` at most; 0 for none but this one."""
    return min(jobs, games // CHUNK) if games >= MANY and jobs > 1 else 0


def count_processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))


def _exchange(process: Process, message: bytes) -> bytes | None:
    """Send a message and return the answer; None if the process died."""
    assert process.stdin
    assert process.stdout
    try:
        write_frame(process.stdin, message)
        return read_frame(process.stdout)
    except OSError:
        return None


def _cut(pieces: Iterable[T], most: int) -> Iterator[list[T] | Exception]:
    """Yield the games in chunks; what reading them raises comes last, after the games before it."""
    chunk: list[T] = []
    try:
        for piece in pieces:
            chunk.append(piece)
            if len(chunk) == most:
                yield chunk
                chunk = []
    except Exception as error:
        yield chunk
        yield error
        return
    if chunk:
        yield chunk
