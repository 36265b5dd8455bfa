"""What an examination finds: each step with its result, and all that helps where one failed."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

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
"""Every step by its name, in the order in which they are told."""


class Finding(Struct, frozen=True):
    """Why a step failed."""

    cause: str
    """In one sentence."""
    expected: str
    hint: str
    """What to do about it."""
    where: str = ""
    """The game, or what else was going on."""
    lines: tuple[str, ...] = ()
    """The last lines exchanged, oldest first: `> ` of the referee, `< ` of the bot, `* ` what happened besides."""
    exit: str | None = None
    """How the process ended, in words; None while it lived."""
    stderr: str = ""
    """The first and the last 8 KiB of what the bot wrote to stderr."""


class Step(Struct, frozen=True):
    """One step of the examination."""

    step: str
    title: str
    result: Outcome
    line: str
    """What was seen, or why not, in a few words."""
    remarks: tuple[str, ...] = ()
    """What breaks nothing, and is worth to know."""
    fault: Finding | None = None


class Thought(Struct, frozen=True):
    """An action with the time that it took."""

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
    """What was in force around the bot."""
    steps: tuple[Step, ...]
    slowest: tuple[Thought, ...]
    """The actions that took longest, the slowest first."""
