"""Starts a worker: measures this machine, then keeps a `dask worker` running until it is told to end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

import msgspec

from malice.referee.bot import prepare_parent_death_signal
from malice.tournaments.entries.builds import print_progress
from malice.tournaments.errors import Stopped
from malice.tournaments.farm.machine import ALL, Allowance
from malice.tournaments.farm.scheduler import find_loopback, is_file, read_address, require_protection
from malice.tournaments.farm.station import END_S, VARIABLE, Terms

CONNECT_S = 60
"""How long a scheduler may be away."""
PAUSE_S = 1.0
FAILURES = 5
"""How often in a row a worker may end at once with an error; each pause is twice as long, so that takes a minute."""

QUIET = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "1m",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
}
"""What Dask measures of itself takes time from the bots."""


def choose_slots(
    slots: int, cpus_per_slot: int, cpus: Sequence[int], allowance: Allowance = ALL
) -> tuple[tuple[int, ...], ...]:
    """Choose the processors of each slot; empty sets let the system choose, if there are too few or too many.

    Where a worker leaves processors to others, such as a second worker of this machine, nobody knows which they
    take.

    Args:
        slots: how many; 0 for as many as there are processors for.
        cpus_per_slot: how many processors each has.
        cpus: those that we may use.
        allowance: how much of them, and of the memory.
    """
    most = len(cpus) // cpus_per_slot
    slots = slots or allowance.bound_slots(max(1, most), cpus_per_slot)
    if slots != most:
        return ((),) * slots
    return tuple(tuple(cpus[first : first + cpus_per_slot]) for first in range(0, slots * cpus_per_slot, cpus_per_slot))


def run_worker(scheduler: str, name: str, terms: Terms, patience_s: float = CONNECT_S, dashboard: str = "") -> None:
    """Run `dask worker` until Ctrl-C or SIGHUP; start it again when its scheduler was away, or it died.

    So it needs no nanny, which would take another process. After a first SIGTERM its games finish.

    Args:
        scheduler: the address of the scheduler, or the path of its file.
        name: what the worker is called.
        terms: what it is.
        patience_s: how long a scheduler may be away.
        dashboard: where Dask shows its own pages, as an address and a port; nowhere if it is empty.

    Raises:
        DataError: the file is no file of a scheduler, its address is open to others, or there are no certificates.
        Stopped: for so long no scheduler answered, or for a minute none took it.
    """
    failures = 0
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            began = time.monotonic()
            address = _find_scheduler(scheduler, patience_s)
            process = _start(list_words(address, name, terms, patience_s, dashboard), terms)
            with _leave_on_sigterm(process) as leaving:
                try:
                    code = process.wait()
                finally:
                    _end(process)
            if leaving.is_set():
                return
            lived = time.monotonic() - began
            if was_unanswered(code, lived, patience_s):
                raise Stopped(f"{scheduler}: no scheduler answered for {patience_s:g} s")
            failures = failures + 1 if code > 0 and lived < CONNECT_S else 0
            if failures > FAILURES:
                raise Stopped(f"{scheduler}: did not take the worker {name!r}, as said above; is that name taken?")
            time.sleep(PAUSE_S * 2**failures)


@contextlib.contextmanager
def _leave_on_sigterm(process: subprocess.Popen[bytes]) -> Iterator[threading.Event]:
    """Hand a first SIGTERM on to a `dask worker`, which leaves then; a second one ends it. Yield whether one came."""
    asked, before = threading.Event(), signal.getsignal(signal.SIGTERM)

    def leave(number: int, frame: FrameType | None) -> None:
        asked.set()
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        process.terminate()
        print_progress("leaving: the games that are played finish; once more ends them")

    if before != signal.SIG_IGN:
        signal.signal(signal.SIGTERM, leave)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGTERM, before)


def was_unanswered(code: int, seconds: float, patience_s: float = CONNECT_S) -> bool:
    """Whether a `dask worker` ended because it never found its scheduler.

    One that found it ends in order when it loses it. One that was killed, or crashed, may have lived for any
    time.

    Args:
        code: its exit code, negative after a signal.
        seconds: how long it lived.
        patience_s: how long it looked for one.
    """
    return code > 0 and patience_s <= seconds < 2 * patience_s


def _find_scheduler(scheduler: str, patience_s: float) -> str:
    """Find the address of a scheduler that may be known by its file; wait for that file a while."""
    try:
        address = read_address(Path(scheduler), patience_s) if is_file(scheduler) else scheduler
    except FileNotFoundError:
        raise Stopped(f"{scheduler}: no such file for {patience_s:g} s") from None
    require_protection(address, "worker")
    if find_loopback(address):
        require_protection(ask_address(address, patience_s), "worker")  # where it listens
    return address


def ask_address(address: str, patience_s: float = CONNECT_S) -> str:
    """Ask a scheduler where it listens; wait for it a while.

    Raises:
        Stopped: no scheduler answers.
    """
    from distributed.core import rpc

    async def ask() -> str:
        async with rpc(address if "://" in address else f"tcp://{address}") as scheduler:
            return str((await scheduler.identity(n_workers=0))["address"])

    deadline = time.monotonic() + patience_s
    while True:
        try:
            return asyncio.run(asyncio.wait_for(ask(), max(PAUSE_S, deadline - time.monotonic())))
        except (OSError, TimeoutError):
            if time.monotonic() >= deadline:
                raise Stopped(f"{address}: no scheduler answered for {patience_s:g} s") from None
        time.sleep(PAUSE_S)


def list_words(address: str, name: str, terms: Terms, patience_s: float = CONNECT_S, dashboard: str = "") -> list[str]:
    """Spell the command of a `dask worker` with these slots; beside a scheduler on loopback, it listens there too."""
    slots = len(terms.cpu_sets)
    where = [address, "--host", host] if (host := find_loopback(address)) else [address]
    words = [sys.executable, "-P", "-m", "distributed.cli.dask_worker", *where, "--name", name, "--no-nanny"]
    # One thread more than there are slots, so that a worker that plays can still be asked who it is.
    words += ["--nthreads", str(slots + 1), "--resources", f"game={slots}"]
    # The bots have limits of their own, and what we hold ourselves is small.
    words += ["--memory-limit", "0", "--death-timeout", f"{patience_s:g}"]
    # Without a dashboard it still serves a few pages, by default to everybody.
    words += ["--dashboard" if dashboard else "--no-dashboard", "--dashboard-address", dashboard or "127.0.0.1:0"]
    words += ["--preload", "malice.tournaments.farm.station"]
    return [*words, "--local-directory", str(Path(terms.cache) / "dask")]


def _start(words: Sequence[str], terms: Terms) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        words,
        env=QUIET | os.environ | {VARIABLE: msgspec.json.encode(terms).decode()},
        start_new_session=True,
        preexec_fn=prepare_parent_death_signal(signal.SIGINT),
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a worker in order, or else at once; nothing of it stays."""
    process.send_signal(signal.SIGINT)  # after SIGTERM it would first play on
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
