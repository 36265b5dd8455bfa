"""The workers of a run: who is there, what each has in hand, how fast they are."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from malice.referee.nouns import format_count
from malice.referee.records import Batch, GameOrder, Key
from malice.tournaments.farm.blocks import Block
from malice.tournaments.farm.work import Introduction, Measured
from malice.tournaments.running.hooks import Running
from malice.tournaments.sanitizer import sanitize

SHOWN = 2000
"""Most characters of what a worker says that are shown."""
ALIKE = 1.25
"""Workers whose factors differ by more play under unlike clocks of wall time."""

DRIFT = 1.1
"""What a factor must change by to be another one: it is good to a twentieth."""


@dataclass
class Handed:
    """A task that a worker has in hand."""

    number: int
    address: str
    block: Block
    left: dict[Key, tuple[Batch, GameOrder]]
    """Its games that have no record yet."""
    running: Running


@dataclass
class Worker:
    """A worker that may play."""

    address: str
    name: str
    introduction: Introduction
    tasks: dict[int, Handed] = field(default_factory=dict)
    games: int = 0
    """How many games it has played in this run."""
    keys: list[Key] = field(default_factory=list)
    """Those of them that were stored without a replay."""
    since: float = field(default_factory=time.monotonic)
    busy: int = 0
    """How many games it plays at a time with what it was handed."""
    measured: int = 0
    """Games of whose blocks it told how long they took."""
    seconds: float = 0.0
    """How long these took, one after the other."""
    leaving: bool = False
    """Whether it finishes what it plays, and gets no more."""

    @property
    def rate(self) -> float:
        """How many games a second it plays with what it was handed, as measured; 0 before it was."""
        return self.busy * self.measured / self.seconds if self.seconds > 0 else 0.0

    @property
    def window(self) -> int:
        """How many tasks it may have in hand: one for each game at a time, and some that wait for their turn."""
        capacity = self.introduction.capacity
        return capacity + max(1, capacity // 2)

    @property
    def fullness(self) -> float:
        """The part of its window that is in use."""
        return len(self.tasks) / self.window

    def note_load(self) -> None:
        """Note how busy it is, before answers come."""
        self.busy = min(self.introduction.capacity, len(self.tasks))

    def describe(self) -> str:
        return describe_worker(self.name, self.introduction.host)

    def note_speed(self, measured: Measured) -> str:
        """Take how fast it is now; return a line if that is another factor than before."""
        before = self.introduction
        now = replace(before, speed=measured.speed, wall_speed=measured.wall_speed)
        pairs = ((before.choose_speed(by_wall=wall), now.choose_speed(by_wall=wall)) for wall in (False, True))
        if all(max(pair) <= DRIFT * min(pair) for pair in pairs):
            return ""
        self.introduction = now
        return f"{self.describe()}: {describe_speed(now)} now, was {describe_speed(before).removeprefix('factor ')}"


def describe_speed(introduction: Introduction) -> str:
    """The factor of a worker, and that of its clock on the wall if it is another one."""
    speed, wall = introduction.speed, introduction.wall_speed
    if wall is None or wall > speed / DRIFT:
        return f"factor {speed:g}"
    return f"factor {speed:g} by CPU time, {wall:g} by wall time"


def describe_worker(name: str, host: str) -> str:
    return sanitize(name if host in name else f"{name} on {host}", SHOWN)


def quote(text: str) -> str:
    """Make what a worker says safe for people: none of its lines can pass for one of ours."""
    return sanitize(text, SHOWN, lines=True).replace("\n", "\n    ")


class Crew:
    """The workers of a run, and those that it refuses."""

    def __init__(self) -> None:
        self.workers: dict[str, Worker] = {}
        """By address: those that play."""
        self.asked: set[str] = set()
        """The addresses of those that were asked who they are, and have not answered."""
        self.refused: dict[str, str] = {}
        """By address, why a worker gets no work."""
        self.silent: dict[str, str] = {}
        """By address, why a worker could not say who it is."""
        self.banned: set[str] = set()
        """The names of those that sent a wrong answer; one that is started again has another address."""
        self.losses: Counter[str] = Counter()
        """By name, how often a worker had lost a bot that it was sent."""
        self.again = 0
        """How many games were handed out again."""
        self._departed: list[Worker] = []
        self._warned = False

    def find_roomiest(self) -> Worker | None:
        """The worker with most room for another task; None if all are full."""
        staying = (worker for worker in self.workers.values() if not worker.leaving)
        best = min(staying, key=lambda worker: worker.fullness, default=None)
        return best if best and best.fullness < 1 else None

    def list_running(self) -> list[Running]:
        return [handed.running for worker in self.workers.values() for handed in worker.tasks.values()]

    def is_stranger(self, address: str, name: str) -> bool:
        """Whether a worker should be asked who it is."""
        known = address in self.workers or address in self.asked or address in self.refused
        return not known and name not in self.banned

    def was_here(self, name: str) -> bool:
        """Whether a worker of this name played before, and went."""
        return any(worker.name == name for worker in self._departed)

    def find_refusal(self, address: str, name: str) -> str | None:
        """The line that says why a worker gets no work, whatever happens; None if that is not certain."""
        banned = f"{sanitize(name)} is refused: it sent a wrong answer" if name in self.banned else None
        return self.refused.get(address) or banned

    def remove(self, worker: Worker) -> None:
        """Forget a worker that is gone or refused."""
        del self.workers[worker.address]
        self._departed.append(worker)

    def refuse(self, address: str, who: str, why: str) -> str:
        """Give a worker no work; return a line that says so, and why, in its own words."""
        line = f"{who} is refused: {quote(why)}"
        self.refused[address] = line
        return line

    def count_slots(self) -> int:
        return sum(worker.introduction.capacity for worker in self.workers.values())

    def estimate_rate(self) -> float:
        """How many games a second all workers play, as far as it was measured."""
        return sum(worker.rate for worker in self.workers.values())

    def describe_work(self) -> str:
        """One line: who is at work, how fast each is, and what was handed out again."""
        rates = [self._describe_rate(worker) for worker in self.workers.values()]
        words = f"{format_count(len(rates), 'worker')} at work: {', '.join(rates)}" if rates else "no worker is at work"
        return f"{words}; {format_count(self.again, 'game')} handed out again" if self.again else words

    def describe_unfairness(self) -> str:
        """A warning, once, if clocks of wall time give bots more time on some workers than on others."""
        speeds = [worker.introduction.choose_speed(by_wall=True) for worker in self.workers.values()]
        if self._warned or max(speeds) <= ALIKE * min(speeds):
            return ""
        self._warned = True
        return (
            f"warning: factors from {min(speeds):g} to {max(speeds):g}, and the clocks count wall time: use workers"
            ' that are alike, or --min-factor, or kind = "cpu" in [clock]'
        )

    def list_keys(self, name: str) -> list[Key]:
        """The games from this worker that were stored without a replay."""
        named = (worker for worker in (*self._departed, *self.workers.values()) if worker.name == name)
        return [key for worker in named for key in worker.keys]

    def describe_shares(self) -> Iterator[str]:
        """Yield what each worker has played, also those that are gone; one that came back is one worker."""
        shares: Counter[str] = Counter()
        for worker in (*self._departed, *self.workers.values()):
            shares[worker.describe()] += worker.games
        for name, games in shares.items():
            if games:
                yield f"{name}: {format_count(games, 'game')}"

    def _describe_rate(self, worker: Worker) -> str:
        seconds = max(time.monotonic() - worker.since, 1e-9)
        return f"{sanitize(worker.name)} {worker.games / seconds:.1f} games/s"
