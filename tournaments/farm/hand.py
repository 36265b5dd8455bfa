"""What the coordinator calls in the processes of a worker; Dask finds these functions by name."""

from __future__ import annotations

import platform
from collections.abc import Callable

import msgspec

from malice.tournaments.errors import LeagueError
from malice.tournaments.farm.examining import examine as examine_bot
from malice.tournaments.farm.station import NoStation, find_station
from malice.tournaments.farm.work import Exam, Need, Refusal, Task

_encoder = msgspec.json.Encoder()


def introduce(need: bytes) -> bytes:
    """The `Introduction` or the `Refusal` of this worker, as JSON."""
    try:
        return _encoder.encode(find_station().introduce(msgspec.json.decode(need, type=Need)))
    except (NoStation, LeagueError, OSError, msgspec.MsgspecError) as error:
        return _encoder.encode(Refusal(platform.node(), str(error)))


def receive_bot(content: str, tar: bytes) -> bytes:
    """Keep the tar file of a bot on this worker; return why it cannot, as UTF-8, or nothing."""
    try:
        find_station().bots.receive(content, tar)
    except OSError as error:
        return f"it cannot keep a bot: {error}".encode()
    return b""


def play(line: bytes) -> bytes:
    """Play a `Task`; return an `Answer`."""
    task = msgspec.json.decode(line, type=Task)
    return _encoder.encode(find_station().play(task, _make_abandonment()))


def examine(line: bytes) -> bytes:
    """Carry out an `Exam`; return an `ExamAnswer`."""
    exam = msgspec.json.decode(line, type=Exam)
    return _encoder.encode(examine_bot(find_station().bots, exam, _make_abandonment()))


def _make_abandonment() -> Callable[[], bool]:
    """Make a function that says whether nobody waits any more for the task of this thread."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def is_abandoned() -> bool:
        # Read from another thread: these are the plain attributes of an object, and an old value is no harm.
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled" or worker.status.name != "running"

    return is_abandoned


def finish(run: str) -> None:
    """Let the games of a run finish, and begin no other."""
    find_station().finish(run)
