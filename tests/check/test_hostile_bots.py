"""Misbehaving bots: the step that fails names the right cause."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.check.examined import PATIENT, bot_of, examined, failures
from tests.misbehaving import CHECKED, Misbehaving, title
from tests.processes import NAME, Mark
from tests.samples import sample
from tests.tables import BOTS

pytestmark = pytest.mark.slow

BRIEF = replace(PATIENT, exit_ms=300)
"""For bots that are not judged by how they exit."""
SHORT_MS = 400
"""For an action that never comes."""
WRONG_MS = 1500
"""For an action before which something wrong comes."""
SHORT_INIT_MS = 2000
"""For another answer that never comes."""


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """End what the bots leave, and let them write into a folder of the test only."""
    mark = Mark()
    monkeypatch.setenv(NAME, mark.environ()[NAME])
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield
    mark.end()


@pytest.mark.parametrize("case", sample((pytest.param(case, id=title(case)) for case in CHECKED), 3))
def test_the_first_step_that_fails_names_the_cause(case: Misbehaving) -> None:
    assert case.check
    expected = case.check
    # On a busy machine it takes a while to see that a bot computes.
    times = replace(BRIEF, listen_ms=1000 if "thinking" in expected.says else 300)
    if case.waits == "move":
        times = replace(times, move_ms=SHORT_MS if case.code == "timeout" else WRONG_MS)
    elif case.waits:
        times = replace(times, init_ms=SHORT_INIT_MS)
    if expected.step is None or case.bot == "buffers":
        times = replace(times, exit_ms=PATIENT.exit_ms)

    failed = failures(examined(bot_of(BOTS / f"{case.bot}.py", *case.arguments), times))

    if expected.step is None:
        assert failed == {}
        return
    step, fault = next(iter(failed.items()))
    assert step == expected.step, fault.cause
    assert expected.says in fault.cause
    assert expected.hint in fault.hint
    assert fault.expected
    assert fault.lines
    others = failed.keys() - {step, "bye", "eof"}
    assert not others, f"one cause, one step: {failed}"
