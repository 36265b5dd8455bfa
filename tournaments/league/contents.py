"""What a league holds of a tournament: its entries, and its games with the times of their actions."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, NamedTuple, overload

from msgspec import Meta, Struct

from malice.protocol.messages import ClockRules
from malice.referee.records import Count, Key, Milliseconds, Record, Speed, Time
from malice.referee.replay import VERDICT
from malice.referee.rulesets import Ruleset
from malice.tournaments.league.config import Config
from malice.tournaments.league.journal import Absence, State, Version
from malice.tournaments.league.parts import Part, Schedule

if TYPE_CHECKING:
    from malice.tournaments.league.counting import SequentialTest
    from malice.tournaments.league.formats.decisions import FormatInput
    from malice.tournaments.league.tournament import Tournament

Times = Annotated[str, Meta(pattern=r"^[0-9:, ]*\Z")]
"""Seat by seat, separated by spaces: the first bucket, a colon, and the counts, separated by commas: `6:69,51 7:50`."""


class ActionTimes(NamedTuple):
    """How many actions of a seat took how long: a count for each power of two of microseconds.

    The bucket of an action is the bit length of its microseconds: bucket 0 holds 0, bucket 1 holds 1,
    bucket 2 holds 2 and 3, bucket 11 holds 1024 to 2047. Verdicts are left out.
    """

    first: int
    """The number of the first bucket that is not empty; 0 without actions."""
    counts: tuple[int, ...]
    """From that bucket to the last one that is not empty."""


MOST_BUCKETS = 65
"""As many as any number in JSON needs."""


def count_times(record: Record) -> str:
    """The times of a record, as `parse_times` reads them."""
    buckets = [[0] * MOST_BUCKETS for _ in record.entries]
    for (seat, action), micros in zip(record.actions, record.micros, strict=False):
        if action[:1] != VERDICT:
            buckets[seat][micros.bit_length()] += 1
    return " ".join(map(_format_buckets, buckets))


def _format_buckets(buckets: Sequence[int]) -> str:
    used = [bucket for bucket, count in enumerate(buckets) if count]
    return f"{used[0]}:{','.join(map(str, buckets[used[0] : used[-1] + 1]))}" if used else "0:"


def parse_times(times: str) -> list[ActionTimes]:
    """Parse the times of each seat.

    Raises:
        ValueError: `times` does not come from `count_times`.
    """
    return [_parse_seat(seat) for seat in times.split()]


def _parse_seat(seat: str) -> ActionTimes:
    first, _, counts = seat.partition(":")
    return ActionTimes(int(first), tuple(map(int, counts.split(","))) if counts else ())


Points = Annotated[int, Meta(ge=-(2**53), le=2**53)]
Reason = Annotated[str, Meta(min_length=1, max_length=100)]
Readmission = tuple[str, int]
"""A label, and the number of the game that suspended it: that suspension is lifted."""


NO_VERSION = Version("", 0, "", "", "", "", "", (), ())
"""Stands in for the version of an entry if none could be started so far, or if it is secret."""


class Entry(Struct, frozen=True):
    """A competitor under its label, as the newest file has it."""

    label: str
    version: Version
    """The one that plays."""
    absence: Absence | None = None
    """Why its open games wait, or why an older version plays; None if all is well."""
    state: State = "playing"
    """What the organiser decided about it."""
    reason: str = ""
    """Why, in the organiser's words."""
    waits: bool = False
    """Whether its open games wait until the bot is mended."""
    overruns: int = 0
    """Games that were given up when a run was out of time, and in which this entry had used most of it."""


class Finished(Struct, frozen=True, gc=False):
    """What matters of a finished game when the next games are chosen."""

    key: Key
    number: Count
    """Its place in playing order, counted through the whole league."""
    labels: tuple[str, ...]
    """In the order of the table, or by seat."""
    failed: tuple[str, ...]
    """The labels of those that ended it by a verdict."""
    points: tuple[int, ...] = ()
    """In the same order, of a game of two: 2 half points for a win, 1 for a draw; empty if nothing depends on them."""
    once: bool = False
    """As in `GameSummary`."""

    @property
    def rotations(self) -> int:
        """How many games its deal has."""
        return 1 if self.once else len(self.labels)


