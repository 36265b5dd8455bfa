"""What authors get wrong, one thing at a time: the step that fails, and what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from malice.tournaments.check.repetition import BEFORE
from tests.check.examined import PATIENT, examined, failures, faulty, remarks, results
from tests.processes import NAME, Mark
from tests.samples import sample

pytestmark = pytest.mark.slow

SHORT_MS = 400
"""For an answer that never comes in time."""
WRONG_MS = 3000
"""For one before which something wrong comes, on however slow a machine."""


class Case(NamedTuple):
    """A way to be wrong, the only step that fails, and part of the cause and of the hint."""

    wrong: str
    step: str
    says: str
    hint: str


CASES = (
    Case("prints", "stdout", "not JSON, the first: 'a new game'", "to standard error"),
    Case("prints an object", "stdout", """the first: "{'hand': None}\"""", "to standard error"),
    Case("wrong id", "answers", "expected the id 3, got 4", "copy the `id` from the request"),
    Case("no id", "answers", "got an answer without id", "put the `id` of the request into each answer"),
    Case("unknown fields", "unknown", "exited with status 1", "read its standard error"),
    Case("unknown types", "unknown", "exited with status 1", "read its standard error"),
    Case("no reader", "fuzz", "exited with status 1", "valid JSON"),
    Case("short lines", "fuzz", "exited with status 1", "valid JSON"),
)


@pytest.fixture(autouse=True)
def mark(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mark]:
    """What the bots leave is found by this, and ended."""
    mark = Mark()
    monkeypatch.setenv(NAME, mark.environ()[NAME])
    yield mark
    mark.end()


@pytest.mark.parametrize("case", sample((pytest.param(case, id=case.wrong) for case in CASES), 2))
def test_a_fault_fails_its_step_and_no_other(case: Case) -> None:
    report = examined(faulty(case.wrong), rare=90 if case.step == "fuzz" else 0)

    failed = failures(report)
    assert list(failed) == [case.step], failed
    assert case.says in failed[case.step].cause
    assert case.hint in failed[case.step].hint
    assert not report.passed


def test_an_action_that_waits_in_a_buffer_is_told_from_one_that_never_comes() -> None:
    report = examined(faulty("buffers actions"), replace(PATIENT, move_ms=SHORT_MS, listen_ms=300))

    (fault,) = failures(report).values()
    assert "it had waited in a buffer" in fault.cause
    assert "in Python: `print(..., flush=True)`" in fault.hint
    assert results(report)["flushes"] == "failed"
    assert fault.lines[-2] == "* its input is closed"
    assert re.fullmatch(r"""< '\{"id": 3, "move": "h..-.."\}'""", fault.lines[-1])


def test_a_bot_that_reads_all_of_its_input_first_is_told_so() -> None:
    report = examined(faulty("reads all"), replace(PATIENT, init_ms=WRONG_MS, listen_ms=300))

    (fault,) = failures(report).values()
    assert "or the bot waited for the end of the input" in fault.cause
    assert "`sys.stdin.read()`" in fault.hint
    assert results(report)["flushes"] == "failed"


def test_an_action_that_comes_late_is_told_from_one_that_waits_in_a_buffer() -> None:
    report = examined(faulty("late"), replace(PATIENT, move_ms=SHORT_MS))

    (fault,) = failures(report).values()
    assert "ms later" in fault.cause
    assert "think less" in fault.hint
    assert results(report)["clock"] == "failed"


def test_no_answer_to_the_end_of_a_game_is_no_answer() -> None:
    report = examined(faulty("silent at the end"), replace(PATIENT, init_ms=WRONG_MS, listen_ms=300))

    (fault,) = failures(report).values()
    assert "no answer to game_end within 3000 ms" in fault.cause
    assert "answer every line but `bye`" in fault.hint
    assert results(report)["answers"] == "failed"


def test_quotes_that_are_none_of_json_are_told_as_that_and_not_as_a_stray_line() -> None:
    report = examined(faulty("quotes"), replace(PATIENT, move_ms=WRONG_MS, listen_ms=300))

    (fault,) = failures(report).values()
    assert "no answer to move, but a line that is not JSON: JSON is malformed" in fault.cause
    assert "JSON library" in fault.hint


