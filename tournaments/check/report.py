"""The result of an examination: its steps, and for each that failed a finding."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

Outcome = Literal["passed", "failed", "not reached"]

TITLES: dict[str, str] = {
    "starts": "starts in time",
    "flushes": "flushes its answers",
    "hello": "says hello",
    "answers": "answers every id once",
    "games": "plays games",
    "families": "plays each family of rulesets",
    "clock": "keeps to the clock",
    "stdout": "keeps stdout clean",
    "unknown": "ignores unknown fields and types",
    "restart": "survives a restart",
    "reuse": "plays alike, fresh or reused",
    "bye": "exits on bye",
    "eof": "exits on a closed input",
    "fuzz": "copes with the rare and the odd",
}
"""Every step by its name, in the order of the report."""


class Finding(Struct, frozen=True):
    """Why a step failed."""

    cause: str
    """One sentence."""
    expected: str
    hint: str
    """What to do about it."""
    where: str = ""
    """The game, or the situation."""
    lines: tuple[str, ...] = ()
    """The last lines exchanged, oldest first: `> ` by the referee, `< ` by the bot; `* ` marks other events."""
    exit: str | None = None
    """How the process ended, in words; None if it still lived."""
    stderr: str = ""
    """The first and the last 8 KiB of the bot's stderr."""


class Step(Struct, frozen=True):
    """One step of the examination."""

    step: str
    title: str
    result: Outcome
    line: str
    """A few words on what was observed, or on why the step was not reached."""
    remarks: tuple[str, ...] = ()
    """Remarks that are no failure, but worth knowing."""
    finding: Finding | None = field(default=None, name="fault")
    """Why the step failed."""


class Thought(Struct, frozen=True):
    """An action, and the time that the bot took for it."""

    ms: float
    cpu_ms: float
    ruleset: str
    deal_seed: str
    seat: int
    turn: int
    action: str


class Report(Struct, frozen=True):
    """A whole examination."""

    bot: str
    passed: bool
    isolation: str
    """The isolation in force around the bot."""
    steps: tuple[Step, ...]
    slowest: tuple[Thought, ...]
    """The slowest actions, the slowest first."""
