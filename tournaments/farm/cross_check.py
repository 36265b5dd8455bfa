"""Two machines, one truth: some blocks are played by a second worker, and what both played is compared.

Bots that decide by time or by chance of their own play differently anywhere. So where two workers differ, each of them
plays the block again: only what each repeats, and the other does not, is a difference of the machines.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from malice.referee.records import Key, Record
from malice.tournaments.entries.provenance import name_programs
from malice.tournaments.farm.crew import Crew, Handed, Worker, quote
from malice.tournaments.farm.work import Block
from malice.tournaments.sanitizer import sanitize

MOST_WAITING = 20
"""How many blocks may wait for another worker."""


@dataclass
class Check:
    """A block that two workers play."""

    block: Block
    first: Worker
    played: Mapping[Key, Record]
    """What the first one played, and was stored."""
    second: Worker | None = None
    other: Mapping[Key, Record] = field(default_factory=dict)
    """What the second one played."""
    repeated: set[Worker] = field(default_factory=set)
    """Those that played it twice, the same way."""

    @property
    def labels(self) -> frozenset[str]:
        """The entries at its table."""
        return frozenset(player.label for player in self.block[0].players)

    def find_player(self, crew: Crew) -> Worker | None:
        """The worker that should play it next, if one is there."""
        if self.second is None:
            others = [
                worker for worker in crew.workers.values() if worker.name != self.first.name and not worker.leaving
            ]
            return min(others, key=lambda worker: worker.fullness, default=None)
        missing = self.second if self.first in self.repeated else self.first
        return missing if crew.workers.get(missing.address) is missing else None


class CrossCheck:
    """Draws blocks, and says of which of them two workers played different games.

    Args:
        crew: the workers.
        drawn: one block of so many is played by two workers; 0 for none.
    """

    def __init__(self, crew: Crew, drawn: int) -> None:
        self._crew = crew
        self._drawn = drawn
        self._waiting: deque[Check] = deque()
        self._played: dict[int, Check] = {}
        """By the number of the task."""
        self._unsteady: set[str] = set()
        """The entries that did not play twice in the same way on one worker."""
        self._programs: dict[str, tuple[str, str]] = {}
        """By the hash of a bot: the worker that played it first, and the programs that built it there."""
        self._told: set[tuple[str, str]] = set()

    def note(self, handed: Handed, records: Sequence[Record]) -> Iterator[str]:
        """Take what a worker played for the first time; yield a warning if other programs built its bots."""
        yield from self._compare_programs(handed.worker, records)
        if not self._drawn or handed.left or len(self._crew.workers) < 2 or len(self._waiting) >= MOST_WAITING:
            return
        if secrets.randbelow(self._drawn) == 0 and len(records) == sum(len(batch.games) for batch in handed.block):
            self._waiting.append(Check(handed.block, handed.worker, {record.key: record for record in records}))

    def _compare_programs(self, worker: Worker, records: Iterable[Record]) -> Iterator[str]:
        for label, hash, build in {
            (*entry, name_programs(build))
            for record in records
            for entry, build in zip(record.entries, record.builds, strict=False)
        }:
            name, programs = self._programs.setdefault(hash, (worker.name, build))
            if programs != build and (hash, build) not in self._told:
                self._told.add((hash, build))
                yield (
                    f"warning: {sanitize(label)} was built by {sanitize(build) or 'nothing'} on"
                    f" {sanitize(worker.name)}, by {sanitize(programs) or 'nothing'} on {sanitize(name)}:"
                    " it may play differently there"
                )

    def draw_tasks(self) -> Iterator[tuple[Check, Worker]]:
        """Yield what can be handed out now, and to whom; `begin` must follow."""
        for _ in range(len(self._waiting)):
            check = self._waiting.popleft()
            if check.labels & self._unsteady:
                continue
            if worker := check.find_player(self._crew):
                yield check, worker
            elif check.second is None:
                self._waiting.append(check)  # until there is a second one

    def is_waiting(self) -> bool:
        """Whether there is something to hand out, and somebody to play it."""
        return any(check.find_player(self._crew) for check in self._waiting if not check.labels & self._unsteady)

    def begin(self, number: int, check: Check) -> None:
        """Note which task plays a block."""
        self._played[number] = check

    def drop(self, number: int) -> None:
        """Forget a task that was lost: the next block that is drawn tells as much."""
        self._played.pop(number, None)

    def take(self, number: int, worker: Worker, mine: Mapping[Key, Record]) -> str:
        """Take what a worker played of a block; return a line if two machines are not one truth."""
        check = self._played.pop(number)
        if mine.keys() != check.played.keys():
            return ""
        if check.second is None:
            check.second, check.other = worker, mine
            if find_difference(check.played, mine):
                self._waiting.append(check)
            return ""
        known = check.played if worker is check.first else check.other
        if key := find_difference(known, mine):
            self._unsteady.add(name_difference(known[key], mine[key]))
            return ""
        check.repeated.add(worker)
        if len(check.repeated) < 2:
            self._waiting.append(check)
            return ""
        return self._describe(check)

    def _describe(self, check: Check) -> str:
        assert check.second
        key = find_difference(check.played, check.other)
        assert key
        one, other = check.played[key], check.other[key]
        after = count_alike(one, other)
        told = [
            f"\n    {each.describe()}: {_describe_action(record, after)}"
            for each, record in ((check.first, one), (check.second, other))
        ]
        return (
            f"warning: two workers played game {key} differently, each of them twice in the same way;"
            f" after {after} actions:{''.join(told)}"
        )


def find_difference(one: Mapping[Key, Record], other: Mapping[Key, Record]) -> Key | None:
    """The first game that was played in two ways."""
    return next((key for key in sorted(one) if one[key].digest != other[key].digest), None)


def count_alike(one: Record, other: Record) -> int:
    """How many actions two records of a game begin with alike."""
    pairs = list(zip(one.actions, other.actions, strict=False))
    return next((index for index, (a, b) in enumerate(pairs) if a != b), len(pairs))


def name_difference(one: Record, other: Record) -> str:
    """The entry that acted first where two records of a game part."""
    index = count_alike(one, other)
    longer = max(one, other, key=lambda record: len(record.actions))
    seat = longer.actions[index][0] if index < len(longer.actions) else 0
    return longer.entries[seat][0]


def _describe_action(record: Record, index: int) -> str:
    if index >= len(record.actions):
        return "the game was over"
    seat, action = record.actions[index]
    build = record.builds[seat] if seat < len(record.builds) else ""
    return quote(f"{record.entries[seat][0]} played {action}{f' (built by {build})' if build else ''}")
