"""Packs what happened in games whose referee did not, as in leagues of an older malice: with all processors."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType

from msgspec.structs import replace

from malice.referee.records import Record
from malice.tournaments.league import replayers
from malice.tournaments.league.replayers import ReplayPool, count_processes, count_processors
from malice.tournaments.league.replaying import PACK


class Packers:
    """Fills in what records lack; use it as a context manager. Processes start once there were many such games."""

    def __init__(self) -> None:
        self._bare = 0
        self._replayers: ReplayPool[Record] | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Packers:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._stack.close()

    def fill(self, records: Sequence[Record]) -> list[Record]:
        """Return the records with their events; those of which nothing could be packed come as they are."""
        bare = [record for record in records if not record.events]
        self._bare += len(bare)
        if self._replayers is None and self._bare >= replayers.MANY:
            # Whoever shows a game that does not replay tells why, and needs what comes before that.
            count = count_processes(self._bare, count_processors())
            processes: ReplayPool[Record] = ReplayPool(lambda record: b"", (PACK,), count)
            self._replayers = self._stack.enter_context(processes)
        if self._replayers is None or not bare:
            return list(records)
        packed = {record.key: events for record, events in self._replayers.replay(bare)}
        return [replace(record, events=record.events or packed[record.key]) for record in records]
