"""What a league holds: the tournament, its entries, its games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Protocol

from msgspec import Meta, Struct

from referee.records import Count, Key, Milliseconds, Record
from referee.rulesets import Ruleset
from tournaments.league.config import Config

Points = Annotated[int, Meta(ge=-(2**53), le=2**53)]
Reason = Annotated[str, Meta(min_length=1, max_length=100)]
Readmission = tuple[str, int]
"""A label, and the number of the game that suspended it: that suspension is lifted."""


class Tournament(Struct, frozen=True):
    """A tournament as it was created."""

    name: str
    commit: str
    """`sha256:` and the SHA-256 of the seed, hex."""
    seed: str | None
    """32 bytes, hex; None until the tournament is complete."""
    complete: bool
    planned: int
    """The number of games of the whole schedule."""
    created: float
    """Seconds since 1970, UTC."""
    rulesets: dict[str, Ruleset]


class Absence(Struct, frozen=True):
    """Why an entry does not play for now: it could not be built or started."""

    code: str
    """`bot` (there is none, or its bot.toml is invalid), `build`, or the verdict on its `hello`."""
    sentence: str
    output: str
    """The end of what its build printed, or of its stderr."""


class Entry(Struct, frozen=True):
    """A bot that takes part."""

    label: str
    hash: str
    """SHA-256 of its files or command line, hex."""
    name: str
    version: str
    author: str
    language: str
    command: tuple[str, ...]
    """As its bot.toml says it, with `{python}`; of a command line, the words."""
    rulesets: tuple[str, ...] = ()
    """The rulesets that the bot says it is made for; none means all."""
    absence: Absence | None = None
    """Why its open games wait; None if it plays."""


class Game(Struct, frozen=True):
    """A finished game without its actions: everything that standings need."""

    key: Key
    number: Count
    """Its place in the schedule, from 0."""
    ruleset: str
    labels: tuple[str, ...]
    """By seat."""
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


class LeagueContents(Protocol):
    """The stored rows that standings, series and suspensions follow from."""

    def config(self) -> Config:
        """Return the configuration with which the tournament was created."""

    def rulesets(self) -> tuple[Ruleset, ...]:
        """Return the rulesets that are played."""

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries in the order of the tournament file."""

    def games(self) -> Iterator[Game]:
        """Return every finished game without its actions, in the order of the schedule."""

    def readmissions(self) -> set[Readmission]:
        """Return the suspensions that were lifted."""


def summarize_record(record: Record, number: int, teams: tuple[int, ...]) -> Game:
    """Return the part of a record that standings need.

    Args:
        record: the finished game.
        number: its place in the schedule.
        teams: by seat, as the ruleset forms them.
    """
    seats = range(len(record.entries))
    asked = Counter(seat for seat, _ in record.actions)
    verdicts = {fault.seat: fault.code for fault in record.faults}
    return Game(
        key=record.key,
        number=number,
        ruleset=record.ruleset,
        labels=tuple(label for label, _ in record.entries),
        teams=teams,
        places=record.places,
        scores=record.scores,
        reason=record.reason,
        actions=len(record.actions),
        used_ms=tuple(report.used_ms for report in record.seats),
        asked=tuple(asked[seat] for seat in seats),
        verdicts=tuple(verdicts.get(seat, "") for seat in seats),
        digest=record.digest,
        cpu_ms=tuple(report.cpu_ms for report in record.seats),
        idle_ms=tuple(report.idle_ms for report in record.seats),
    )
