"""Games that arrive together go to the disk together, in the order in which they arrived."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import trio
import trio.testing
from msgspec.structs import replace

from malice.referee.records import Batch, BatchDone, GameBegun, Key, Record, Report
from malice.tournaments.running.coordinator import Coordinator
from malice.tournaments.running.hooks import Hooks
from malice.tournaments.running.plan import Plan
from tests.leagues import CONFIG, forfeited


class Scripted:
    """A referee process whose reports arrive in bursts, the first of them when the gate opens."""

    def __init__(self, gate: trio.Event, *bursts: Sequence[Report]) -> None:
        self.alive = True
        self._gate = gate
        self._bursts = iter(bursts)

    async def send_batch(self, batch: object) -> None:
        await trio.lowlevel.checkpoint()

    async def read_reports(self) -> Sequence[Report]:
        await self._gate.wait()
        return next(self._bursts)


def test_a_burst_is_announced_whole_and_then_game_by_game(tmp_path: Path) -> None:
    plan = Plan.prepare(CONFIG, tmp_path)
    first, second, third, fourth = (
        forfeited(plan, Key(0, 0, deal, rotation)) for rotation in range(2) for deal in range(2)
    )
    told: list[object] = []
    hooks = Hooks(
        lambda record: told.append(record.key),
        on_burst=lambda records: told.append([record.key for record in records]),
        on_begin=lambda batch, order: told.append(f"begin {order.key}"),
    )

    async def play() -> None:
        coordinator, gate = Coordinator(iter(()), hooks), trio.Event()
        batches = _make_batches(plan, [first, second], [third, fourth])
        reports: list[tuple[Sequence[Report], ...]] = [
            ([first, GameBegun(second.key), second, BatchDone()],),
            ([third], [fourth, BatchDone()]),
        ]
        async with trio.open_nursery() as nursery:
            for batch, bursts in zip(batches, reports, strict=True):
                nursery.start_soon(coordinator.play_batch, cast(Any, Scripted(gate, *bursts)), batch)
            await trio.testing.wait_all_tasks_blocked()
            gate.set()

    trio.run(play)

    bursts = [each for each in told if isinstance(each, list)]
    assert sorted(bursts[0]) == sorted([first.key, second.key, third.key]), "two processes, one burst"
    assert bursts[1:] == [[fourth.key]]
    assert told[0] == bursts[0]
    at = told.index(first.key)
    assert told[at : at + 3] == [first.key, f"begin {second.key}", second.key]
    assert told[-2:] == [[fourth.key], fourth.key]


def _make_batches(plan: Plan, *games: Sequence[Record]) -> Iterator[Batch]:
    """Yield batches of these games."""
    orders = {order.key: (batch, order) for batch in plan.open_batches(set()) for order in batch.games}
    for records in games:
        batch, _ = orders[records[0].key]
        yield replace(batch, games=tuple(orders[record.key][1] for record in records))