class FinishedGames(Sequence[Finished]):
    """Finished games in playing order, of parts whose results decide nothing: 8 bytes each, for a number names a game.

    Args:
        schedules: those of the parts of the tournament, by number.
    """

    def __init__(self, schedules: Sequence[Schedule]) -> None:
        self.numbers = array("q")
        self.failed: dict[int, tuple[str, ...]] = {}
        """By number, the labels of those who ended a game by a verdict, where anybody did."""
        self._schedules = schedules

    def append_number(self, number: int, failed: tuple[str, ...] = ()) -> None:
        """As `append`, of the game with this number."""
        self.numbers.append(number)
        if failed:
            self.failed[number] = failed

    def append(self, game: Finished) -> None:
        """Add the next game."""
        self.append_number(game.number, game.failed)

    def extend(self, games: Iterable[Finished]) -> None:
        """Add the next games."""
        if isinstance(games, FinishedGames):
            self.numbers.extend(games.numbers)
            self.failed |= games.failed
            return
        for game in games:
            self.append(game)

    def split(self) -> dict[int, FinishedGames]:
        """The games of each part that has any."""
        found: dict[int, FinishedGames] = {}
        for schedule in self._schedules:
            first = schedule.part.first
            begin, end = (bisect_left(self.numbers, number) for number in (first, first + schedule.total))
            if begin < end:
                mine = found[schedule.part.number] = FinishedGames(self._schedules)
                mine.numbers = self.numbers[begin:end]
                numbers = (number for number in self.failed if first <= number < first + schedule.total)
                mine.failed = {number: self.failed[number] for number in numbers}
        return found

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Finished]:
        return map(self._make, self.numbers)

    @overload
    def __getitem__(self, place: int) -> Finished: ...
    @overload
    def __getitem__(self, place: slice) -> list[Finished]: ...
    def __getitem__(self, place: int | slice) -> Finished | list[Finished]:
        found = self.numbers[place]
        return self._make(found) if isinstance(found, int) else list(map(self._make, found))

    def _make(self, number: int) -> Finished:
        at = 0 if len(self._schedules) == 1 else bisect_right(self._schedules, number, key=_find_first) - 1
        schedule = self._schedules[at]
        key = schedule.key(number)
        labels, once = schedule.labels[key.table], schedule.plays_once(key.table)
        return Finished(key, number, labels, self.failed.get(number, ()), once=once)


def _find_first(schedule: Schedule) -> int:
    return schedule.part.first


class GameSummary(Struct, frozen=True, gc=False, omit_defaults=True):
    """A finished game without its actions: everything that standings need."""

    key: Key
    number: Count
    """Its place in playing order, counted through the whole league."""
    ruleset: str
    labels: tuple[str, ...]
    """By seat."""
    versions: tuple[Count, ...]
    """By seat: the version of the entry."""
    teams: tuple[Count, ...]
    """By seat; without partners, the seat itself."""
    places: tuple[Count, ...]
    scores: tuple[Points, ...]
    reason: Reason
    actions: Count
    used_ms: tuple[Milliseconds, ...]
    """By seat: thinking time in the whole game."""
    asked: tuple[Count, ...]
    """By seat: how many actions the referee requested."""
    verdicts: tuple[str, ...]
    """By seat: crash, timeout, protocol, illegal, or nothing."""
    digest: str
    cpu_ms: tuple[Milliseconds, ...] = ()
    """By seat: CPU time on turn."""
    idle_ms: tuple[Milliseconds, ...] = ()
    """By seat: CPU time off turn."""
    started: Time = 0.0
    """Seconds since 1970, UTC."""
    thinking: Times = ""
    """The wall time of the actions of each seat; empty if unknown."""
    once: bool = False
    """Whether its deal is this one game, the same for all seats; else every rotation of the seats plays it."""
    figures: tuple[tuple[int, ...], ...] = ()
    """By seat: what the statistics of the family count."""
    speed: Speed | None = None
    """That of the worker that played it; None for a game of the league's own machine."""
    farewells: tuple[bool, ...] = ()
    """By seat: whether its bot failed once the game was over, which costs nothing; empty if none did."""

    @property
    def rotations(self) -> int:
        """How many games its deal has."""
        return 1 if self.once else len(self.labels)

    def finish(self) -> Finished:
        """Reduce the game to what decides which games are played next."""
        failed: tuple[str, ...] = ()
        if any(self.verdicts):
            failed = tuple(label for label, verdict in zip(self.labels, self.verdicts, strict=True) if verdict)
        return Finished(self.key, self.number, self.labels, failed, _count_points(self.places), self.once)