@pytest.mark.parametrize(
    ("wrong", "step", "hint"),
    [
        ("mutters at unknown types", "stdout", "gets the bare id"),
        pytest.param("quotes long lines", "fuzz", "valid JSON", marks=pytest.mark.whole),
    ],
)
def test_a_line_instead_of_an_answer_fails_one_step(wrong: str, step: str, hint: str) -> None:
    times = replace(PATIENT, move_ms=WRONG_MS, init_ms=WRONG_MS, listen_ms=300)

    failed = failures(examined(faulty(wrong), times, rare=90 if step == "fuzz" else 0))

    assert list(failed) == [step]
    assert hint in failed[step].hint


@pytest.mark.whole
def test_what_stays_when_it_is_told_to_go_fails_that_step_alone() -> None:
    times = replace(PATIENT, exit_ms=2000)
    bye, end = examined(faulty("ignores bye"), times), examined(faulty("ignores the end"), times)

    assert list(failures(bye)) == ["bye"]
    assert "after a game" in failures(bye)["bye"].where
    assert list(failures(end)) == ["eof"]
    assert "leave the loop at the end of input" in failures(end)["eof"].hint


def test_what_is_left_of_a_killed_process_must_not_stop_the_next(tmp_path: Path) -> None:
    report = examined(faulty("locks", str(tmp_path / "lock")))

    (fault,) = failures(report).values()
    assert "exited with status 1" in fault.cause
    assert "FileExistsError" in fault.stderr
    assert results(report)["restart"] == "failed"
    assert results(report)["reuse"] == results(report)["bye"] == "not reached"


@pytest.mark.whole
def test_a_leak_fails_its_step_alone_and_its_lines_show_the_request_and_both_answers() -> None:
    failed = failures(examined(faulty("leaks")))

    assert list(failed) == ["reuse"]
    fault = failed["reuse"]
    assert "state of earlier games is left" in fault.cause
    assert "at game_start, forget" in fault.hint
    asked, fresh, one, reused, other = fault.lines
    assert asked.startswith('> {"type":"move"')
    assert "fresh" in fresh
    assert f"{BEFORE} games" in reused
    assert one.startswith('< {"id"')
    assert other.startswith('< {"id"')
    assert one != other


def test_chance_of_its_own_is_remarked_and_no_failure() -> None:
    report = examined(faulty("gambles"))

    assert report.passed
    assert "not repeatable: it uses chance other than rng" in remarks(report)["reuse"][0]


@pytest.mark.whole
def test_how_a_bot_exits_is_remarked_and_no_failure(mark: Mark) -> None:
    said, child = examined(faulty("last words")), examined(faulty("leaves a child"))

    assert said.passed
    assert remarks(said)["bye"] == ("""it exited with status 1: "but":"I am not done\"""",)
    assert child.passed
    assert remarks(child)["bye"] == ("1 of its child processes lived on; the referee kills them",)
    assert mark.await_end() == []


@pytest.mark.whole
def test_chance_from_rng_is_repeatable_and_an_examination_finds_the_same_twice() -> None:
    one, other = (examined(faulty("seeded"), rare=20) for _ in range(2))

    assert one.passed
    assert remarks(one) == {}
    assert results(one) == results(other)
    for step, again in zip(one.steps, other.steps, strict=True):
        if step.step in ("games", "answers", "families", "reuse", "fuzz", "stdout", "unknown"):
            assert step == again


def test_a_step_that_needs_a_failed_one_is_not_reached_and_says_so() -> None:
    report = examined(faulty("text id"))

    steps = {step.step: step for step in report.steps}
    assert steps["games"].line == "0 of 1 game, then: answers every id once"
    assert steps["unknown"].line == "needs: answers every id once"
    assert results(report) | {"answers": "failed"} == {
        "starts": "passed",
        "flushes": "passed",
        "hello": "passed",
        "answers": "failed",
        "games": "not reached",
        "families": "not reached",
        "clock": "not reached",
        "stdout": "not reached",
        "unknown": "not reached",
        "restart": "not reached",
        "reuse": "not reached",
        "bye": "passed",
        "eof": "passed",
    }
