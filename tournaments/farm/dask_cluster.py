"""A cluster of Dask, and a client that reads what workers send as bytes; nothing else in a run imports Dask."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import threading
import time
import warnings
from collections.abc import Callable, Collection, Coroutine, Mapping
from concurrent.futures import Future
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, TypeVar, cast
from weakref import WeakValueDictionary

import msgspec
from distributed import Client
from distributed.protocol.pickle import dumps
from distributed.protocol.serialize import Serialized
from distributed.versions import VersionMismatchWarning

from malice.referee.errors import DataError
from malice.tournaments.errors import Stopped
from malice.tournaments.farm import station
from malice.tournaments.farm.cluster import Answered, Event, Introduced
from malice.tournaments.farm.scheduler import (
    CHANGES,
    ListChanges,
    ListedWorker,
    is_file,
    offer_changes,
    read_address,
    require_protection,
)
from malice.tournaments.farm.work import Introduction, Need, Refusal, Task, pack, read_reply, unpack

CONNECT_S = 10.0
"""How long each try to find a scheduler may take."""
LOOK_EVERY_S = 1.0
BUSY_S = 30.0
"""How long a scheduler that is there may fail to say which workers are."""
CALL_S = 120.0
"""How long it may take to hand on what a worker returned, or to list its workers."""

LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application")
"""Each has a level of its own. What matters, we say ourselves; and what they say may be a worker's own words."""

MOST_LIST_BYTES = 2**24
"""What a list of workers may take, as JSON."""
RETURNED, RAISED, LOST = range(3)
T = TypeVar("T")


class SealedClient(Client):
    """Submits tasks whose results are bytes.

    Dask's own client unpickles results, the types of results, exceptions, and warnings that a worker sends whenever it
    likes, and prints what a worker wishes. This one opens none of these. What the frames of Dask themselves hold is
    unpickled before anybody can look at it; but a worker reaches these only by way of the scheduler.

    Args:
        address: that of the scheduler.
        timeout_s: how long it may take to answer.
    """

    scheduler: Any

    def __init__(self, address: str, timeout_s: float) -> None:
        self._ends: dict[str, asyncio.Future[int]] = {}
        """By key, how a task ends."""
        self._offered = False
        self.is_lost = False
        """Whether nothing comes from the scheduler any more; nobody answers then, and another client is needed."""
        super().__init__(address, timeout=timeout_s, set_as_default=False, name="malice")  # type: ignore[no-untyped-call]

    def start(self, **kwargs: Any) -> None:
        """Connect to the scheduler."""
        self.rpc.deserialize = False
        self.connection_args = {**self.connection_args, "deserialize": False}
        self._stream_handlers = {
            "key-in-memory": lambda key, **_: self._end(RETURNED, key),
            "task-erred": lambda key, **_: self._end(RAISED, key),
            "cancelled-keys": lambda keys, **_: self._end(LOST, *keys),
            "lost-data": lambda key, **_: self._end(LOST, key),
            "restart": lambda **_: self._end(LOST, *self._ends),
            "task-retried": lambda **_: None,
            "adjust-heartbeat-interval": self._adjust_heartbeat_intervals,
            "event": lambda **_: None,
            "error": lambda **_: None,
        }
        super().start(**kwargs)  # type: ignore[no-untyped-call]

    async def _handle_report(self) -> None:
        """Listen to the scheduler. Whyever that ends, all that workers are asked now is lost."""
        try:
            await super()._handle_report()
        finally:
            self.is_lost = True
            self._end(LOST, *self._ends)

    async def _reconnect(self) -> None:
        """Let the listening end: the scheduler has forgotten our tasks, and it may be elsewhere by now."""
        self.scheduler_comm = None

    def _end(self, how: int, *keys: str) -> None:
        for key in keys:
            if (end := self._ends.get(key)) and not end.done():
                end.set_result(how)

    def __del__(self) -> None:
        """Close nothing: we do, and a client that never found its scheduler would hold up our end for a minute."""

    async def ask(
        self, function: Callable[..., bytes], *args: object, workers: Collection[str], slots: int = 0
    ) -> bytes | None:
        """Let a worker call a function.

        Args:
            function: what it calls; Dask finds it by its name.
            args: what it is called with; futures of Dask are fetched by the worker, from another one if it can be.
            workers: the addresses of those that may call it.
            slots: how many slots it takes. Without any it does not wait for the games that are played there.

        Returns:
            What the function returned; nothing if it raised an exception, or returned something else than bytes. None
            if the task was lost, so that nobody knows what became of it.
        """
        if self.is_lost:
            return None
        key = f"malice-{secrets.token_hex(8)}"
        end = self._ends[key] = asyncio.get_running_loop().create_future()
        resources = {"game": slots} if slots else None
        future = self.submit(function, *args, key=key, pure=False, workers=list(workers), resources=resources)
        try:
            if (how := await end) != RETURNED:
                return b"" if how == RAISED else None
            # In the scheduler's answer all that comes from workers is still serialized.
            response = await asyncio.wait_for(self.scheduler.gather(keys=[key]), CALL_S)
            return read_bytes(response["data"][key]) if response["status"] == "OK" else None
        finally:
            del self._ends[key]
            future.release()

    def ask_scheduler(self, version: int) -> ListChanges:
        """Ask for the changes of the list of workers since a version.

        Raises:
            ValueError: the scheduler knows no malice, or another one.
        """
        if not self._offered:
            call = {"function": dumps(offer_changes), "args": dumps(()), "kwargs": dumps({}), "wait": True}
            told = self.sync(self.scheduler.run_function, callback_timeout=CALL_S, **call)  # type: ignore[no-untyped-call]
            self._offered = read_bytes(told.get("result")) == CHANGES.encode()
        asked = getattr(self.scheduler, CHANGES)
        raw = self.sync(asked, callback_timeout=CALL_S, client=self.id, version=version)  # type: ignore[no-untyped-call]
        return msgspec.json.decode(unpack(raw, MOST_LIST_BYTES), type=ListChanges)

    async def tell_all(self, function: Callable[..., object], *args: object) -> None:
        """Let all workers call a function, whatever they answer."""
        call = {"op": "run", "function": dumps(function), "args": dumps(args), "kwargs": dumps({}), "wait": True}
        await self.scheduler.broadcast(msg=call, on_error="ignore")

    @property
    def thread(self) -> asyncio.AbstractEventLoop:
        """The loop in whose thread coroutines of this client run."""
        loop: Any = self.loop
        return cast("asyncio.AbstractEventLoop", loop.asyncio_loop)


