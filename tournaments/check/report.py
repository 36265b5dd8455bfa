"""The report of an examination: its steps and findings, as text and as JUnit XML."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Literal
from xml.etree import ElementTree

from msgspec import Struct, field

from malice.referee.nouns import format_count
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.tables import format_table
from malice.tournaments.terminal.transcript import excerpt_stderr

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


WIDTH = 100
ROWS, FAILED_ROWS = 6, 2
"""The most lines that a step takes in the table; a step that failed is told in full below."""
LINE_WIDTH = 240
"""The characters of a line that are shown; the JSON report has up to 4 KiB of it."""
TAIL = 60
"""How many of them are its end."""
SLACK = 40
"""How many more are shown all the same: saying that they are left out takes as much room."""


def format_report(report: Report) -> Iterator[str]:
    """Yield the lines of a report: a table of steps, the slowest actions, and every finding in full."""
    rows = [row for step in report.steps for row in _list_rows(step)]
    yield from format_table(("result", "step", "what was seen"), rows, left=(0, 1, 2))
    for step in report.steps:
        for remark in step.remarks:
            yield from _wrap(sanitize(f"{step.title}: {remark}"), "remark  ")
    if report.slowest:
        yield ""
        yield from _format_slowest(report)
    for step in report.steps:
        if step.finding:
            yield ""
            yield from format_finding(step, step.finding)
    yield ""
    yield f"{sanitize(report.bot)}: {_conclude(report)}"


def format_course(reports: Sequence[Report]) -> Iterator[str]:
    """Yield a line for each bot, then every finding of those that failed."""
    rows = [("passed" if report.passed else "failed", sanitize(report.bot), _conclude(report)) for report in reports]
    yield from format_table(("result", "bot", "what was seen"), rows, left=(0, 1, 2))
    for report in reports:
        for step in report.steps:
            if step.finding:
                yield ""
                yield f"{sanitize(report.bot)}"
                yield from format_finding(step, step.finding)
    failed = sum(not report.passed for report in reports)
    yield ""
    yield f"{failed} of {format_count(len(reports), 'bot')} failed" if failed else f"all {len(reports)} passed"


def _list_rows(step: Step) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of a step in the table: its text is wrapped between words."""
    most = FAILED_ROWS if step.finding else ROWS
    first, *others = textwrap.wrap(sanitize(step.line), WIDTH, max_lines=most, placeholder=" ...") or [""]
    yield step.result, sanitize(step.title), first
    yield from (("", "", line) for line in others)


def _format_slowest(report: Report) -> Iterator[str]:
    rows = [
        (
            f"{thought.ms:.1f}",
            f"{thought.cpu_ms:.1f}",
            sanitize(thought.ruleset),
            sanitize(thought.deal_seed[:12]),
            str(thought.seat),
            str(thought.turn),
            sanitize(thought.action),
        )
        for thought in report.slowest
    ]
    yield from format_table(
        ("slowest ms", "CPU ms", "ruleset", "deal seed", "seat", "turn", "action"), rows, left=(2, 3, 6)
    )


def format_finding(step: Step, finding: Finding) -> Iterator[str]:
    """Yield why a step failed, with the lines that prove it."""
    yield f"FAILED: {sanitize(step.title)}"
    yield from _wrap(sanitize(finding.cause), "  cause     ")
    yield from _wrap(sanitize(finding.where), "  where     ")
    for number, line in enumerate(finding.lines):
        yield ("  lines     " if number == 0 else " " * 12) + _cut(sanitize(line))
    if finding.exit:
        yield f"  process   {sanitize(finding.exit)}"
    for number, line in enumerate(excerpt_stderr(finding.stderr)):
        yield ("  stderr    " if number == 0 else " " * 12) + line
    yield from _wrap(sanitize(finding.expected), "  expected  ")
    yield from _wrap(sanitize(finding.hint), "  hint      ")


def _wrap(text: str, head: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head))


def _cut(line: str) -> str:
    """Leave out the middle of a long line: a request of the referee ends with the legal actions and the clock."""
    left_out = len(line) - LINE_WIDTH
    if left_out <= SLACK:
        return line
    return f"{line[: LINE_WIDTH - TAIL]} ... {left_out} characters left out ... {line[-TAIL:]}"


def _conclude(report: Report) -> str:
    failed = [sanitize(step.title) for step in report.steps if step.result == "failed"]
    if failed:
        return f"{len(failed)} of {format_count(len(report.steps), 'step')} failed: {', '.join(failed)}"
    return f"passed all {len(report.steps)} steps, isolation {sanitize(report.isolation)}"


def encode_junit(reports: Sequence[Report]) -> bytes:
    """Encode reports as an XML document in UTF-8; it is valid whatever the bots print."""
    root = ElementTree.Element("testsuites", name="malice check")
    for report in reports:
        bot = sanitize(report.bot)
        counts = {
            "tests": len(report.steps),
            "failures": sum(step.result == "failed" for step in report.steps),
            "errors": 0,
            "skipped": sum(step.result == "not reached" for step in report.steps),
        }
        attributes = {field: str(count) for field, count in counts.items()}
        suite = ElementTree.SubElement(root, "testsuite", {"name": bot, **attributes})
        for step in report.steps:
            _add_case(suite, bot, step)
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _add_case(suite: ElementTree.Element, bot: str, step: Step) -> None:
    case = ElementTree.SubElement(suite, "testcase", {"classname": bot, "name": sanitize(step.title)})
    if step.result == "not reached":
        ElementTree.SubElement(case, "skipped", {"message": sanitize(step.line)})
    elif step.result == "failed":
        _add_failure(case, step)


def _add_failure(case: ElementTree.Element, step: Step) -> None:
    message = sanitize(step.finding.cause if step.finding else step.line)
    failure = ElementTree.SubElement(case, "failure", {"message": message, "type": step.step})
    lines = format_finding(step, step.finding) if step.finding else ()
    failure.text = "\n".join(sanitize(line) for line in lines)
