"""Standard descriptors that are closed or cannot be written to: nothing stops, and nothing is written elsewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.runs import MALICE, Run

CLOSED = "<&- >&- 2>&-"
SECURED = """
import subprocess
from malice.tournaments.commands.exit_codes import secure_descriptors
secure_descriptors()
with open("log", "w") as log:
    subprocess.run(["readlink", "/proc/self/fd/0", "/proc/self/fd/2"], stdout=log, check=True)
"""

pytestmark = pytest.mark.slow


def typed(how: str, *command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell that treats its descriptors like this."""
    line = ["sh", "-c", f'exec "$@" {how}', "sh", *command]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A tournament that was played without any standard descriptor."""
    run = Run(tmp_path_factory.mktemp("closed"))
    run.write('entries = ["greedy", "uniform"]\nseed = "closed"\ndeals = 1\nisolation = "none"')
    assert typed(CLOSED, *MALICE, "run", "t.toml", folder=run.folder).returncode == 0
    return run


@pytest.mark.whole
@pytest.mark.parametrize("how", ["2>&-", ">&-", "2>/dev/full", "2</dev/null"])
def test_a_run_plays_on_and_its_league_is_the_same(how: str, run: Run, tmp_path: Path) -> None:
    other = Run(tmp_path)
    other.write((run.folder / "t.toml").read_text())

    done = typed(how, *MALICE, "run", "t.toml", "--db", "t.db", folder=tmp_path)

    assert done.returncode == 0
    assert done.stdout.splitlines()[:1] == ["short, 2 seats: 2 games, Elo relative to the mean"] * (how != ">&-")
    assert other.is_whole()
    assert other.digests() == run.digests()
    assert len(run.digests()) == 2


@pytest.mark.parametrize(
    "words",
    [
        ("standings", "t.db"),
        pytest.param(("verify", "t.db"), marks=pytest.mark.whole),
        pytest.param(("export", "t.db"), marks=pytest.mark.whole),
        ("site", "t.db", "--out", "pages"),
        pytest.param(("play", "greedy", "uniform", "--deals", "1", "--isolation", "none"), marks=pytest.mark.whole),
    ],
    ids=lambda words: words[0],
)
def test_a_command_ends_well_and_writes_into_no_file(words: tuple[str, ...], run: Run) -> None:
    league = run.db.read_bytes()

    done = typed(CLOSED, *MALICE, *words, folder=run.folder)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert run.db.read_bytes() == league
    assert {path.name for path in run.folder.iterdir()} <= {"t.toml", "short.toml", "t.db", "t.bots", "pages"}


def test_an_error_has_its_exit_code_though_nobody_can_read_it(run: Run) -> None:
    assert typed(CLOSED, *MALICE, "standings", "nowhere.db", folder=run.folder).returncode == 2


def test_children_have_the_null_device_too(tmp_path: Path) -> None:
    assert typed(CLOSED, sys.executable, "-c", SECURED, folder=tmp_path).returncode == 0
    assert (tmp_path / "log").read_text() == "/dev/null\n" * 2
