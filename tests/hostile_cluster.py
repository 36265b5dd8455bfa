"""A scheduler, and a worker that answers calls with what nobody should unpickle; both in one process.

    python -P tests/hostile_cluster.py FOLDER

The file `way` in the folder says what the worker does: a call, a colon, and how it answers that one; it answers all
others as it should. Whatever is unpickled writes the number of the process that did it into the file `traces`.
"""

from __future__ import annotations

import asyncio
import copyreg
import json
import pickle
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from distributed import Scheduler, Worker
from distributed.protocol.serialize import dask_serialize

from malice.tournaments.farm import exams, station
from malice.tournaments.farm.work import Answer, ExamAnswer, Introduction, Need, Task, pack, unpack

FOLDER = Path(sys.argv[1])
CODE = f"__import__('os').system('echo $PPID >> {FOLDER}/traces') or Exception('trapped')"
PRINTED = "\x1b[2Jeverything is fine"


class Trap:
    """Runs code where it is unpickled."""

    def __reduce__(self) -> Any:
        return eval, (CODE,)


class TrapError(Exception):
    """Is raised, and runs code where it is unpickled."""

    def __reduce__(self) -> Any:
        return eval, (CODE,)


class Kind(type):
    """The classes of this class run code where they are unpickled themselves."""


class Kinds(metaclass=Kind):
    """Travels as bytes do, with a header that names its class."""


def _trap(_: object) -> Any:
    return eval, (CODE,)


copyreg.pickle(Kind, _trap)
dask_serialize.register(Kinds)(lambda value: ({}, [b"{}"]))  # type: ignore[no-untyped-call]


def introduce(need: bytes, contents: Sequence[str] = (), *tars: bytes) -> bytes:
    """Introduce a worker that has no bot but those that come now."""
    lacks = set(msgspec.json.decode(unpack(need), type=Need).contents) - set(contents)
    return pack(Introduction("here", 1, 1, 1.0, lacks=tuple(lacks)))


def play(task: bytes) -> bytes:
    """Play nothing."""
    return pack(Answer(msgspec.json.decode(unpack(task), type=Task).number))


def examine(exam: bytes) -> bytes:
    """Examine nothing."""
    return pack(ExamAnswer(trouble="nothing was examined"))


def finish(run: str) -> None:
    """Finish nothing."""


def corrupt(worker: Worker, call: Callable[..., bytes | None]) -> Callable[..., Any]:
    """Return a call that does what the file says."""

    def answer(*args: Any) -> Any:
        name, _, how = (FOLDER / "way").read_text().partition(":")
        if name != call.__name__:
            return call(*args)
        match how:
            case "returns":
                return Trap()
            case "raises":
                raise TrapError
            case "kind":
                return Kinds()
            case "text":
                return "no bytes"
            case "garbage":
                return b"\xff"
            case "bomb":
                return zlib.compress(bytes(2**21))
            case "tells":
                trap = pickle.dumps(Trap())
                worker.log_event("warn", {"message": trap, "category": trap})
                worker.log_event("print", {"args": (PRINTED,), "sep": None, "end": None, "file": 2, "flush": True})
        return call(*args)

    # The scheduler, in the same process, pickles it by the name under which the client does.
    answer.__module__, answer.__qualname__ = (exams if call is examine else station).__name__, call.__name__
    return answer


async def serve() -> None:
    """Run both until somebody ends this process."""
    async with (
        Scheduler(host="127.0.0.1", port=0, dashboard_address="127.0.0.1:0") as scheduler,
        Worker(scheduler.address, host="127.0.0.1", nthreads=2, name="eve", resources={"game": 1}) as worker,
    ):
        for call in (introduce, play, finish):
            setattr(station, call.__name__, corrupt(worker, call))
        exams.examine = corrupt(worker, examine)
        draft = FOLDER / "draft"
        draft.write_text(json.dumps({"address": scheduler.address}))
        draft.rename(FOLDER / "scheduler.json")
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve())
