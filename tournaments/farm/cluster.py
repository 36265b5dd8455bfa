"""What the coordinator knows of a cluster, whatever it is made of."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Protocol

from msgspec import Struct

from malice.referee.records import Record
from malice.tournaments.farm.work import Introduction, Need, Refusal, Task


class Introduced(Struct, frozen=True):
    """A worker introduced itself, and has received the bots that it lacked; or it refused."""

    address: str
    reply: Introduction | Refusal


class Unreachable(Struct, frozen=True):
    """A worker could not be asked who it is; it is asked again while it is listed."""

    address: str
    why: str


class Answered(Struct, frozen=True):
    """A task is over."""

    number: int
    answer: bytes | None
    """An `Answer` as JSON, not checked yet; None if the task was lost, so that nobody knows what became of it."""


class Replayed(Struct, frozen=True):
    """A record was replayed."""

    record: Record
    why: str
    """What is wrong with it; empty if nothing is."""


class Signalled(Struct, frozen=True):
    """A signal came."""

    number: int


Event = Introduced | Unreachable | Answered | Replayed | Signalled


class Cluster(Protocol):
    """Workers that come and go. Nothing here waits: what happens is put into `events`."""

    events: SimpleQueue[Event]

    def list_workers(self) -> Mapping[str, str]:
        """The names of the workers that are there, by address."""

    def introduce(self, address: str, need: Need, tars: Mapping[str, Path]) -> None:
        """Ask a worker who it is, and send it the bots that it lacks.

        Args:
            address: the worker.
            need: what the run asks of it.
            tars: the tar files of bots, by content hash.
        """

    def submit(self, address: str, task: Task) -> None:
        """Hand a task to a worker."""

    def recall(self, numbers: Collection[int]) -> None:
        """Take tasks back; of most of them, no answer comes."""

    def finish(self, run: str) -> None:
        """Let all workers finish the games of a run that are played now."""
