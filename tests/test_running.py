"""What a killed run leaves is ended by the next one, and nobody else's processes are."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from malice.referee.bot import read_start_time
from malice.referee.records import Started
from malice.tournaments.running.leftovers import LedgerFile, ProcessLedger, end_leftovers
from tests.processes import PATIENCE_S, POLL_S
from tests.runs import Run
from tests.tables import BOTS

pytestmark = pytest.mark.slow


@pytest.fixture
def leader() -> Iterator[subprocess.Popen[bytes]]:
    """A process that leads a session of its own, with a child in it."""
    with subprocess.Popen(
        ["sh", "-c", "sleep 600 & echo; exec sleep 600"], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout
        process.stdout.readline()
        yield process
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def known(process: subprocess.Popen[bytes]) -> Started:
    return Started(process.pid, read_start_time(process.pid) or 0)


def group_lives(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    return True


def rewrite(path: Path, **changes: object) -> None:
    ledger = msgspec.json.decode(path.read_bytes(), type=LedgerFile)
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(ledger, **changes)))


def test_a_leader_that_lives_is_ended_with_its_group(leader: subprocess.Popen[bytes], tmp_path: Path) -> None:
    ProcessLedger(tmp_path / "account").add(known(leader))

    assert end_leftovers(tmp_path / "account") == 1
    assert leader.wait(PATIENCE_S) == -signal.SIGKILL


def test_a_group_that_outlived_its_leader_is_ended(leader: subprocess.Popen[bytes], tmp_path: Path) -> None:
    ProcessLedger(tmp_path / "account").add(known(leader))
    leader.kill()
    leader.wait()
    assert group_lives(leader.pid)

    assert end_leftovers(tmp_path / "account") == 1


@pytest.mark.parametrize("changes", [{"boot": "another"}, {"leaders": "later"}])
def test_a_number_that_now_is_somebody_elses_is_left_alone(
    changes: dict[str, object], leader: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    ProcessLedger(tmp_path / "account").add(known(leader))
    if "leaders" in changes:
        changes = {"leaders": (Started(leader.pid, known(leader).start_time - 1),)}
    rewrite(tmp_path / "account", **changes)

    assert end_leftovers(tmp_path / "account") == 0
    assert leader.poll() is None


def test_a_group_that_came_to_be_after_the_run_had_died_is_left_alone(
    leader: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    found = known(leader)
    ProcessLedger(tmp_path / "account").add(found)
    rewrite(tmp_path / "account", beat=found.start_time - 1000, leaders=(Started(found.pid, found.start_time - 2000),))
    leader.kill()
    leader.wait()

    assert end_leftovers(tmp_path / "account") == 0
    assert group_lives(leader.pid)


def test_what_was_struck_out_is_not_ended(leader: subprocess.Popen[bytes], tmp_path: Path) -> None:
    running = ProcessLedger(tmp_path / "account")
    running.add(known(leader))
    running.remove(leader.pid)
    running.beat()

    assert end_leftovers(tmp_path / "account") == 0


def test_without_an_account_or_with_a_torn_one_nothing_is_done(tmp_path: Path) -> None:
    (tmp_path / "torn").write_bytes(b'{"boot":')

    assert end_leftovers(tmp_path / "none") == 0
    assert end_leftovers(tmp_path / "torn") == 0


def test_children_of_bots_that_outlive_malice_and_its_referees_are_ended_by_the_next_run(tmp_path: Path) -> None:
    run = Run(tmp_path)
    os.mkfifo(run.fifo)
    bot = f"{sys.executable} {BOTS / 'parent.py'} fifo"
    run.write(f'entries = ["{bot}", "first"]\nclock = {{ move_ms = 60_000 }}\ndeals = 1\nisolation = "none"')
    process = run.start("--jobs", "1")
    wait_for_a_child(run)
    await_leaders(run, 3)
    process.send_signal(signal.SIGSTOP)  # as if all were killed at once: it cannot tidy up any more
    for pid in run.find_referees():
        os.kill(pid, signal.SIGKILL)
    process.kill()
    process.communicate(timeout=PATIENCE_S)
    left = run.mark.await_end(but=1)
    assert len(left) == 1, "the child of the bot"

    process = run.start("--jobs", "1")
    wait_for_a_child(run)

    assert not set(left) & set(run.mark.alive())
    process.terminate()
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 3
    assert "an earlier run was killed: ended 1 process group that it left" in err
    assert run.mark.await_end() == []
    assert sorted(path.name for path in run.folder.iterdir()) == ["fifo", "short.toml", "t.bots", "t.db", "t.toml"]


def await_leaders(run: Run, leaders: int) -> None:
    """Wait until a run has recorded so many groups: that of its referee, and those of the bots."""
    path, deadline = run.folder / "t.db-running", time.monotonic() + PATIENCE_S
    while len(msgspec.json.decode(path.read_bytes(), type=LedgerFile).leaders) < leaders:
        assert time.monotonic() < deadline, path.read_text()
        time.sleep(POLL_S)


def wait_for_a_child(run: Run) -> None:
    """Wait until the bot has started a child and thinks for ever."""
    pipe = os.open(run.fifo, os.O_RDONLY | os.O_NONBLOCK)
    assert select.select([pipe], [], [], PATIENCE_S)[0]
    os.close(pipe)
