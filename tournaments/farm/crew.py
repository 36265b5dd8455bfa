"""The workers of a run: who plays, what each has in hand, how fast they are, and who is refused."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from msgspec.structs import replace

from malice.referee.nouns import format_count
from malice.referee.records import Batch, GameOrder, Key
from malice.tournaments.errors import Stopped
from malice.tournaments.farm.cluster import Cluster, Conditions
from malice.tournaments.farm.machine import Speeds
from malice.tournaments.farm.work import Block, Introduction, Refusal
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
    worker: Worker
    block: Block
    left: dict[Key, tuple[Batch, GameOrder]]
    """Its games that have no record yet."""
    running: Running
    begun_at: float | None = None
    """Since when it is played, as far as one can tell; None while it waits for a slot."""

    def count_ahead(self, game_s: float, now: float) -> float:
        """About how many of its games are still to be played, if each takes so long: it answers for all at once."""
        played = 0.0 if self.begun_at is None else (now - self.begun_at) / game_s
        return max(0.0, len(self.left) - played)


@dataclass(eq=False)
class Worker:
    """A worker that may play; one that comes back is another one."""

    address: str
    name: str
    introduction: Introduction
    tasks: dict[int, Handed] = field(default_factory=dict)
    games: int = 0
    """How many games it has played in this run."""
    keys: list[Key] = field(default_factory=list)
    """Those of them that were stored without a replay."""
    since: float = field(default_factory=time.monotonic)
    leaving: bool = False
    """Whether it finishes what it plays, and gets no more."""

    def give(self, handed: Handed) -> None:
        """Put a task at the end of those in hand."""
        self.tasks[handed.number] = handed
        self._note_begun()

    def drop(self, handed: Handed) -> None:
        """Take away a task that it plays no more."""
        self.tasks.pop(handed.number, None)
        self._note_begun()

    def _note_begun(self) -> None:
        """Take it that the eldest tasks are played, one in each slot."""
        for handed in islice(self.tasks.values(), self.introduction.capacity):
            if handed.begun_at is None:
                handed.begun_at = time.monotonic()

    def count_ahead(self, game_s: float) -> float:
        """About how many games each of its slots has still to play, if each takes so long."""
        now = time.monotonic()
        return sum(handed.count_ahead(game_s, now) for handed in self.tasks.values()) / self.introduction.capacity

    @property
    def fullness(self) -> float:
        """The part in use of its window: a task for each game at a time, and some that wait for their turn."""
        capacity = self.introduction.capacity
        return len(self.tasks) / (capacity + max(1, capacity // 2))

    def describe(self) -> str:
        return describe_worker(self.name, self.introduction.host)

    def note_speed(self, measured: Speeds) -> str:
        """Take how fast it is now; return a line if that is another factor than before."""
        before = self.introduction
        now = replace(before, speed=measured.cpu, wall_speed=measured.wall)
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
    """The workers of a run: newcomers are asked who they are, and play or are refused.

    Args:
        cluster: where they come from.
        conditions: what is asked of them.
        say: receives a line on each worker that joins, returns, or is refused.
        describe_limit: returns how long the open games can take with so many at a time, in words, if that is known.
    """

    def __init__(
        self, cluster: Cluster, conditions: Conditions, say: Callable[[str], None], describe_limit: Callable[[int], str]
    ) -> None:
        self.workers: dict[str, Worker] = {}
        """By address: those that play."""
        self.banned: set[str] = set()
        """The names of those that sent a wrong answer; one that is started again has another address."""
        self.losses: Counter[str] = Counter()
        """By name, how often a worker had lost a bot that it was sent."""
        self.again = 0
        """How many games were handed out again."""
        self._cluster = cluster
        self._conditions = conditions
        self._say = say
        self._describe_limit = describe_limit
        self._listed: Mapping[str, str] = {}
        self._asked: set[str] = set()
        """The addresses of those that were asked who they are, and have not answered."""
        self._refused: dict[str, str] = {}
        """By address, why a worker gets no work."""
        self._departed: list[Worker] = []
        self._warned = False
        self._alone_since = self._hopeful_at = time.monotonic()

    # Who comes and goes

    def look_around(self) -> list[Worker]:
        """Ask newcomers who they are; return the workers that are gone."""
        self._listed = listed = self._cluster.list_workers()
        self._asked &= listed.keys()
        known = self.workers.keys() | self._asked | self._refused.keys()
        for address, name in listed.items():
            if address not in known and name not in self.banned:
                self._asked.add(address)
                self._cluster.introduce(address, self._conditions.need, self._conditions.tars)
        return [worker for address, worker in self.workers.items() if address not in listed]

    def require_workers(self) -> None:
        """Make sure that somebody plays, or may soon.

        Raises:
            Stopped: there was no worker for too long, or those that are there stay refused.
        """
        now, patience_s, grace_s = time.monotonic(), self._conditions.patience_s, self._conditions.grace_s
        refused = [line for each in self._listed.items() if (line := self._find_refusal(*each))]
        playing = any(worker.tasks or not worker.leaving for worker in self.workers.values())
        if playing or self._asked:  # over a slow network, bots travel longer than that
            self._alone_since = now
        if self.workers or not refused or len(refused) < len(self._listed):
            self._hopeful_at = now
        if now - self._hopeful_at >= grace_s:
            raise Stopped(f"every worker is refused, and no other came within {grace_s:g} s{_list_lines(refused)}")
        if now - self._alone_since >= patience_s:
            raise Stopped(f"no worker for {patience_s:g} s{_list_lines(self._refused.values())}")

    def _find_refusal(self, address: str, name: str) -> str | None:
        """The line that says why a worker gets no work, whatever happens; None if that is not certain."""
        banned = f"{sanitize(name)} is refused: it sent a wrong answer" if name in self.banned else None
        return self._refused.get(address) or banned

    def welcome(self, address: str, reply: Introduction | Refusal | None) -> None:
        """Let a worker play, or say why it does not; one whose answer was lost is asked again."""
        name = self._cluster.list_workers().get(address)
        if name is None or address not in self._asked:
            return
        self._asked.discard(address)
        if isinstance(reply, Refusal):
            self.refuse(address, describe_worker(name, reply.host), reply.why)
        elif reply:
            speed, least = reply.choose_speed(by_wall=self._conditions.by_wall), self._conditions.min_speed
            if speed < least:
                by_wall = " by wall time" if speed != reply.speed else ""
                why = f"its factor is {speed:g}{by_wall}, expected at least {least:g}"
                self.refuse(address, describe_worker(name, reply.host), why)
            else:
                self._take_on(Worker(address, name, reply))

    def _take_on(self, worker: Worker) -> None:
        introduction, back = worker.introduction, any(each.name == worker.name for each in self._departed)
        self.workers[worker.address] = worker
        games = format_count(introduction.capacity, "game")
        slots = self.count_slots()
        limit = self._describe_limit(slots)
        self._say(
            f"{worker.describe()} {'is back, and ' if back else ''}plays {games} at a time,"
            f" {describe_speed(introduction)}; now {slots} at a time{f', {limit}' if limit else ''}"
        )
        for warning in introduction.warnings:
            self._say(f"{worker.describe()}: {quote(warning)}")
        speeds = [each.introduction.choose_speed(by_wall=True) for each in self.workers.values()]
        if self._conditions.by_wall and not self._warned and max(speeds) > ALIKE * min(speeds):
            self._warned = True
            self._say(
                f"warning: factors from {min(speeds):g} to {max(speeds):g}, and the clocks count wall time: use workers"
                ' that are alike, or --min-factor, or kind = "cpu" in [clock]'
            )

    def remove(self, worker: Worker) -> None:
        """Forget a worker that is gone or refused."""
        del self.workers[worker.address]
        self._departed.append(worker)

    def refuse(self, address: str, who: str, why: str) -> None:
        """Give a worker no work, and say why, in its own words."""
        self._refused[address] = f"{who} is refused: {quote(why)}"
        self._say(self._refused[address])

    # What they do

    def find_roomiest(self, game_s: float) -> Worker | None:
        """The worker with most room for another task, of several the one that is through first; None if all are full.

        Args:
            game_s: how long a game takes.
        """
        staying = [worker for worker in self.workers.values() if not worker.leaving and worker.fullness < 1]
        return min(staying, key=lambda worker: (worker.fullness, worker.count_ahead(game_s)), default=None)

    def count_slots(self) -> int:
        """How many games all of them can play at a time."""
        return sum(worker.introduction.capacity for worker in self.workers.values())

    def list_running(self) -> list[Running]:
        return [handed.running for worker in self.workers.values() for handed in worker.tasks.values()]

    def count_played(self) -> int:
        """How many games are played at a time now."""
        return sum(min(worker.introduction.capacity, len(worker.tasks)) for worker in self.workers.values())

    def describe_work(self) -> str:
        """One line: who is at work, how fast each is, and what was handed out again."""
        now = time.monotonic()
        rates = [
            f"{sanitize(each.name)} {each.games / max(now - each.since, 1e-9):.1f} games/s"
            for each in self.workers.values()
        ]
        words = f"{format_count(len(rates), 'worker')} at work: {', '.join(rates)}" if rates else "no worker is at work"
        return f"{words}; {format_count(self.again, 'game')} handed out again" if self.again else words

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


def _list_lines(lines: Iterable[str]) -> str:
    """Lines as they follow a sentence, each once: a worker that was started again has another address."""
    return "".join(f"\n  {line}" for line in dict.fromkeys(lines))
