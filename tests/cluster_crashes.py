"""A cluster of real processes whose workers, scheduler and runs are killed at moments that a seed draws."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.crashes import told
from tests.processes import POLL_S, Mark, await_end
from tests.runs import MALICE, Run

NAMES = ("ann", "bob")
VICTIMS = ("worker", "worker", "worker", "run", "run", "scheduler")


class RealCluster:
    """A scheduler and two workers on this machine; use it as a context manager.

    Args:
        folder: where the scheduler writes its file, and the workers keep their bots.
    """

    def __init__(self, folder: Path) -> None:
        self.mark = Mark()
        self.file = folder / "scheduler.json"
        self._folder = folder

    def __enter__(self) -> RealCluster:
        self.start_scheduler()
        for name in NAMES:
            words = (str(self.file), "--slots", "1", "--name", name, "--cache", "cache")
            self._start(*MALICE, "worker", *words)
        return self

    def __exit__(self, *_: object) -> None:
        self.mark.end()

    def start_scheduler(self) -> None:
        self.file.unlink(missing_ok=True)
        words = (
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(self.file),
        )
        self._start(sys.executable, "-P", "-m", "dask", *words)

    def _start(self, *words: str) -> None:
        with (self._folder / "cluster.log").open("ab") as log:
            subprocess.Popen(
                words, cwd=self._folder, env=self.mark.environ(), stdout=log, stderr=log, start_new_session=True
            )


def kill_at_random(cluster: RealCluster, run: Run, times: int, seed: int) -> Iterator[str]:
    """Kill workers, the scheduler and runs so many times; tell each time what was done, and check that all is well.

    Once the tournament is complete, it begins anew.
    """
    chance, process = random.Random(seed), None
    for number in range(times):
        if process is None or process.poll() is not None:
            process = run.start("--dask", str(cluster.file))
        before = run.count_games()
        deadline = time.monotonic() + chance.uniform(1, 12)
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(POLL_S)
        victim = chance.choice(VICTIMS)
        if victim == "run" or process.poll() is not None:
            victim = "run"
            process.kill()
            process.communicate()
            left = await_end(lambda: cluster.mark.find("malice.referee"))
            assert left == [], f"kill {number}: referees live on: {list(map(told, left))}"
            assert not run.db.exists() or run.is_whole(), f"kill {number}: the file is damaged"
        elif victim == "scheduler":
            for pid in cluster.mark.find("scheduler"):
                os.kill(pid, signal.SIGKILL)
            cluster.start_scheduler()
        elif workers := cluster.mark.find("distributed.cli.dask_worker"):
            os.kill(chance.choice(workers), signal.SIGKILL)
        yield f"killed the {victim}, {before} -> {run.count_games()} games"
        if process.returncode == 0:
            yield f"it was complete: {run.sha()}"
            run.db.unlink()
    if process is not None:
        process.kill()
        process.communicate()
