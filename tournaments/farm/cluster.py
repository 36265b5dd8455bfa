"""What the coordinator knows of a cluster, whatever it is made of, and under which conditions its workers play."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Protocol

from msgspec import Struct

from malice.referee.records import Record
from malice.tournaments.farm.work import Introduction, Need, Refusal, Task, Ticket


class Introduced(Struct, frozen=True):
    """A worker introduced itself, and has received the bots that it lacked; or it refused."""

    address: str
    reply: Introduction | Refusal | None
    """None if the question was lost; a worker that is still listed is asked again."""


class Answered(Struct, frozen=True):
    """A task is over."""

    number: int
    answer: bytes | None
    """A packed `Answer`, not checked yet; None if the task was lost, so that nobody knows what became of it."""


class Replayed(Struct, frozen=True):
    """A record was replayed."""

    record: Record
    why: str
    """What is wrong with it; empty if nothing is."""


class Signalled(Struct, frozen=True):
    """A signal came."""

    number: int


Event = Introduced | Answered | Replayed | Signalled


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


DRAWN = 10
"""One record of so many is replayed before it is stored."""
CROSS_CHECKED = 100
"""One block of so many is played by two workers."""
PATIENCE_S = 60.0
"""How long a run waits for a worker."""
GRACE_S = 10.0
"""How long it waits for another one if all that are there are refused, which they will be if they are asked again."""


@dataclass(frozen=True)
class Conditions:
    """Under which conditions workers play."""

    need: Need
    tickets: dict[str, Ticket]
    """By label."""
    tars: dict[str, Path]
    """By content hash, the tar files of the bots that travel."""
    min_speed: float = 0.0
    """A slower worker gets no work."""
    by_wall: bool = False
    """Whether clocks limit wall time."""
    patience_s: float = PATIENCE_S
    grace_s: float = GRACE_S
    drawn: int = DRAWN
    cross_checked: int = CROSS_CHECKED
