"""Replays many games at a time, in processes of their own, and tells what came of them in the order of the games."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import Generic, TypeVar

import msgspec

from referee.bot import prepare_parent_death_signal
from tournaments.league.reader import LeagueReader
from tournaments.league.replaying import Piece, Replay, make_replay, read_frame, write_frame

MANY = 300
"""From how many games on processes are worth their start, about 0.3 s each."""
CHUNK = 25
"""Games that a process receives at once."""
AHEAD = 2
"""Chunks for each process that are read ahead: the memory holds no more of the games."""

T = TypeVar("T")
Chunk = tuple[list[T], Future[list[bytes]]]
_results = msgspec.msgpack.Decoder(list[bytes])


class Replayers(Generic[T]):
    """Processes that replay games; use it as a context manager, which ends them.

    A process stops at a game with which something is wrong, or dies with it. That game, and what the process left of
    its chunk, is then replayed here, so every error is raised as if there were no processes, and at the same place.

    Args:
        replay: what they do with each game.
        words: say that to `replaying`.
        games: about how many games there are; for few of them no process is started.
        jobs: the most processes; 1 for none but this one.
    """

    def __init__(self, replay: Replay[T], words: Sequence[str], games: int, jobs: int) -> None:
        self._replay = replay
        self._words = words
        self._count = min(jobs, games // CHUNK) if games >= MANY else 1
        self._processes: list[subprocess.Popen[bytes]] = []
        self._idle: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()

    def __enter__(self) -> Replayers[T]:
        if self._count > 1:
            self._threads = ThreadPoolExecutor(self._count)
            for _ in range(self._count):
                self._start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        for process in self._processes:
            process.kill()  # who waits for its answer sees the end of it
        if self._processes:
            self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            process.communicate()

    def _start(self) -> None:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tournaments.league.replaying", *self._words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # what is wrong is found again here, and told once
            start_new_session=True,  # a Ctrl-C is for us
            preexec_fn=prepare_parent_death_signal(signal.SIGKILL),
        )
        self._processes.append(process)
        self._idle.put(process)

    def replay(self, pieces: Iterable[T]) -> Iterator[tuple[T, bytes]]:
        """Yield each game with what came of it, in the order of the games.

        Raises:
            Exception: what is wrong with a game, or with the next one that was to be read, after all before it.
        """
        if not self._processes:
            for piece in pieces:
                yield piece, self._replay(piece)
            return
        waiting: deque[Chunk[T]] = deque()
        for chunk in _cut(pieces):
            if isinstance(chunk, Exception):
                yield from self._drain(waiting, 0)
                raise chunk
            waiting.append((chunk, self._threads.submit(self._ask, chunk)))
            yield from self._drain(waiting, AHEAD * self._count)
        yield from self._drain(waiting, 0)

    def _drain(self, waiting: deque[Chunk[T]], most: int) -> Iterator[tuple[T, bytes]]:
        """Yield the results of the first chunks until no more than `most` are left."""
        while len(waiting) > most:
            pieces, future = waiting.popleft()
            done = future.result()
            for number, piece in enumerate(pieces):
                yield piece, done[number] if number < len(done) else self._replay(piece)

    def _ask(self, pieces: list[T]) -> list[bytes]:
        """Let a process replay games; return what came of the first of them, as far as it got."""
        process = self._idle.get()
        assert process.stdin
        assert process.stdout
        frame = None
        with suppress(OSError):  # it is dead
            write_frame(process.stdin, pieces)
            frame = read_frame(process.stdout)
        self._idle.put(process)
        return [] if frame is None else _results.decode(frame)


def replay_rows(league: LeagueReader, work: str, games: int, jobs: int) -> Replayers[Piece]:
    """Return what replays stored games of the chosen tournament.

    Args:
        league: the league, also while this process reads a snapshot of it.
        work: what to do with each game, as in `replaying.make_replay`.
        games, jobs: as of `Replayers`.
    """
    return Replayers(make_replay(work, league), (work, str(league.path), league.tournament().name), games, jobs)


def count_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))


def _cut(pieces: Iterable[T]) -> Iterator[list[T] | Exception]:
    """Yield the games in chunks; what reading them raises comes last, after the games before it."""
    chunk: list[T] = []
    try:
        for piece in pieces:
            chunk.append(piece)
            if len(chunk) == CHUNK:
                yield chunk
                chunk = []
    except Exception as error:
        yield chunk
        yield error
        return
    if chunk:
        yield chunk
