"""A cluster of Dask: the one module of the coordinator that imports it."""

from __future__ import annotations

import contextlib
import logging
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any

import msgspec
from distributed import Client, Future

from tournaments.errors import Stopped
from tournaments.farm import hand
from tournaments.farm.cluster import Answered, Event, Introduced, Unreachable
from tournaments.farm.scheduler import is_file, read_address, require_certificates
from tournaments.farm.work import Exam, ExamAnswer, Introduction, Need, Refusal, Task
from tournaments.sanitizer import sanitize

CONNECT_S = 10.0
"""How long a scheduler may take to answer at first."""
AGAIN_S = 3.0
"""How long each further try to find one may take."""
LOOK_EVERY_S = 1.0
BUSY_S = 5.0
"""How long a scheduler may take to say who is there."""
SILENT_S = 30.0
"""A worker from which the scheduler has heard nothing for so long is gone."""
ERRANDS = 8
"""How many workers are asked something at a time."""

Say = Callable[[str], None]

_encoder = msgspec.json.Encoder()


class DaskCluster:
    """The workers of a Dask scheduler; use it as a context manager.

    Args:
        scheduler: its address, such as `tcp://10.0.0.1:8786`, or the path of its file.

    Raises:
        DataError: its file is none, or there are no certificates.
        Stopped: no scheduler answers.
    """

    def __init__(self, scheduler: str) -> None:
        self.events: SimpleQueue[Event] = SimpleQueue()
        self._scheduler = scheduler
        for name in ("distributed", "distributed.client"):  # Dask gives the second a level of its own
            logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters, we say ourselves
        try:
            self._client = self._connect(CONNECT_S)
        except (OSError, TypeError, ValueError) as error:  # also what is wrong with the settings of TLS
            raise Stopped(f"{scheduler}: no scheduler answers: {error or 'time is up'}") from None
        self._futures: dict[int, Future[bytes]] = {}
        self._seen: dict[str, tuple[float, float]] = {}
        self._looked = 0.0
        self._workers = self._look()
        self._errands = ThreadPoolExecutor(ERRANDS, "errand")
        self._closed = threading.Event()
        self._lookout = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> DaskCluster:
        self._lookout.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._closed.set()
        self._errands.shutdown(wait=False, cancel_futures=True)
        with contextlib.suppress(Exception):
            self._client.close(timeout=2)

    def list_workers(self) -> Mapping[str, str]:
        """Return the names of the workers that are there, by address."""
        return self._workers

    def count_slots(self) -> int:
        """Return how many games the workers that are there play at a time, at least 1."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        slots: float = sum(worker["resources"].get("game", 0) for worker in workers)
        return max(1, round(slots))

    def introduce(self, address: str, need: Need, tars: Mapping[str, Path]) -> None:
        """Ask a worker who it is, and send it the bots that it lacks."""
        self._errands.submit(self._introduce, address, need, tars)

    def submit(self, address: str, task: Task) -> None:
        """Hand a task to a worker."""
        try:
            future = self._client.submit(
                hand.play,
                _encoder.encode(task),
                key=f"malice-{task.run}-{task.number}",
                pure=False,
                workers=[address],
                resources={"game": task.slots},
            )
        except Exception:  # whatever the client says while it is cut off
            self.events.put(Answered(task.number, None))
            return
        self._futures[task.number] = future
        future.add_done_callback(lambda future: self._take(task.number, future))

    def recall(self, numbers: Collection[int]) -> None:
        """Take tasks back."""
        futures = [future for number in numbers if (future := self._futures.pop(number, None))]
        if futures:
            self._errands.submit(self._attempt, self._client.cancel, futures, force=True)

    def finish(self, run: str) -> None:
        """Let all workers finish the games of a run that are played now."""
        self._errands.submit(self._attempt, self._client.run, hand.finish, run, on_error="ignore")

    def examine(self, exams: Sequence[Exam], need: Need, tars: Mapping[str, Path], say: Say) -> Iterator[ExamAnswer]:
        """Examine bots on the workers that are there; yield the answers in order.

        Args:
            exams: the bots.
            need: what is asked of a worker.
            tars: the tar files of the bots, by content hash.
            say: receives a line on each worker that is refused.

        Raises:
            Stopped: there is no worker that can, or all of them are gone.
        """
        fit = [
            address for address, name in self._await_workers().items() if self._suits(address, name, need, tars, say)
        ]
        if not fit:
            raise Stopped("no worker can examine these bots")
        futures = [
            self._client.submit(
                hand.examine, _encoder.encode(exam), pure=False, workers=fit, resources={"game": 1}, key=_name_exam()
            )
            for exam in exams
        ]
        try:
            for future in futures:
                while not future.done():
                    if not any(address in self._workers for address in fit):
                        raise Stopped("all workers are gone")
                    time.sleep(LOOK_EVERY_S)
                try:
                    answer = future.result()
                except Exception as error:  # the scheduler is gone, or gave up
                    raise Stopped(f"an examination was lost: {error}") from None
                yield msgspec.json.decode(answer, type=ExamAnswer)
        finally:
            self._attempt(self._client.cancel, futures, force=True)

    def _await_workers(self) -> dict[str, str]:
        deadline = time.monotonic() + CONNECT_S
        while not self._workers and time.monotonic() < deadline:
            time.sleep(LOOK_EVERY_S)
        return self._workers

    def _suits(self, address: str, name: str, need: Need, tars: Mapping[str, Path], say: Say) -> bool:
        self._introduce(address, need, tars)
        match self.events.get():
            case Introduced(_, Refusal(_, why)):
                say(f"{sanitize(name)} is refused: {why}")
            case Unreachable(_, why):
                say(f"{sanitize(name)} does not answer: {sanitize(why)}")
            case _:
                return True
        return False

    def _connect(self, timeout_s: float) -> Client:
        address = self._scheduler
        if is_file(address):
            address = read_address(Path(address), timeout_s)
        require_certificates(address, "client")
        return _Client(address, timeout=timeout_s, set_as_default=False, name="malice")  # type: ignore[no-untyped-call]

    def _watch(self) -> None:
        """Keep the list of workers up to date, and the connection alive; a new scheduler may come after a while."""
        while not self._closed.wait(LOOK_EVERY_S):
            try:
                if self._client.status != "running":
                    self._workers = {}
                    # Not left to the client: it looks for the scheduler only where that was.
                    lost, self._client = self._client, self._connect(AGAIN_S)
                    self._attempt(lost.close, timeout=0)
                self._workers = self._look()
            except Exception:  # a scheduler that is busy for a moment has lost nobody
                if time.monotonic() - self._looked >= BUSY_S:
                    self._workers = {}

    def _look(self) -> dict[str, str]:
        now, found = time.monotonic(), {}
        for address, worker in self._client.scheduler_info(n_workers=-1)["workers"].items():
            last = worker["last_seen"]
            if address not in self._seen or self._seen[address][0] != last:
                self._seen[address] = last, now
            if now - self._seen[address][1] < SILENT_S and worker["status"] == "running":
                found[address] = str(worker["name"])
        self._looked = now
        return found

    def _introduce(self, address: str, need: Need, tars: Mapping[str, Path]) -> None:
        try:
            raw = self._client.run(hand.introduce, _encoder.encode(need), workers=[address])[address]
            reply = msgspec.json.decode(raw, type=Introduction | Refusal)
            if isinstance(reply, Introduction):
                for content in reply.lacks:
                    tar = tars[content].read_bytes()
                    if why := self._client.run(hand.receive_bot, content, tar, workers=[address])[address]:
                        reply = Refusal(reply.host, why)
                        break
        except Exception as error:  # what a worker raises comes as it is
            self.events.put(Unreachable(address, f"{type(error).__name__}: {error}"))
        else:
            self.events.put(Introduced(address, reply))

    def _take(self, number: int, future: Future[bytes]) -> None:
        answer: bytes | None = None
        with contextlib.suppress(Exception):  # the worker is gone, or it was cancelled
            answer = future.result()
        self._futures.pop(number, None)
        self.events.put(Answered(number, answer))

    def _attempt(self, call: Any, *args: Any, **extra: Any) -> None:
        with contextlib.suppress(Exception):  # a scheduler that is gone has forgotten everything anyway
            call(*args, **extra)


def _name_exam() -> str:
    return f"malice-exam-{secrets.token_hex(8)}"


class _Client(Client):
    """A client that we close ourselves: one that never found its scheduler would hold up our end for a minute."""

    def __del__(self) -> None:
        pass