def read_bytes(value: object) -> bytes:
    """Take the bytes that were sent, whatever their header says that they are: none of its programs is run.

    What Dask has compressed is nothing: it may become larger than anybody can hold, and we compress ourselves.
    """
    if not isinstance(value, Serialized) or not isinstance(value.header, dict):
        return b""
    compression = value.header.get("compression") or ()
    if not isinstance(compression, list | tuple) or any(compression):
        return b""
    return b"".join(value.frames)


class DaskCluster:
    """The workers of a Dask scheduler; use it as a context manager.

    Args:
        scheduler: its address, such as `tls://10.0.0.1:8786`, or the path of its file.

    Raises:
        DataError: its file is none; its address is open to others, and not encrypted; there are no certificates; or
            there is another malice than here, or none.
        Stopped: no scheduler answers.
    """

    def __init__(self, scheduler: str) -> None:
        self.events: SimpleQueue[Event] = SimpleQueue()
        self._scheduler = scheduler
        for name in LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        warnings.simplefilter("ignore", VersionMismatchWarning)
        self._underway: set[Future[Any]] = set()
        """All that workers are asked now."""
        self._tasks: dict[int, Future[Any]] = {}
        self._parcels: WeakValueDictionary[str, asyncio.Task[Any]] = WeakValueDictionary()
        """By content hash, the bots that are sent now, each once, however many workers lack it."""
        self._listed: dict[str, ListedWorker] = {}
        self._version = 0
        try:
            self._client = self._connect()
        except (OSError, TypeError, ValueError) as error:  # also what is wrong with the settings of TLS
            raise Stopped(f"{scheduler}: no scheduler answers: {error or 'time is up'}") from None
        self._closed = threading.Event()
        self._looked = 0.0
        self._look()
        self._lookout = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> DaskCluster:
        self._lookout.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._closed.set()
        self._drop_all()
        with contextlib.suppress(Exception):
            self._client.close(timeout=2)  # type: ignore[no-untyped-call]

    def list_workers(self) -> Mapping[str, str]:
        """The names of the workers that are there, by address."""
        listed = {} if self._client.is_lost else self._listed
        return {address: worker.name for address, worker in listed.items()}

    def count_slots(self) -> int:
        """How many games the workers that are there play at a time, at least 1."""
        return max(1, round(sum(worker.slots for worker in self._listed.values())))

    def introduce(self, address: str, need: Need, tars: Mapping[str, Path]) -> None:
        """Ask a worker who it is, and send it the bots that it lacks."""
        told = self._introduce(self._client, address, need, tars)
        self._begin(told, lambda reply: self.events.put(Introduced(address, reply)))

    def submit(self, address: str, task: Task) -> None:
        """Hand a task to a worker."""

        def tell(answer: bytes | None) -> None:
            self._tasks.pop(task.number, None)
            self.events.put(Answered(task.number, answer))

        played = self._client.ask(station.play, pack(task), workers=[address], slots=task.slots)
        self._tasks[task.number] = self._begin(played, tell)

    def recall(self, numbers: Collection[int]) -> None:
        """Take tasks back."""
        for number in numbers:
            if task := self._tasks.get(number):
                task.cancel()

    def finish(self, run: str) -> None:
        """Let all workers finish the games of a run that are played now."""
        self._begin(self._client.tell_all(station.finish, run), lambda answer: None)

    def await_introductions(self, need: Need, tars: Mapping[str, Path]) -> Mapping[str, Introduction | Refusal]:
        """Ask all workers that are there who they are, and wait for that; wait a while for a first one."""
        deadline = time.monotonic() + CONNECT_S
        while not self._listed and time.monotonic() < deadline:
            time.sleep(LOOK_EVERY_S)
        waiting, replies = set(self.list_workers()), dict[str, Introduction | Refusal]()
        for address in waiting:
            self.introduce(address, need, tars)
        while waiting := waiting & self.list_workers().keys():
            with contextlib.suppress(Empty):
                if isinstance(told := self.events.get(timeout=LOOK_EVERY_S), Introduced):
                    waiting.discard(told.address)
                    replies |= {told.address: told.reply} if told.reply else {}
        return replies

    def call(self, function: Callable[..., bytes], said: bytes, workers: Collection[str]) -> Future[bytes | None]:
        """Let one of some workers call a function, in a slot of its own; see `SealedClient.ask`."""
        return self._begin(self._client.ask(function, said, workers=workers, slots=1), lambda answer: None)

    async def _introduce(
        self, client: SealedClient, address: str, need: Need, tars: Mapping[str, Path]
    ) -> Introduction | Refusal | None:
        raw = await client.ask(station.introduce, pack(need), workers=[address])
        reply = None if raw is None else read_reply(raw, need)
        if not isinstance(reply, Introduction) or not reply.lacks:
            return reply
        lacks = sorted(set(reply.lacks))
        parcels = [self._send(client, content, tars[content], address) for content in lacks]
        futures = [await asyncio.shield(parcel) for parcel in parcels]
        raw = await client.ask(station.introduce, pack(need), lacks, *futures, workers=[address])
        reply = None if raw is None else read_reply(raw, need)
        if isinstance(reply, Introduction) and reply.lacks:
            return Refusal(reply.host, f"it does not keep the bot that it is sent: {reply.lacks[0]}")
        return reply

    def _send(self, client: SealedClient, content: str, tar: Path, address: str) -> asyncio.Task[Any]:
        """Send a bot once, to a first worker; the others that lack it now fetch it from there, or from one another."""

        async def send() -> Any:
            parcel = {f"malice-{secrets.token_hex(8)}": await asyncio.to_thread(tar.read_bytes)}
            (future,) = (await client._scatter(parcel, workers=[address])).values()  # type: ignore[no-untyped-call]
            return future

        sent = self._parcels.get(content)
        if sent is None or (sent.done() and (sent.cancelled() or sent.exception())):
            sent = self._parcels[content] = asyncio.ensure_future(send())
        return sent

    def _begin(self, asked: Coroutine[Any, Any, T], tell: Callable[[T | None], None]) -> Future[T]:
        """Ask something on the thread of the client, and tell what came of it; None if that was lost."""
        answer: Future[T]
        try:
            answer = asyncio.run_coroutine_threadsafe(asked, self._client.thread)
        except RuntimeError as error:  # the client is cut off, and closed
            asked.close()
            answer = Future()
            answer.set_exception(error)
        self._underway.add(answer)

        def end(answer: Future[T]) -> None:
            self._underway.discard(answer)
            tell(None if answer.cancelled() or answer.exception() else answer.result())

        answer.add_done_callback(end)
        return answer

    def _drop_all(self) -> None:
        for answer in list(self._underway):
            answer.cancel()

    def _connect(self) -> SealedClient:
        address = self._scheduler
        if is_file(address):
            address = read_address(Path(address), CONNECT_S)
        require_protection(address, "client")
        client = SealedClient(address, CONNECT_S)
        try:
            require_protection(str(client.scheduler_info(n_workers=0).get("address")), "client")  # where it listens
        except DataError:
            with contextlib.suppress(Exception):
                client.close(timeout=0)  # type: ignore[no-untyped-call]
            raise
        return client

    def _watch(self) -> None:
        """Keep the list of workers up to date, and the connection alive; a new scheduler may come after a while."""
        while not self._closed.wait(LOOK_EVERY_S):
            try:
                if self._client.is_lost:
                    self._listed = {}
                    self._drop_all()
                    # Not left to the client: it looks for the scheduler only where that was.
                    lost, self._client = self._client, self._connect()
                    with contextlib.suppress(Exception):
                        lost.close(timeout=0)  # type: ignore[no-untyped-call]
                self._look()
            except Exception:  # a scheduler that is busy for a while has lost nobody
                if time.monotonic() - self._looked >= BUSY_S:
                    self._listed = {}

    def _look(self) -> None:
        """Ask the scheduler which workers came and went; it tells everything to a client that it does not know.

        Raises:
            DataError: it has another malice, or none.
        """
        try:
            changes = self._client.ask_scheduler(self._version)
        except ValueError as error:
            raise DataError(f"{self._scheduler}: expected the same malice where the scheduler runs: {error}") from None
        kept = self._listed if changes.since else {}
        self._listed = {each: kept[each] for each in kept.keys() - set(changes.gone)} | changes.came
        self._version, self._looked = changes.version, time.monotonic()
