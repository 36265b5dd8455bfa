"""Lets a worker leave in order: its games finish, the coordinator fetches them, and it begins no other.

`dask worker` loads this module at its start, and calls `dask_setup`.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING

from malice.tournaments.farm.station import find_station

if TYPE_CHECKING:
    from distributed import Worker

LOOK_EVERY_S = 0.2
FETCH_S = 120.0
"""How long the coordinator may take to fetch what was played last; what it has not by then is played again."""


def dask_setup(worker: Worker) -> None:
    """Wait in a thread until `malice worker` says that this one shall leave."""
    threading.Thread(target=_await_word, args=(worker,), daemon=True).start()


def _await_word(worker: Worker) -> None:
    station = find_station()
    if not os.read(station.leave_fd, 1):  # `malice worker` was killed, and so are we
        return
    station.leave()
    while not station.is_idle():
        time.sleep(LOOK_EVERY_S)
    deadline = time.monotonic() + FETCH_S
    while worker.state.tasks and time.monotonic() < deadline:  # each until its answer was fetched
        time.sleep(LOOK_EVERY_S)
    os.kill(os.getpid(), signal.SIGTERM)
