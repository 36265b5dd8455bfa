"""Bots and examinations for the tests of `malice check`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from msgspec.structs import replace

from malice.referee.games import DEFAULT_RULESET
from malice.referee.records import Isolation
from malice.referee.rulesets import Ruleset, load_ruleset
from malice.tournaments.check.examination import Examination
from malice.tournaments.check.games import Syllabus
from malice.tournaments.check.report import Finding, Report
from malice.tournaments.check.seat import Times
from malice.tournaments.entries.bots import Bot, find_bot

FAULTY = Path(__file__).parent / "faulty.py"
PATIENT = Times(move_ms=60_000, init_ms=60_000, listen_ms=60_000, exit_ms=60_000)
"""For what a bot does right, on however slow a machine."""


def shorten(name: str) -> Ruleset:
    """Return a ruleset with so few cards to play off that a game is over soon."""
    ruleset = load_ruleset(name)
    return replace(ruleset, rules=replace(ruleset.rules, payoff_size=4))


STANDARD = shorten(DEFAULT_RULESET)
FEW = tuple((ruleset, ruleset.match.players[1]) for ruleset in map(shorten, ("aces", "partners-4")))
"""Rulesets that stand for all groups, one where not every discard is legal, and one with partners."""


def bot_of(path: Path, *arguments: str) -> Bot:
    """Return the bot that a Python file is."""
    return find_bot(shlex.join([sys.executable, "-I", str(path), *arguments]))


def faulty(*arguments: str) -> Bot:
    """Return the bot that is wrong in that way."""
    return bot_of(FAULTY, *arguments)


def examined(bot: Bot, times: Times = PATIENT, *, rare: int = 0, games: int = 1) -> Report:
    """Examine a bot without isolation, on one more group of rulesets."""
    return Examination(
        bot, times, Isolation("none"), rare=rare, games=games, syllabus=Syllabus(STANDARD, FEW[:1])
    ).run()


def failures(report: Report) -> dict[str, Finding]:
    """Return the steps that failed, and why."""
    return {step.step: step.finding for step in report.steps if step.finding}


def results(report: Report) -> dict[str, str]:
    """Return the result of each step."""
    return {step.step: step.result for step in report.steps}


def remarks(report: Report) -> dict[str, tuple[str, ...]]:
    """Return what was remarked, by step."""
    return {step.step: step.remarks for step in report.steps if step.remarks}
