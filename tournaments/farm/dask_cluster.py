"""A cluster of Dask: nobody else in the coordinator imports it, but for the client."""

from __future__ import annotations

import contextlib
import logging
import secrets
import threading
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Annotated, Any

import msgspec
from distributed import Future
from distributed.versions import VersionMismatchWarning
from msgspec import Meta, Struct

from malice.referee.errors import DataError
from malice.tournaments.errors import Stopped
from malice.tournaments.farm import hand
from malice.tournaments.farm.cluster import Answered, Event, Introduced, Unreachable
from malice.tournaments.farm.crew import quote
from malice.tournaments.farm.receipt import read_exam_answer, read_reply
from malice.tournaments.farm.scheduler import is_file, read_address, require_protection
from malice.tournaments.farm.sealed_client import OddAnswer, SealedClient
from malice.tournaments.farm.work import MOST_SLOTS, Exam, ExamAnswer, Introduction, Need, Refusal, Task
from malice.tournaments.sanitizer import sanitize

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

LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application")
"""Each has a level of its own. What matters, we say ourselves; and what they say may be a worker's own words."""

Say = Callable[[str], None]

_encoder = msgspec.json.Encoder()


class _Listed(Struct):
    """What we read of a worker in the list of the scheduler; most of it comes from the worker."""

    name: Annotated[str, Meta(max_length=200)] | Annotated[int, Meta(ge=0, le=2**63 - 1)]
    last_seen: float
    status: str
    resources: dict[str, Annotated[float, Meta(ge=0, le=MOST_SLOTS)]] = {}


class DaskCluster:
    """The workers of a Dask scheduler; use it as a context manager.

    Args:
        scheduler: its address, such as `tls://10.0.0.1:8786`, or the path of its file.

    Raises:
        DataError: its file is none; its address is open to others, and not encrypted; or there are no certificates.
        Stopped: no scheduler answers.
    """

    def __init__(self, scheduler: str) -> None:
        self.events: SimpleQueue[Event] = SimpleQueue()
        self._scheduler = scheduler
        for name in LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        warnings.simplefilter("ignore", VersionMismatchWarning)
        try:
            self._client = self._connect(CONNECT_S)
        except (OSError, TypeError, ValueError) as error:  # also what is wrong with the settings of TLS
            raise Stopped(f"{scheduler}: no scheduler answers: {error or 'time is up'}") from None
        self._futures: dict[int, Future[Any]] = {}
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
            self._client.close(timeout=2)  # type: ignore[no-untyped-call]

    def list_workers(self) -> Mapping[str, str]:
        """The names of the workers that are there, by address."""
        return self._workers

    def count_slots(self) -> int:
        """How many games the workers that are there play at a time, at least 1."""
        return max(1, round(sum(worker.resources.get("game", 0) for _, worker in self._list())))

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
        self._errands.submit(self._attempt, self._client.tell_all, hand.finish, run)

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
                yield self._take_exam(future)
        finally:
            self._attempt(self._client.cancel, futures, force=True)

    def _take_exam(self, future: Future[Any]) -> ExamAnswer:
        try:
            answer = self._client.fetch(future)
        except OddAnswer as error:
            return ExamAnswer(trouble=f"the worker sent no report: {error}")
        except Exception as error:  # the scheduler is gone, or gave up
            raise Stopped(f"an examination was lost: {error}") from None
        if answer is None:
            raise Stopped("an examination was lost")
        return read_exam_answer(answer)

    def _await_workers(self) -> dict[str, str]:
        deadline = time.monotonic() + CONNECT_S
        while not self._workers and time.monotonic() < deadline:
            time.sleep(LOOK_EVERY_S)
        return self._workers

    def _suits(self, address: str, name: str, need: Need, tars: Mapping[str, Path], say: Say) -> bool:
        self._introduce(address, need, tars)
        match self.events.get():
            case Introduced(_, Refusal(_, why)):
                say(f"{sanitize(name)} is refused: {quote(why)}")
            case Unreachable(_, why):
                say(f"{sanitize(name)} does not answer: {quote(why)}")
            case _:
                return True
        return False

    def _connect(self, timeout_s: float) -> SealedClient:
        address = self._scheduler
        if is_file(address):
            address = read_address(Path(address), timeout_s)
        require_protection(address, "client")
        client = SealedClient(address, timeout=timeout_s, set_as_default=False, name="malice")  # type: ignore[no-untyped-call]
        try:
            require_protection(str(client.scheduler_info(n_workers=0).get("address")), "client")  # where it listens
        except DataError:
            self._attempt(client.close, timeout=0)
            raise
        return client

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
        for address, worker in self._list():
            if address not in self._seen or self._seen[address][0] != worker.last_seen:
                self._seen[address] = worker.last_seen, now
            if now - self._seen[address][1] < SILENT_S and worker.status == "running":
                found[address] = str(worker.name)
        self._looked = now
        return found

    def _list(self) -> Iterator[tuple[str, _Listed]]:
        """Yield the workers that the scheduler lists, but for those of which it was told what cannot be."""
        for address, worker in self._client.scheduler_info(n_workers=-1)["workers"].items():
            with contextlib.suppress(msgspec.ValidationError):
                yield address, msgspec.convert(worker, _Listed)

    def _introduce(self, address: str, need: Need, tars: Mapping[str, Path]) -> None:
        try:
            reply = read_reply(self._client.call(hand.introduce, _encoder.encode(need), worker=address), need)
            if isinstance(reply, Introduction):
                for content in sorted(set(reply.lacks)):
                    tar = tars[content].read_bytes()
                    if why := self._client.call(hand.receive_bot, content, tar, worker=address):
                        reply = Refusal(reply.host, why.decode("utf-8", "replace"))
                        break
        except OddAnswer as error:
            self.events.put(Introduced(address, Refusal("", f"expected an introduction: {error}")))
        except Exception as error:  # whatever the client says while it is cut off
            self.events.put(Unreachable(address, f"{type(error).__name__}: {error}"))
        else:
            self.events.put(Introduced(address, reply))

    def _take(self, number: int, future: Future[Any]) -> None:
        answer: bytes | None = None
        with contextlib.suppress(Exception):  # the worker is gone, or it was cancelled
            try:
                answer = self._client.fetch(future)
            except OddAnswer:
                answer = b""
        self._futures.pop(number, None)
        self.events.put(Answered(number, answer))

    def _attempt(self, call: Any, *args: Any, **extra: Any) -> None:
        with contextlib.suppress(Exception):  # a scheduler that is gone has forgotten everything anyway
            call(*args, **extra)


def _name_exam() -> str:
    return f"malice-exam-{secrets.token_hex(8)}"
