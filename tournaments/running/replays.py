"""Replays records in processes of their own, so that whoever waits for games does not wait for replays."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType

import msgspec

from referee.records import Key, Record

Judge = Callable[[Record, str], None]
"""Receives a record and what is wrong with it; nothing, if the string is empty."""
AHEAD = 4
"""Records per process that are read ahead of their replay."""

_encoder = msgspec.json.Encoder()


@dataclass(frozen=True)
class _Job:
    record: Record
    judge: Judge


class Replays:
    """Processes that replay records; each starts when it is first needed. Use it as a context manager.

    Args:
        jobs: how many of them; 0 for as many as there are processors.
    """

    def __init__(self, jobs: int = 0) -> None:
        self._jobs = jobs or len(os.sched_getaffinity(0))
        self._waiting: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        self._open = 0

    def __enter__(self) -> Replays:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        for process in self._processes:
            process.kill()
        for _thread in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()

    def submit(self, record: Record, judge: Judge) -> None:
        """Replay a record soon; `judge` is called in another thread."""
        self._open += 1
        if len(self._threads) < min(self._jobs, self._open):
            self._start()
        self._waiting.put(_Job(record, judge))

    def find_faults(self, records: Iterable[Record]) -> Iterator[tuple[Key, str]]:
        """Replay records; yield the key of each that is wrong, and why, in no order. Memory holds a few of them."""
        judged: queue.SimpleQueue[tuple[Key, str]] = queue.SimpleQueue()
        ahead = 0
        for record in records:
            self.submit(record, lambda record, why: judged.put((record.key, why)))
            ahead += 1
            if ahead >= AHEAD * self._jobs:
                key, why = judged.get()
                ahead -= 1
                if why:
                    yield key, why
        for _ in range(ahead):
            key, why = judged.get()
            if why:
                yield key, why

    def _start(self) -> None:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tournaments.running.replayer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        thread = threading.Thread(target=self._serve, args=(process,), daemon=True)
        self._processes.append(process)
        self._threads.append(thread)
        thread.start()

    def _serve(self, process: subprocess.Popen[bytes]) -> None:
        """Let one process replay what waits, until nothing more comes."""
        assert process.stdin
        assert process.stdout
        with process, contextlib.suppress(BrokenPipeError):
            while job := self._waiting.get():
                answer = b""
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.write(_encoder.encode(job.record) + b"\n")
                    process.stdin.flush()
                    answer = process.stdout.readline()
                job.judge(job.record, msgspec.json.decode(answer, type=str) if answer else "its replay was killed")
