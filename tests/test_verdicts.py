"""What is held against a bot is said in words that help its author."""

from __future__ import annotations

import signal

import pytest

from malice.referee.verdicts import Verdict, describe_answers, describe_exit, judge_illegal_move, judge_late_answer


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "exited with status 0"),
        (3, "exited with status 3"),
        (-signal.SIGSEGV, "killed by signal 11 (SIGSEGV)"),
        (-signal.SIGKILL, "killed by signal 9 (SIGKILL)"),
        (-60, "killed by signal 60"),
    ],
)
def test_an_exit_is_told_in_words(status: int, words: str) -> None:
    assert describe_exit(status) == words


def test_silence_is_a_timeout_with_a_guess() -> None:
    verdict = judge_late_answer("move", "1100 ms", 0, "it came later")

    assert verdict.code == "timeout"
    assert verdict.sentence == "no answer to move within 1100 ms (it came later)"


@pytest.mark.parametrize(
    ("answered", "slowest", "words"),
    [
        (0, None, "did you flush your output? do you read all of the input first?"),
        (1, None, "it had answered a request before"),
        (2, None, "it had answered 2 requests before"),
        (12, 3_140_000, "it had answered 12 requests before, the slowest move in 3.1 ms"),
    ],
)
def test_only_a_process_that_has_never_answered_is_asked_whether_it_flushes(
    answered: int, slowest: int | None, words: str
) -> None:
    assert describe_answers("move", answered, slowest) == words


@pytest.mark.parametrize(
    ("lines", "start"), [(1, "a line that is not JSON, and no answer"), (3, "3 lines that are not JSON, and no answer")]
)
def test_stray_lines_instead_of_an_answer_break_the_protocol(lines: int, start: str) -> None:
    verdict = judge_late_answer("hello", "1000 ms", lines, "")

    assert verdict.code == "protocol"
    assert verdict.sentence == f"{start} to hello: did you print to stdout?"


def test_an_illegal_action_is_shown_beside_the_legal_ones() -> None:
    verdict = judge_illegal_move("h2C-c0", ("p-c0", "h7C-c1"))

    assert verdict.code == "illegal"
    assert verdict.sentence == "expected one of p-c0, h7C-c1; got: 'h2C-c0'"


def test_an_illegal_action_is_shown_short_and_harmless() -> None:
    verdict = judge_illegal_move("\x1b[2J" + "x" * 1000, tuple(f"s{index}-c0" for index in range(20)))

    assert verdict.sentence.endswith("s11-c0, ...; got: '\\x1b[2J" + "x" * 36 + "'...")


def test_a_verdict_reads_as_its_sentence() -> None:
    assert str(Verdict("crash", "the bot exited with status 1")) == "the bot exited with status 1"
