"""Reports as JUnit XML, which continuous integration reads: a suite for each bot, a test case for each step."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from malice.tournaments.check.report import Report, Step
from malice.tournaments.check.text import format_finding
from malice.tournaments.sanitizer import sanitize


def encode_junit(reports: Sequence[Report]) -> bytes:
    """Return reports as an XML document in UTF-8; it is valid whatever the bots print."""
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
