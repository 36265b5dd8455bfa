"""What sweeps away control groups and processes of the dead touches nothing of the living, or of other namespaces."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from malice.referee.bot import kill_group
from malice.referee.isolation import cgroups
from tests.processes import PATIENCE_S

pytestmark = pytest.mark.slow


@pytest.fixture
def gone() -> int:
    """Return the number of a process that is gone."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def parents_in(folder: Path) -> cgroups.Parents:
    found = cgroups.Parents()
    found.freeze = folder
    return found


def group(folder: Path, name: str, *members: int) -> Path:
    """Make what looks like a control group; return its folder."""
    made = folder / name
    made.mkdir()
    (made / "cgroup.procs").write_text("".join(f"{pid}\n" for pid in members))
    return made


def test_a_group_with_a_process_of_another_namespace_is_left_alone(gone: int, tmp_path: Path) -> None:
    """The kernel writes 0 for it, which as a number to signal is one's own group: so somebody else tries it."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as beside:
        group(tmp_path, f"malice-{gone}-0-{cgroups._namespace()}", beside.pid, 0)
        sweep = (
            "import sys; from pathlib import Path; from malice.referee.isolation import cgroups\n"
            "cgroups.REMOVE_WAIT_S = 0.01\n"
            "found = cgroups.Parents(); found.freeze = Path(sys.argv[1]); cgroups.sweep(found)"
        )

        done = subprocess.run([sys.executable, "-P", "-c", sweep, tmp_path], start_new_session=True, check=False)

        assert done.returncode == 0
        assert beside.poll() is None


@pytest.mark.parametrize("name", ["malice-{gone}-0-1", "malice-{gone}-0", "malice-1-0-{ours}", "malice-{we}-0-{ours}"])
def test_groups_whose_owner_may_live_stay(name: str, gone: int, tmp_path: Path) -> None:
    folder = tmp_path / name.format(gone=gone, we=os.getpid(), ours=cgroups._namespace())
    folder.mkdir()

    cgroups.sweep(parents_in(tmp_path))

    assert folder.exists()


def test_a_group_of_a_process_that_is_gone_is_removed(gone: int, tmp_path: Path) -> None:
    folder = tmp_path / f"malice-{gone}-7-{cgroups._namespace()}"
    folder.mkdir()

    cgroups.sweep(parents_in(tmp_path))

    assert not folder.exists()


@pytest.mark.memory_group
def test_what_is_left_in_the_group_of_a_process_that_is_gone_is_killed(gone: int) -> None:
    where = cgroups.find_parents().memory
    assert where
    folder = where / f"malice-{gone}-0-{cgroups._namespace()}"
    folder.mkdir()
    with subprocess.Popen(["sleep", "600"]) as left:
        (folder / "cgroup.procs").write_text(str(left.pid))
        cgroups.sweep(cgroups.find_parents())

        assert left.wait(PATIENCE_S) == -9
    assert not folder.exists()


@pytest.mark.parametrize("number", [0, 1, -1])
def test_no_number_stands_for_our_own_group_or_for_everybody(number: int) -> None:
    assert not kill_group(number)


def test_a_group_is_killed_by_its_number_once(gone: int) -> None:
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as leader:
        assert kill_group(leader.pid)
        assert leader.wait(PATIENCE_S) == -9
    assert not kill_group(gone)
