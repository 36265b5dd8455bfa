"""A client of Dask that reads what workers send as bytes, and unpickles none of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from distributed import Client, Future
from distributed.protocol.compression import decompress
from distributed.protocol.pickle import dumps
from distributed.protocol.serialize import Serialized

CALL_S = 120.0
"""How long an answer may take; a bot of 2 GiB may travel with the request."""


class OddAnswer(Exception):
    """A worker raised an exception, or returned something else than bytes; the message is in its own words."""


class SealedClient(Client):
    """Submits tasks, and calls workers; what they return is bytes.

    Dask's own client unpickles results, the types of results, exceptions, and warnings that a worker sends whenever it
    likes, and prints what a worker wishes. This one opens none of these. What the frames of Dask themselves hold is
    unpickled before anybody can look at it; but a worker reaches these only by way of the scheduler.
    """

    def start(self, **kwargs: Any) -> None:
        """Connect to the scheduler."""
        self.rpc.deserialize = False
        self.connection_args = {**self.connection_args, "deserialize": False}
        self._stream_handlers = {
            "key-in-memory": lambda key, **_: self._note(key, lambda state: state.finish()),
            "task-erred": lambda key, **_: self._note(key, lambda state: state.set_error(OddAnswer(), None)),
            "lost-data": self._handle_lost_data,
            "cancelled-keys": self._handle_cancelled_keys,
            "task-retried": self._handle_retried_key,
            "restart": self._handle_restart,
            "adjust-heartbeat-interval": self._adjust_heartbeat_intervals,
            "event": lambda **_: None,
            "error": lambda **_: None,
        }
        super().start(**kwargs)  # type: ignore[no-untyped-call]

    def _note(self, key: str, change: Callable[[Any], None]) -> None:
        if state := self.futures.get(key):
            change(state)

    def __del__(self) -> None:
        """Close nothing: we do, and a client that never found its scheduler would hold up our end for a minute."""

    def fetch(self, future: Future[Any]) -> bytes | None:
        """Fetch the result of a task that is over; None if it was lost, so that nobody knows what became of it.

        Raises:
            OddAnswer: the task raised an exception, its workers died again and again, or its result is no bytes.
        """
        if future.status == "error":
            raise OddAnswer("it raised an exception, or its workers died")
        if future.status != "finished":
            return None
        response = self._ask("gather", keys=[future.key])
        return _read_bytes(response["data"][future.key]) if response["status"] == "OK" else None

    def call(self, function: Callable[..., bytes], *args: object, worker: str) -> bytes:
        """Call a function in the process of a worker, outside of its tasks.

        Raises:
            OddAnswer: it raised an exception, or its result is no bytes.
            Exception: the worker cannot be reached.
        """
        reply = self._ask("broadcast", msg=_make_call(function, args), workers=[worker])[worker]
        if isinstance(reply, dict) and reply.get("status") == "OK":
            return _read_bytes(reply.get("result"))
        said = reply.get("exception_text") if isinstance(reply, dict) else None
        raise OddAnswer(f"it raised an exception: {said}")

    def tell_all(self, function: Callable[..., object], *args: object) -> None:
        """Call a function in all workers, whatever they answer."""
        self._ask("broadcast", msg=_make_call(function, args), on_error="ignore")

    def _ask(self, operation: str, **given: object) -> Any:
        """In the scheduler's answer all that comes from workers is still serialized."""
        return self.sync(getattr(self.scheduler, operation), callback_timeout=CALL_S, **given)  # type: ignore[no-untyped-call]


def _make_call(function: Callable[..., object], args: tuple[object, ...]) -> dict[str, object]:
    return {"op": "run", "function": dumps(function), "args": dumps(args), "kwargs": dumps({}), "wait": True}


def _read_bytes(value: object) -> bytes:
    """Take the bytes that were sent, whatever the header says that they are: none of its programs is run."""
    if not isinstance(value, Serialized):
        raise OddAnswer("expected bytes, got something else")
    try:
        frames = decompress(value.header, value.frames) if "compression" in value.header else value.frames
        return b"".join(frames)
    except Exception:  # the header is its own, too
        raise OddAnswer("expected bytes, got something else") from None