@cache
def _count_points(places: tuple[int, ...]) -> tuple[int, ...]:
    """The half points of both seats; nothing for games of more."""
    if len(places) != 2:
        return ()
    return tuple(1 if places == (1, 1) else 4 - 2 * place for place in places)


class GameStream:
    """Games that are read anew whenever somebody goes through them, so that they take no memory.

    Args:
        read: yields them.
    """

    def __init__(self, read: Callable[[], Iterator[GameSummary]]) -> None:
        self._read = read

    def __iter__(self) -> Iterator[GameSummary]:
        return self._read()


class TablePlace(Struct, frozen=True):
    """The place of an entry in the table of a format that does not rank by ratings."""

    label: str
    place: int
    """From 1."""
    points: float | None = None
    """Match points in a Swiss tournament."""
    buchholz: float | None = None
    """The sum of its opponents' match points there."""


@dataclass(frozen=True)
class Contents:
    """What a league holds of a tournament at one moment, as `LeagueReader.read` finds it: standings follow from it."""

    tournament: Tournament
    """Of a season, the newest one."""
    rulesets: tuple[Ruleset, ...]
    entries: tuple[Entry, ...]
    """In the order of the tournament file."""
    parts: tuple[Part, ...]
    clocks: tuple[ClockRules, ...]
    """That of each part."""
    games: Iterable[GameSummary]
    """Those that count, in playing order; a list, or a `GameStream`."""
    suspended: Mapping[str, int]
    """The suspended entries, each with the number of the game that suspended it."""
    ended_by_test: bool
    """Whether a test chose when to stop, so that plain intervals are too narrow."""
    tests: Mapping[int, SequentialTest]
    """By part, those of a comparison."""
    format_input: FormatInput
    """What the format bases its decisions on."""
    table: tuple[TablePlace, ...] = ()
    """That of a format that is played in rounds, the best first; nothing for other formats."""
    live: bool = False
    """Whether deals are still missing."""

    @property
    def config(self) -> Config:
        """The newest configuration of the tournament."""
        return self.tournament.config


def summarize_record(
    record: Record, number: int, teams: tuple[int, ...], versions: tuple[int, ...], *, once: bool = False
) -> GameSummary:
    """Summarise a record to what standings need.

    Args:
        record: the finished game.
        number: its place in playing order.
        teams: by seat, as the ruleset forms them.
        versions: by seat.
        once: whether its deal is this one game.
    """
    seats = range(len(record.entries))
    acted = [seat for seat, _ in record.actions]
    verdicts = {fault.seat: fault.code for fault in record.faults}
    farewells = tuple(bool(report.farewell) for report in record.seats)
    return GameSummary(
        key=record.key,
        number=number,
        ruleset=record.ruleset,
        labels=tuple(label for label, _ in record.entries),
        versions=versions,
        teams=teams,
        places=record.places,
        scores=record.scores,
        reason=record.reason,
        actions=len(record.actions),
        used_ms=tuple(report.used_ms for report in record.seats),
        asked=tuple(map(acted.count, seats)),
        verdicts=tuple(verdicts.get(seat, "") for seat in seats),
        digest=record.digest,
        cpu_ms=tuple(report.cpu_ms for report in record.seats),
        idle_ms=tuple(report.idle_ms for report in record.seats),
        started=record.started,
        thinking=count_times(record),
        once=once,
        figures=record.figures,
        speed=record.speed,
        farewells=farewells if any(farewells) else (),
    )
