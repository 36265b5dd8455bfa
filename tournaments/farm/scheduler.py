"""Where a scheduler is, whether nobody but its own machines can reach it, and which workers it has."""

from __future__ import annotations

import ipaddress
import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from malice.referee.errors import DataError
from malice.tournaments.farm.work import MOST_SLOTS, pack

if TYPE_CHECKING:
    from distributed import Scheduler

SCHEMES = ("tcp", "tls", "ws", "wss")
"""What an address may begin with: what Dask can speak to other processes without special hardware."""
ADDRESS = re.compile(rf"({'|'.join(SCHEMES)})://([^/\s]+):\d+")
ENCRYPTED = ("tls", "wss")
WRITING_S = 2.0
"""A file that a scheduler is about to write is whole by then."""
LOOK_EVERY_S = 0.2
SILENT_S = 30.0
"""A worker from which the scheduler has heard nothing for so long is gone."""
MEASURED = (("tick", 1000.0), ("monitor", 10_000.0))
"""What a scheduler measures of itself, and how often in milliseconds."""
TLS = "DASK_DISTRIBUTED__COMM__TLS__"
"""What the environment variables begin with in which Dask finds its certificates."""


class _SchedulerFile(Struct, frozen=True):
    """What we read of the file that `dask scheduler --scheduler-file` writes."""

    address: str


def is_file(scheduler: str) -> bool:
    """Whether a scheduler is named by its file, not by its address."""
    return "://" not in scheduler and scheduler.endswith(".json")


def is_address(text: str) -> bool:
    """Whether a text may be the address of a scheduler; Dask assumes TCP where it names no protocol."""
    return ADDRESS.fullmatch(text if "://" in text else f"tcp://{text}") is not None


def read_address(file: Path, patience_s: float) -> str:
    """Read the address in the file of a scheduler.

    Args:
        file: what `dask scheduler --scheduler-file` writes.
        patience_s: how long it may not be there yet.

    Raises:
        FileNotFoundError: it is not there.
        DataError: it is not such a file, or cannot be read.
    """
    begin = time.monotonic()
    while True:
        try:
            return _parse_address(file)
        except FileNotFoundError:
            if time.monotonic() - begin >= patience_s:
                raise
        except (OSError, ValueError) as error:
            if time.monotonic() - begin >= WRITING_S:
                why = error.strerror if isinstance(error, OSError) else error
                raise DataError(
                    f"{file}: expected what `dask scheduler --scheduler-file {file.name}` writes, got: {why}"
                ) from None
        time.sleep(LOOK_EVERY_S)


def _parse_address(file: Path) -> str:
    address = msgspec.json.decode(file.read_bytes(), type=_SchedulerFile).address
    if not ADDRESS.fullmatch(address):
        raise ValueError(f"the address {address!r}, of none of the schemes {', '.join(SCHEMES)}")
    return address


def find_loopback(address: str) -> str | None:
    """The host of an address if only this machine can reach it; no name but `localhost` is looked up."""
    found = ADDRESS.fullmatch(address if "://" in address else f"tcp://{address}")
    host = found[2].strip("[]") if found else ""
    try:
        return host if host == "localhost" or ipaddress.ip_address(host).is_loopback else None
    except ValueError:
        return None


def require_protection(address: str, role: Literal["client", "worker"]) -> None:
    """Make sure that an address is on this machine alone, or encrypted, and that Dask finds certificates then.

    Args:
        address: that of the scheduler.
        role: as what we connect to it.

    Raises:
        DataError: it is open to others; or there are no certificates, and the message names the variables.
    """
    if address.partition("://")[0] not in ENCRYPTED:
        if find_loopback(address) is None:
            raise DataError(
                f"{address}: expected TLS, such as tls://10.0.0.1:8786, or an address of this machine alone, such as"
                " tcp://127.0.0.1:8786: whoever reaches a scheduler owns it and its clients"
            )
        return
    from dask import config

    expected = ("ca-file", f"{role}.cert", f"{role}.key")
    found = {name: config.get(f"distributed.comm.tls.{name}", None) for name in expected}
    if not all(found[name] for name in expected[:2]):  # a certificate may have its key in the same file
        missing = ", ".join(_name_variable(name) for name, value in found.items() if not value)
        raise DataError(f"{address}: expected certificates for TLS, but these variables are not set: {missing}")
    for name, value in found.items():
        if value and "\n" not in value and not os.access(value, os.R_OK):  # it may be the text of a certificate, too
            raise DataError(f"{_name_variable(name)}: expected a file that can be read, got: {value!r}")


def _name_variable(name: str) -> str:
    return TLS + name.replace("-", "_").replace(".", "__").upper()


def require_usable(scheduler: str, role: Literal["client", "worker"]) -> None:
    """Make sure that what names a scheduler can be used, as far as that can be told without it.

    A file that is not there yet may come.

    Raises:
        DataError: the file is no file of a scheduler, the address is open to others, or there are no certificates.
    """
    try:
        address = read_address(Path(scheduler), 0.0) if is_file(scheduler) else scheduler
    except FileNotFoundError:
        return
    require_protection(address, role)


class ListedWorker(Struct, frozen=True):
    """A worker in the list of a scheduler; what it holds comes from the worker."""

    name: Annotated[str, Meta(max_length=200)]
    slots: Annotated[float, Meta(ge=0, le=MOST_SLOTS)]


class ListChanges(Struct, frozen=True):
    """What has changed in the list of workers."""

    since: int
    """Since which version of it; 0 if this is all of it."""
    version: int
    came: dict[str, ListedWorker]
    """By address; also those of which something else is said now."""
    gone: tuple[str, ...]


CHANGES = "malice_changes"
"""What a client asks the scheduler for."""
_told: dict[str, tuple[int, dict[str, ListedWorker]]] = {}
"""By client, the version of the list that it was told last."""


def offer_changes(dask_scheduler: Scheduler | None = None) -> bytes:
    """Let the scheduler in whose process Dask calls this tell `ListChanges`, without a line in its log each time.

    What Dask measures of itself takes time from the bots, if they play beside the scheduler: that is done less often.
    """
    assert dask_scheduler
    for name, every_ms in MEASURED:
        dask_scheduler.periodic_callbacks[name].callback_time = every_ms

    def answer(client: str, version: int) -> bytes:
        return _list_changes(dask_scheduler, client, version)

    dask_scheduler.handlers[CHANGES] = answer
    return CHANGES.encode()


def _list_changes(dask_scheduler: Scheduler, client: str, version: int) -> bytes:
    """The packed `ListChanges` of the list since a client saw a version.

    Over a slow network, the list of a large cluster would take as long as the games.
    """
    for other in _told.keys() - dask_scheduler.clients.keys():
        del _told[other]
    known, before = _told.get(client, (0, {}))
    since, before = (version, before) if version == known else (0, {})
    now = {}
    for address, worker in dask_scheduler.workers.items():
        if worker.status.name == "running" and time.time() - worker.last_seen < SILENT_S:
            listed = {"name": str(worker.name), "slots": worker.resources.get("game", 0)}
            with suppress(msgspec.ValidationError):  # it says what cannot be
                now[address] = msgspec.convert(listed, ListedWorker)
    came = {address: worker for address, worker in now.items() if before.get(address) != worker}
    gone = tuple(before.keys() - now.keys())
    if came or gone or not known:
        known += 1
    _told[client] = known, now
    return pack(ListChanges(since, known, came, gone))
