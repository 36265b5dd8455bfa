"""Whatever ends a run, and whenever: nothing finished is lost or doubled, nothing is left, and it can go on."""

from __future__ import annotations

import ctypes
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crashes import (
    AFTER_S,
    FEW_POINTS,
    TOURNAMENT,
    Point,
    die_and_go_on,
    kills,
    make_swiss,
    play_small,
    play_undisturbed,
)
from tests.processes import PATIENCE_S
from tests.runs import MALICE, Run, read_until
from tests.samples import sample
from tests.tables import BOTS

pytestmark = pytest.mark.slow


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    each = Run(tmp_path)
    yield each
    each.mark.end()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A small tournament with its pages, undisturbed."""
    return play_small(tmp_path_factory.mktemp("small"))


@pytest.fixture
def stopping(run: Run) -> Iterator[Run]:
    """A tournament whose bot stops in its third game until somebody listens."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup, a run would ignore it as we do
    os.mkfifo(run.fifo)
    teller = f"{sys.executable} {BOTS / 'teller.py'} fifo"
    run.write(f'entries = ["{teller}", "first"]\nseed = "told"\ndeals = 12\ninit_ms = 60_000\n', "auto")
    yield run
    signal.signal(signal.SIGHUP, before)


@pytest.mark.whole
def test_kills_lose_nothing_and_the_tournament_is_the_same(run: Run, tmp_path_factory: pytest.TempPathFactory) -> None:
    undisturbed = Run(tmp_path_factory.mktemp("undisturbed"))
    for each in (run, undisturbed):
        each.write(TOURNAMENT, "auto")
    longest_s = play_undisturbed(undisturbed)

    told = list(kills(run, 3, 7, longest_s))
    code, _, err = run.finish()

    assert code == 0, err
    assert len(told) >= 3
    assert run.sha() == undisturbed.sha()


@pytest.mark.whole
def test_kills_change_no_pairing_of_a_swiss(run: Run, tmp_path_factory: pytest.TempPathFactory) -> None:
    undisturbed = Run(tmp_path_factory.mktemp("undisturbed"))
    for each in (run, undisturbed):
        each.write(make_swiss(entries=6, rounds=3))
    assert undisturbed.finish()[0] == 0

    told = list(kills(run, 3, 13, AFTER_S, games=6))
    code, _, err = run.finish()

    assert code == 0, err
    assert len(told) >= 3
    assert len({line.rpartition("-> ")[2] for line in told}) > 1, "most runs finish games before they are killed"
    assert run.games() == 3 * 3 * 2
    assert run.sha() == undisturbed.sha()


@pytest.mark.parametrize("point", FEW_POINTS, ids=lambda point: f"{point.word} {point.times}")
def test_a_run_that_dies_at_this_point_goes_on_as_if_nothing_had_been(point: Point, run: Run, small: Run) -> None:
    die_and_go_on(point, run, small)


@pytest.mark.parametrize("number", sample([signal.SIGTERM, signal.SIGHUP], 2))
def test_a_signal_stops_at_once_and_in_order(number: signal.Signals, stopping: Run) -> None:
    process = stopping.start("--jobs", "1")
    with stopping.in_the_third_game():
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 3
    assert f"stopped by {number.name} after 2 of 24 games; resume with: malice run t.toml" in err
    assert "Traceback" not in err
    assert stopping.mark.await_end() == []
    assert stopping.is_whole()


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, *(pytest.param(each, marks=pytest.mark.whole) for each in (signal.SIGINT, signal.SIGHUP))],
)
def test_a_signal_after_ctrl_c_stops_at_once(number: signal.Signals, stopping: Run) -> None:
    process = stopping.start("--jobs", "1")
    with stopping.in_the_third_game():
        process.send_signal(signal.SIGINT)
        read_until(process, "finishing")
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 3
    assert f"stopped by {number.name} after 2 of 24 games" in err
    assert stopping.mark.await_end() == []
    assert stopping.is_whole()
    assert stopping.games() == 2


@pytest.mark.whole
def test_a_hang_up_that_is_ignored_from_the_start_does_not_stop_the_run(stopping: Run) -> None:
    process = stopping.start("--jobs", "1", malice=("nohup", *MALICE))
    with stopping.in_the_third_game():
        process.send_signal(signal.SIGHUP)
    _, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 0, err


