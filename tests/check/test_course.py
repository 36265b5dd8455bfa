"""Several bots, or all entries of a tournament file, examined by one command."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import Result

from malice.tournaments.check.report import Finding, Report, Step, encode_junit
from tests.command_line import malice

pytestmark = pytest.mark.slow

HOSTILE = "]]>\x00\x1b[2J\ud800\ufffe\u202e<failure>&amp;\x85"


def check(folder: Path, *words: str | Path) -> Result:
    (folder / "mute.sh").write_text("exit 3\n")
    return malice("check", *words, "--rulesets", "book-end", "--isolation", "none")  # whose games are short


def test_a_course_gets_a_line_for_each_bot_and_details_of_those_that_fail(tmp_path: Path) -> None:
    result = check(tmp_path, "uniform", f"sh {tmp_path / 'mute.sh'}", "no-such-bot")

    assert result.exit_code == 10
    lines = result.stdout.splitlines()
    assert [line.split()[:2] for line in lines[1:4]] == [
        ["passed", "uniform"],
        ["failed", "mute"],
        ["failed", "no-such-bot"],
    ]
    assert [line for line in lines if line.startswith("FAILED")] == ["FAILED: starts in time", "FAILED: is a bot"]
    assert lines[-1] == "2 of 3 bots failed"


@pytest.mark.whole
def test_a_tournament_file_names_all_of_its_entries(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text('entries = ["uniform", { bot = "sh mute.sh", label = "Mute" }, "sh mute.sh"]')

    result = check(tmp_path, tmp_path / "t.toml", "--json", "--junit", tmp_path / "j.xml")

    assert result.exit_code == 10
    reports = json.loads(result.stdout)
    assert [(report["bot"], report["passed"]) for report in reports] == [
        ("uniform", True),
        ("Mute", False),
        ("mute", False),
    ]
    root = ElementTree.parse(tmp_path / "j.xml").getroot()
    for suite, report in zip(root, reports, strict=True):
        assert suite.get("name") == report["bot"]
        assert [case.get("name") for case in suite] == [step["title"] for step in report["steps"]]
        failed = [case.get("name") for case in suite if case.find("failure") is not None]
        assert failed == [step["title"] for step in report["steps"] if step["result"] == "failed"]


def test_one_bot_has_the_report_of_its_own_and_junit_too(tmp_path: Path) -> None:
    result = check(tmp_path, f"sh {tmp_path / 'mute.sh'}", "--json", "--junit", tmp_path / "j.xml")

    assert result.exit_code == 10
    assert json.loads(result.stdout)["bot"] == "mute"
    assert len(ElementTree.parse(tmp_path / "j.xml").getroot()) == 1


def test_a_typo_in_the_rulesets_is_an_error_and_no_verdict_on_bots(tmp_path: Path) -> None:
    result = malice("check", "uniform", "first", "--rulesets", "standart")

    assert result.exit_code == 2
    assert "standart" in result.stderr


def test_junit_is_valid_whatever_a_bot_prints() -> None:
    finding = Finding(HOSTILE, HOSTILE, HOSTILE, HOSTILE, (HOSTILE, HOSTILE), HOSTILE, f"{HOSTILE}\n{HOSTILE}")
    steps = (
        Step("hello", HOSTILE, "failed", HOSTILE, (HOSTILE,), finding),
        Step("bye", HOSTILE, "not reached", HOSTILE),
    )

    root = ElementTree.fromstring(encode_junit([Report(HOSTILE, False, HOSTILE, steps, ())]))

    assert [child.tag for child in root.iter()] == [
        *("testsuites", "testsuite", "testcase", "failure", "testcase", "skipped"),
    ]
    text = "".join(root.itertext()) + "".join(value for child in root.iter() for value in child.attrib.values())
    assert "<failure>&amp;" in text
    assert all(char.isprintable() or char == "\n" for char in text)
