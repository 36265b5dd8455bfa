"""A report as people read it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from tournaments.check.report import Finding, Report, Step
from tournaments.sanitizer import sanitize
from tournaments.terminal.tables import format_table
from tournaments.terminal.transcript import excerpt_stderr

WIDTH = 100
LINE_WIDTH = 240
"""How much of a line is shown; JSON has all of it, up to 4 KiB."""
TAIL = 60
"""How much of that is its end."""


def report_text(report: Report) -> Iterator[str]:
    """Tell an examination: a table of steps, the slowest actions, and at length what failed."""
    rows = [(step.result, step.title, _cut(sanitize(step.line), WIDTH)) for step in report.steps]
    yield from format_table(("result", "step", "what was seen"), rows, left=(0, 1, 2))
    for step in report.steps:
        for remark in step.remarks:
            yield from _wrap(f"{step.title}: {sanitize(remark)}", "remark  ")
    if report.slowest:
        yield ""
        yield from _slowest(report)
    for step in report.steps:
        if step.fault:
            yield ""
            yield from _fault(step, step.fault)
    yield ""
    yield f"{sanitize(report.bot)}: {_verdict(report)}"


def _slowest(report: Report) -> Iterator[str]:
    rows = [
        (
            f"{thought.ms:.1f}",
            f"{thought.cpu_ms:.1f}",
            thought.ruleset,
            thought.deal_seed[:12],
            str(thought.seat),
            str(thought.turn),
            sanitize(thought.action),
        )
        for thought in report.slowest
    ]
    yield from format_table(
        ("slowest ms", "CPU ms", "ruleset", "deal seed", "seat", "turn", "action"), rows, left=(2, 3, 6)
    )


def _fault(step: Step, fault: Finding) -> Iterator[str]:
    yield f"FAILED: {step.title}"
    yield from _wrap(sanitize(fault.cause), "  cause     ")
    yield from _wrap(fault.where, "  where     ")
    for number, line in enumerate(fault.lines):
        yield ("  lines     " if number == 0 else " " * 12) + _cut(sanitize(line), LINE_WIDTH)
    if fault.exit:
        yield f"  process   {sanitize(fault.exit)}"
    for number, line in enumerate(excerpt_stderr(fault.stderr)):
        yield ("  stderr    " if number == 0 else " " * 12) + line
    yield from _wrap(sanitize(fault.expected), "  expected  ")
    yield from _wrap(sanitize(fault.hint), "  hint      ")


def _wrap(text: str, head: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head))


def _cut(text: str, most: int) -> str:
    """Leave out the middle of a long text: a line of the referee ends with what can be done and the clock."""
    if len(text) <= most:
        return text
    return f"{text[: most - TAIL]} ... {len(text) - most} left out ... {text[-TAIL:]}"


def _verdict(report: Report) -> str:
    failed = [step.title for step in report.steps if step.result == "failed"]
    if failed:
        return f"{len(failed)} of {len(report.steps)} steps failed: {', '.join(failed)}"
    return f"passed all {len(report.steps)} steps, isolation {report.isolation}"