def test_a_signal_before_the_first_game_leaves_nothing(stopping: Run) -> None:
    fifo = stopping.folder / "parent"
    os.mkfifo(fifo)
    bot = "import signal, sys; open(sys.argv[1], 'w').write('here'); signal.pause()"
    stopping.write(f"""entries = ["first", '''{sys.executable} -I -c "{bot}" parent''']\ninit_ms = 60_000""", "auto")
    process = stopping.start()
    with fifo.open() as pipe:
        assert pipe.read() == "here"

    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 3
    assert "interrupted; resume with: malice run t.toml --db t.db" in err
    assert stopping.mark.await_end() == []


def test_a_terminal_that_is_closed_stops_in_order(stopping: Run) -> None:
    ours, theirs = pty.openpty()
    take_terminal = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    process = subprocess.Popen(
        [*MALICE[:-1], take_terminal + MALICE[-1], "run", "t.toml", "--db", "t.db", "--jobs", "1"],
        cwd=stopping.folder,
        env=stopping.mark.environ(),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    with stopping.in_the_third_game():
        os.close(ours)
        code = process.wait(PATIENCE_S)

    assert code == 3
    assert stopping.mark.await_end() == []
    assert stopping.is_whole()
    assert stopping.games() == 2


def test_a_disk_that_fills_while_pages_are_written_is_one_line_and_old_pages_stay(small: Run, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(small.folder, folder)
    pages = {path: path.read_bytes() for path in (folder / "pages").rglob("*.*")}
    bots = folder / "pages" / "bots"
    for path in bots.iterdir():
        pages[path] = b"<p>old</p>"
        path.write_bytes(pages[path])

    done = subprocess.run(
        ["sh", "-c", 'ulimit -f 2; exec "$@"', "sh", *MALICE, "site", "t.db", "--out", "pages"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )

    assert done.returncode == 1
    assert re.fullmatch(r"Error: pages/bots/\w+\.html: File too large\n", done.stderr), done.stderr
    assert {path: path.read_bytes() for path in (folder / "pages").rglob("*.*")} == pages


def _obey_file_modes() -> None:
    """Give up what lets root write where the mode of a file forbids it."""
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)


def test_a_finished_league_is_read_from_a_folder_that_cannot_be_written(small: Run) -> None:
    with tempfile.TemporaryDirectory(prefix="malice-test-") as name:
        folder = Path(name)
        shutil.copy(small.db, folder)
        (folder / "t.db").chmod(0o444)
        folder.chmod(0o555)
        try:
            touch = subprocess.run(["touch", "x"], cwd=folder, preexec_fn=_obey_file_modes, check=False)
            assert touch.returncode, "the folder is not read-only"
            done = subprocess.run(
                [*MALICE, "verify", "t.db"],
                cwd=folder,
                preexec_fn=_obey_file_modes,
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
                check=False,
            )
        finally:
            folder.chmod(0o755)

    assert done.returncode == 0, done.stderr
    assert small.sha() in done.stdout


def test_games_that_no_referee_survives_are_named_and_a_later_run_plays_them(run: Run) -> None:
    bot = f"{sys.executable} {BOTS / 'strikes.py'} peace"
    run.write(f'entries = ["{bot}", "first", "uniform"]\ndeals = 1\nisolation = "none"\n')

    code, _, err = run.finish()

    assert code == 3
    assert "Error: 4 games could not be played:\n" in err
    assert [line.split(":")[0].strip() for line in err.splitlines() if "referee process ended (-9)" in line] == [
        "0.0.0.0",
        "0.0.0.1",
        "0.2.0.0",
        "0.2.0.1",
    ]
    assert err.endswith("resume with: malice run t.toml --db t.db --jobs 1\n")
    assert {key.table for key in run.digests()} == {1}, "the others were played all the same"
    assert run.mark.await_end() == []
    (run.folder / "peace").mkdir()
    code, _, err = run.finish()
    assert code == 0, err
    assert "2 games are already played" in err
    assert run.games() == 6
