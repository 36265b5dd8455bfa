"""Every misbehaving bot of tests/bots: the step that fails names the right cause."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from tests.check.examined import PATIENT, bot_of, examined, failures
from tests.processes import NAME, Mark
from tests.tables import BOTS

pytestmark = pytest.mark.slow

BRIEF = replace(PATIENT, exit_ms=300)
"""For bots that are not judged by how they exit."""
SHORT_MS = 400
"""For an action that never comes."""
SHORT_INIT_MS = 2000
"""For another answer that never comes."""


class Case(NamedTuple):
    """A bot of `tests/bots`, and what its author must be told."""

    bot: str
    arguments: tuple[str, ...]
    step: str | None
    """The first that fails; None for one that passes."""
    says: str = ""
    """Part of the cause."""
    hint: str = ""
    waits: str = ""
    """The request for whose answer the examination waits in vain."""


CASES = (
    Case("babbles", ("200", "10"), "stdout", "101 lines (1010 bytes) that are no JSON", "print to standard error"),
    Case("blank", (), "stdout", "that are no JSON"),
    Case("brackets", (), "stdout", "a line that is no JSON, and no answer to move", waits="move"),
    Case("buffers", (), "flushes", "it had waited in a buffer", "`print(..., flush=True)`", "hello"),
    Case("chatters", ("101", "3"), "stdout", "101 lines (303 bytes)"),
    Case("closes", ("game_start", "0"), "games", "closed its input, and its process lives on", "read until"),
    Case("closes", ("move", "1"), "games", "closed its output, and its process lives on", "do not close"),
    Case("daemon", (), "games", "exited with status 0", "left its loop too early"),
    Case("deaf", (), "starts", "it has not even read the request", "read your input", "hello"),
    Case("declines", (), "families", "illegal: expected one of"),
    Case("dies", ("move", "SIGSEGV", "30000"), "games", "killed by signal 11 (SIGSEGV)"),
    Case("dies", ("game_end", "7", "0"), "games", "exited with status 7"),
    Case("digits", (), "answers", "no answer to move, but a line that is no JSON", "JSON library", "move"),
    Case("disguise", (), "bye", "it stays when it is told bye"),
    Case("doubles", (), "games", "got: 'all'", "take a string of `legal`"),
    Case("drips", (), "answers", "the last line has no newline", "end each answer with", "move"),
    Case("early", (), "answers", "expected one answer to each request", "say nothing that was not asked for"),
    Case("eats", ("256",), "games", "exited with status 1"),
    Case("endless", (), "answers", "at most 65536 bytes"),
    Case("floods", (), "answers", "at most 65536 bytes"),
    Case("forks", ("10",), "games", "exited with status 0"),
    Case("freezes", (), "clock", "no answer to move within", "find out what it waits for", "move"),
    Case("grumbles", (), "answers", "missing required field `move`", "the answer to a `move` needs a `move`"),
    Case("guesses", (), "answers", "expected one answer to each request"),
    Case("hoards", (), "clock", "is idle, and says nothing", waits="move"),
    Case("honest", (), None),
    Case("latin", (), "answers", "expected UTF-8", "write UTF-8"),
    Case("leaves", (), "games", "exited with status 0", "left its loop too early"),
    Case("lingers", ("nothing", "0"), "answers", "missing required field `move`"),
    Case("logs", (), None),
    Case("nan", (), "answers", "invalid character", "JSON library", "move"),
    Case("nests", (), "answers", "nested too deep", waits="move"),
    Case("parent", ("nothing",), "clock", "no answer to move within", waits="move"),
    Case("ponders", ("1",), None),
    Case("pours", (), "stdout", "that are no JSON"),
    Case("says", ("move", '{"id":ID,"move":["p-c0"]}'), "answers", "expected `str`, got `array`"),
    Case("says", ("move", "LONG"), "answers", "at most 65536 bytes"),
    Case("says", ("hello", '{"id":ID,"protocol":2}'), "hello", "expected protocol 1, the bot chose 2"),
    Case("scribe", (os.devnull,), "reuse", "something is left of earlier games", "forget at game_start"),
    Case("shouts", (), "clock", "no answer to move within", waits="move"),
    Case("sleeps", (), "answers", "no answer to game_start", "answer every line but `bye`", "game_start"),
    Case("spins", (), "clock", "it goes on thinking", "think less", "move"),
    Case("stale", (), "answers", "which was answered or ran out before"),
    Case("stays", (), "bye", "it stays when it is told bye"),
    Case("stops", ("game_end",), "answers", "no answer to game_end", waits="game_end"),
    Case("strikes", (".",), "bye", "it stays when it is told bye"),
    Case("stubborn", (), "clock", "is idle, and says nothing", waits="move"),
    Case("suicide", (), "games", "SIGKILL"),
    Case("surrogate", (), "answers", "no answer to move, but a line that is no JSON", waits="move"),
    Case("teller", ("nothing",), "bye", "it stays when it is told bye"),
    Case("twice", (), "answers", "expected one answer to each request"),
    Case("vanishes", (), "starts", "exited with status 5"),
    Case("writes", (), "bye", "it stays when it is told bye"),
    Case("zeros", (), "games", "got: 'h2C-s0\\x00'"),
)


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """End what the bots leave, and let them write into a folder of the test only."""
    mark = Mark()
    monkeypatch.setenv(NAME, mark.environ()[NAME])
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield
    mark.end()


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join((case.bot, *case.arguments[:1])))
def test_the_first_step_that_fails_names_the_cause(case: Case) -> None:
    times = replace(BRIEF, listen_ms=300)
    if case.waits == "move":
        times = replace(times, move_ms=SHORT_MS)
    elif case.waits:
        times = replace(times, init_ms=SHORT_INIT_MS)
    if case.step is None or case.bot == "buffers":
        times = replace(times, exit_ms=PATIENT.exit_ms)

    failed = failures(examined(bot_of(BOTS / f"{case.bot}.py", *case.arguments), times))

    if case.step is None:
        assert failed == {}
        return
    step, fault = next(iter(failed.items()))
    assert (step, fault.cause) == (case.step, fault.cause)
    assert case.says in fault.cause
    assert case.hint in fault.hint
    assert fault.expected
    assert fault.lines
    others = failed.keys() - {step, "bye", "eof"}
    assert not others, f"one cause, one step: {failed}"


def test_the_table_names_every_bot() -> None:
    assert {case.bot for case in CASES} == {path.stem for path in BOTS.glob("*.py")}
