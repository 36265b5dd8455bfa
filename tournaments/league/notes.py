"""What lies in a league beside its games: rulings that wait for a run to take them up, and which run that is."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec
from msgspec import Struct

from malice.referee.records import Count, Time
from malice.tournaments.league.file import StoredRow


class Ruling(Struct, frozen=True, forbid_unknown_fields=True):
    """What an organiser decided about an entry."""

    what: Literal["withdraw", "disqualify", "reinstate", "rename"]
    label: str
    tournaments: tuple[str, ...] = ()
    """Those that are meant; none for all but comparisons."""
    reason: str = ""
    who: str = ""
    new: str = ""
    """The new label of one that is renamed."""


class RulingRow(StoredRow, frozen=True):
    """A decision that waits for a run to take it up; `decision` is JSON."""

    TABLE: ClassVar[str] = "decisions"
    SELECT: ClassVar[str] = "SELECT decisions.number, decisions.at, decisions.decision FROM decisions"

    number: Count
    at: Time
    decision: str


class RunningRun(Struct, frozen=True, forbid_unknown_fields=True):
    """Who plays a league."""

    tournament: str
    pid: int
    started: int
    """When the process started, in ticks since the boot, so that another one of its number is not taken for it."""
    host: str
    user: str
    since: float
    """Seconds since 1970, as all times."""
    until: float | None
    """When it is to be over; None without a limit."""
    games: int
    """How many games were finished when it began."""


class RunRow(StoredRow, frozen=True):
    """The run that plays, or that was killed; `run` is JSON."""

    TABLE: ClassVar[str] = "runs"
    SELECT: ClassVar[str] = "SELECT runs.number, runs.run FROM runs"

    number: Count
    run: str


def decode_ruling(text: str) -> Ruling:
    """Decode a stored ruling, or raise MsgspecError."""
    return msgspec.json.decode(text, type=Ruling)


def decode_run(text: str) -> RunningRun:
    """Decode the note of a run, or raise MsgspecError."""
    return msgspec.json.decode(text, type=RunningRun)
