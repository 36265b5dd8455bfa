"""A cluster behind a slow network: a scheduler and workers in one process, before them a proxy that delays and counts.

    python -m tests.slow_network FOLDER WORKERS SLOTS GAME_S

The workers need no processor: they play without bots, and say nothing for as long as each game takes. It ends after
SIGTERM; then the file `traffic.json` in the folder holds how many bytes went up to the scheduler, and down from it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import msgspec
from distributed import Scheduler, Worker, get_worker
from msgspec import Raw

from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.farm import station
from malice.tournaments.farm.dask_cluster import DaskCluster
from malice.tournaments.farm.dispatch import Farm
from malice.tournaments.farm.work import Answer, Introduction, Need, Task, pack, unpack
from malice.tournaments.farm.worker import QUIET
from malice.tournaments.league.config import Config
from malice.tournaments.running.opening import RunTerms
from tests.documents import ROOT
from tests.farms import League, play_game
from tests.processes import PATIENCE_S, POLL_S, Mark

BYTES_PER_S = 256_000 // 8
"""Each way, all connections together."""
DELAY_S = 0.15 / 2
PIECE = 4096


class Wire:
    """One direction of a line that all connections share."""

    def __init__(self) -> None:
        self.carried = 0
        """Bytes so far."""
        self._free_at = 0.0

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry what comes from one side to the other, as fast as the line is, until that side has no more."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(ConnectionError):
            while piece := await reader.read(PIECE):
                self.carried += len(piece)
                self._free_at = max(self._free_at, loop.time()) + len(piece) / BYTES_PER_S
                await asyncio.sleep(self._free_at - loop.time())
                loop.call_later(DELAY_S, writer.write, piece)
        loop.call_later(DELAY_S, writer.close)


async def introduce(need: bytes, contents: Sequence[str] = (), *tars: bytes) -> bytes:
    """Introduce a worker that has the bots that came, and no other."""
    worker = get_worker()
    has = kept[str(worker.name)]
    has |= {content for content, tar in zip(contents, tars, strict=True) if tar}
    lacks = set(msgspec.json.decode(unpack(need), type=Need).contents) - has
    slots = int(worker.state.total_resources["game"])
    return pack(Introduction("here", slots, 1, 1.0, lacks=tuple(lacks)))


async def play(task: bytes) -> bytes:
    """Play the games of a task."""
    said = msgspec.json.decode(unpack(task), type=Task)
    lines = []
    for batch in said.batches:
        for order in batch.games:
            await asyncio.sleep(game_s)
            lines.append(Raw(msgspec.json.encode(play_game(batch, order))))
    return pack(Answer(said.number, tuple(lines), game_s * len(lines)))


kept: defaultdict[str, set[str]] = defaultdict(set)
"""By worker, the content hashes of the bots that it has."""
game_s = 0.0


async def serve(folder: Path, workers: int, slots: int) -> None:
    """Run the scheduler, its workers and the proxy until SIGTERM."""
    station.introduce, station.play = introduce, play  # type: ignore[assignment]
    for call in (introduce, play):
        call.__module__ = station.__name__
    up, down, ended = Wire(), Wire(), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    async with contextlib.AsyncExitStack() as stack:
        scheduler = await stack.enter_async_context(
            Scheduler(host="127.0.0.1", port=0, dashboard_address="127.0.0.1:0")
        )
        for number in range(workers):
            worker = Worker(
                scheduler.address,
                host="127.0.0.1",
                nthreads=slots + 1,
                name=f"worker-{number}",
                resources={"game": slots},
                memory_limit=0,
            )
            await stack.enter_async_context(worker)

        async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            there = await asyncio.open_connection("127.0.0.1", scheduler.port)
            await asyncio.gather(up.carry(reader, there[1]), down.carry(there[0], writer))

        proxy = await asyncio.start_server(forward, "127.0.0.1", 0)
        draft = folder / "draft"
        draft.write_text(json.dumps({"address": f"tcp://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"}))
        draft.rename(folder / "scheduler.json")
        await ended.wait()
        (folder / "traffic.json").write_text(json.dumps([up.carried, down.carried]))
        os._exit(0)  # nobody waits for what lingers


class SlowCluster:
    """Such a cluster in a process of its own; use it as a context manager.

    Args:
        folder: where its files lie.
        workers: how many there are.
        slots: how many games each of them plays at a time.
        game_s: how long a game takes.
    """

    def __init__(self, folder: Path, workers: int, slots: int, game_s: float) -> None:
        self.file = folder / "scheduler.json"
        self._folder = folder
        self._words = [str(folder), str(workers), str(slots), str(game_s)]
        self._mark = Mark()

    def __enter__(self) -> SlowCluster:
        words = [sys.executable, "-m", "tests.slow_network", *self._words]
        with (self._folder / "slow.log").open("wb") as log:
            self._process = subprocess.Popen(words, cwd=ROOT, env=QUIET | self._mark.environ(), stdout=log, stderr=log)
        while not self.file.exists():
            assert self._process.poll() is None, (self._folder / "slow.log").read_text()
            time.sleep(POLL_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._mark.end()
        self._process.wait()

    def stop(self) -> tuple[int, int]:
        """End it; return how many bytes went up to the scheduler, and down from it."""
        self._process.terminate()
        self._process.wait(PATIENCE_S)
        return msgspec.json.decode((self._folder / "traffic.json").read_bytes(), type=tuple[int, int])


def play_far_away(league: League, config: Config, workers: int, slots: int, game_s: float = 0.0) -> tuple[int, int]:
    """Play a tournament on such a cluster; return how many bytes went up to its scheduler, and down from it."""
    kept = KeptBots(league.path)
    with SlowCluster(league.path.parent, workers, slots, game_s) as slow:
        with DaskCluster(str(slow.file)) as cluster:
            league.play(RunTerms(1, ["again"], elsewhere=Farm(cluster, kept), kept=kept), config)
        return slow.stop()


if __name__ == "__main__":
    game_s = float(sys.argv[4])
    asyncio.run(serve(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
