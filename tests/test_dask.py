"""What Dask does for a farm, what it leaves to us, and how little we send through a slow network."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from distributed import Client, Scheduler, Worker
from msgspec.structs import replace

from malice.referee.records import Isolation
from malice.tournaments.farm.dask_cluster import DaskCluster
from malice.tournaments.farm.work import Identity, Introduction, Need, Refusal
from malice.tournaments.league.store import Store
from tests.farms import CONFIG, GAMES, League, compute_sha
from tests.processes import PATIENCE_S
from tests.slow_network import play_far_away

NEED = Need(Identity("0", "", ""), (), Isolation("none"), 1, ())


@asynccontextmanager
async def start_cluster() -> AsyncIterator[tuple[Scheduler, Worker, Client]]:
    """A scheduler, a worker with one slot, and a client, all in this process."""
    async with (
        Scheduler(host="127.0.0.1", port=0, dashboard_address="127.0.0.1:0") as scheduler,
        Worker(scheduler.address, host="127.0.0.1", nthreads=1, resources={"game": 1}) as worker,
        Client(scheduler.address, asynchronous=True, set_as_default=False) as client,
    ):
        yield scheduler, worker, client


async def hold(number: int) -> None:
    await asyncio.Event().wait()


def test_dask_queues_only_tasks_that_take_no_slot_so_we_keep_a_window() -> None:
    async def count_queued(resources: dict[str, int]) -> int:
        async with start_cluster() as (scheduler, _, client):
            futures = client.map(hold, range(20), pure=False, resources=resources)
            while len(scheduler.tasks) < len(futures) or not scheduler.total_occupancy:
                await asyncio.sleep(0)
            return sum(task.state == "queued" for task in scheduler.tasks.values())

    assert asyncio.run(count_queued({})) > 0
    assert asyncio.run(count_queued({"game": 1})) == 0


def test_dask_gives_a_lost_task_up_as_a_whole_so_we_cut_it_into_games() -> None:
    async def lose() -> str:
        async with start_cluster() as (scheduler, worker, client):
            scheduler.allowed_failures = 0
            future = client.submit(hold, 0, retries=5, resources={"game": 1})
            while not worker.state.executing:
                await asyncio.sleep(0)
            await scheduler.remove_worker(worker.address, stimulus_id="it vanished")
            return type(await future.exception()).__name__

    assert asyncio.run(lose()) == "KilledWorker"


def test_a_task_for_workers_that_are_gone_waits_for_ever_so_we_take_it_back() -> None:
    async def lose() -> set[str]:
        async with start_cluster() as (scheduler, worker, client), Worker(scheduler.address, host="127.0.0.1"):
            futures = [client.submit(hold, 0, workers=[worker.address], pure=False)]
            while not worker.state.executing:
                await asyncio.sleep(0)
            await scheduler.remove_worker(worker.address, stimulus_id="it vanished")
            return {scheduler.tasks[future.key].state for future in futures}

    assert asyncio.run(lose()) == {"no-worker"}


@asynccontextmanager
async def connect(scheduler: Scheduler) -> AsyncIterator[DaskCluster]:
    """A cluster as a run sees it, from a thread of its own."""
    cluster = await asyncio.to_thread(DaskCluster, scheduler.address)
    try:
        yield cluster.__enter__()
    finally:
        await asyncio.to_thread(cluster.__exit__)


def test_a_scheduler_measures_itself_seldom_once_a_run_has_come() -> None:
    async def look() -> list[float]:
        async with start_cluster() as (scheduler, _, _), connect(scheduler):
            return [scheduler.periodic_callbacks[name].callback_time for name in ("tick", "monitor")]

    assert asyncio.run(look()) == [1000, 10_000]


@pytest.mark.parametrize("how", ["breaks", "ends"])
def test_what_is_asked_while_the_connection_to_the_scheduler_is_lost_is_answered(how: str) -> None:
    async def lose() -> bytes | None:
        async with start_cluster() as (scheduler, worker, client), connect(scheduler) as cluster:
            asked = cluster.call(cast("Any", hold), b"", [worker.address])
            while not worker.state.executing:
                await asyncio.sleep(0)
            (stream,) = (each for name, each in scheduler.client_comms.items() if name != client.id)
            if how == "breaks":
                stream.abort()
            else:
                stream.send({"op": "stream-closed"})
            return await asyncio.wait_for(asyncio.wrap_future(asked), PATIENCE_S)

    assert asyncio.run(lose()) is None


def test_nobody_waits_for_a_worker_that_vanishes_before_it_introduces_itself() -> None:
    async def lose() -> Mapping[str, Introduction | Refusal]:
        async with start_cluster() as (scheduler, worker, client), connect(scheduler) as cluster:
            held = client.submit(hold, 0)
            while not worker.state.executing:
                await asyncio.sleep(0)
            asked = asyncio.create_task(asyncio.to_thread(cluster.await_introductions, NEED, {}))
            while len(scheduler.tasks) < 2:
                await asyncio.sleep(0)
            await scheduler.remove_worker(worker.address, stimulus_id="it vanished")
            del held
            return await asyncio.wait_for(asked, PATIENCE_S)

    assert asyncio.run(lose()) == {}


def test_through_a_slow_network_bots_travel_once_and_records_compressed(tmp_path: Path) -> None:
    """Four workers with two slots each: 256 kbit/s each way, 150 ms there and back."""
    bulk, league = 100_000, League(tmp_path)
    for name in ("greedy", "uniform"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.toml").write_text(f'name = "{name}"\nrun = ["./weights"]\n')
        (tmp_path / name / "weights").write_bytes(os.urandom(bulk // 2))
    config = replace(CONFIG, entries=("./greedy", "./uniform"), deals=GAMES // 2)
    up, down = play_far_away(league, config, workers=4, slots=2)

    assert league.sha() == compute_sha(league, config)
    said = league.out.getvalue()
    assert said.count(" plays 2 games at a time") == 4
    assert bulk < up < 2 * bulk, "each of four workers lacked both bots"
    with Store(league.path) as store:
        plain = sum(len(msgspec.json.encode(record)) for record in store.records())
    assert down < plain / 2
