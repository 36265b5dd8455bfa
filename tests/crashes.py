"""Runs that are killed at given points, and again and again at moments that a seed draws."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.processes import PATIENCE_S
from tests.runs import MALICE, Run

TOURNAMENT = """
entries = ["uniform", "first", "greedy"]
seed = "crash"
deals = 6
"""
SMALL = 'entries = ["uniform", "first"]\nseed = "small"\ndeals = 3\nname = "small"\n'
PAGES = ("--site", "pages")
AFTER_S = 0.15
"""How long a run lives on at most that has finished its games."""

DYING = """
import os, signal, sys
word, times = sys.argv.pop(1), int(sys.argv.pop(1))

def die_at(what):
    global times
    times -= word in what
    if not times:
        os.kill(os.getpid(), signal.SIGKILL)

from malice.site_pages import files
from malice.tournaments.league import store

class Dying(store.Store):
    def _begin_writing(self):
        self._file.connection.set_trace_callback(die_at)
        super()._begin_writing()

store.Store = Dying
replace = os.replace
def dying_replace(draft, path):
    die_at(f"page {path}")
    replace(draft, path)
files.os.replace = dying_replace

from malice.tournaments.running import coordinator
read, lines = coordinator.RefereeProcess._read_lines, []
async def read_line(process):
    global lines
    lines = lines or await read(process)
    return [lines.pop(0)] if lines else []
coordinator.RefereeProcess._read_lines = read_line

from malice.tournaments.cli import main
from malice.tournaments.commands import pages
pages.PROGRAM = ("false",)  # so that the run itself writes the pages
main(prog_name="malice")
"""
"""The command line, but it kills itself before the n-th SQL statement or page with a given word in it.

It reads reports one by one, so that no games arrive together: each has a transaction of its own.
"""


class Point(NamedTuple):
    """A moment of a run: before the n-th SQL statement or page with a given word in it."""

    word: str
    times: int = 1
    options: tuple[str, ...] = ()


FEW_POINTS = (
    Point("CREATE TABLE games"),
    Point("COMMIT", 5),
    Point("page", 9, PAGES),
)
"""While the league is founded, before a game is committed, and among the pages."""
POINTS = (
    *FEW_POINTS,
    Point("INSERT INTO records", 3),
    Point("journal_mode = DELETE"),
    Point("INSERT INTO journal", 1),
    Point("INSERT INTO journal", 5),
    Point("COMMIT", 2),
    Point("BEGIN IMMEDIATE", 6),
    Point("INSERT INTO journal", 6),
    Point("wal_checkpoint"),
    Point("page", 1, PAGES),
    Point("index.html", 1, PAGES),
)


def play_small(folder: Path) -> Run:
    """Play a small tournament with its pages, undisturbed."""
    run = Run(folder)
    run.write(SMALL)
    code, _, err = run.finish(*PAGES)
    assert code == 0, err
    return run


def die_and_go_on(point: Point, run: Run, small: Run) -> None:
    """Let the small tournament die at a point and go on; check that it is the undisturbed one."""
    run.write(SMALL)
    dying = (sys.executable, "-P", "-c", DYING, point.word, str(point.times))
    code, _, _ = run.finish("--jobs", "1", *point.options, malice=dying)

    assert code == -signal.SIGKILL
    assert run.mark.await_end() == []
    assert run.is_whole()
    before = run.digests()
    code, _, err = run.finish(*point.options)
    assert code == 0, err
    assert before.items() <= run.digests().items()
    assert run.sha() == small.sha()
    left = _list_files(small.folder)
    assert _list_files(run.folder) == {name for name in left if point.options or not name.startswith("pages")}


def _list_files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def make_swiss(entries: int, rounds: int) -> str:
    """Return the file of a Swiss tournament with short matches, in which every round follows from the last one."""
    bots = [("uniform", "first", "greedy")[number % 3] for number in range(entries)]
    return f'entries = {bots}\nformat = "swiss"\nrounds = {rounds}\ndeals = 1\nseed = "crash"\n'


def play_undisturbed(run: Run) -> float:
    """Play the whole tournament; return how long a run that is killed may live: half of that, in seconds."""
    began = time.monotonic()
    code, _, err = run.finish(malice=MALICE)
    assert code == 0, err
    return (time.monotonic() - began) / 2


def kills(run: Run, times: int, seed: int, longest_s: float, games: int = 0) -> Iterator[str]:
    """Start a run and kill it so many times; tell each time what was done, and check that nothing suffered.

    Every third time the referees are killed with it. Once the tournament is complete, it begins anew.

    Args:
        run: where the tournament lies.
        times: how often.
        seed: draws the moments.
        longest_s: how many seconds a run lives at most, from its start or after `games`.
        games: how many more games a run finishes at most before; 0 counts from its start.
    """
    chance = random.Random(seed)
    before = run.digests(counting=False)  # the end of a part may leave some of them out
    for number in range(times):
        delay = chance.uniform(0.05, longest_s)
        process = run.start()
        if games:
            run.await_games(len(before) + chance.randint(0, games), process)
        time.sleep(delay)
        victims = [process.pid, *(run.find_referees() if number % 3 == 2 else [])]
        for pid in victims:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        process.communicate(timeout=PATIENCE_S)

        left = run.mark.await_end()
        assert left == [], f"kill {number} after {delay:.2f} s: processes live on: {list(map(told, left))}"
        assert not run.db.exists() or run.is_whole(), f"kill {number}: the file is damaged"
        now = run.digests(counting=False)
        assert before.items() <= now.items(), f"kill {number}: games were lost or changed"
        yield f"killed {len(victims)} processes after {delay:.2f} s, {len(before)} -> {len(now)} games"
        before = now
        if process.returncode == 0:
            yield f"it was complete: {run.sha()}"
            run.db.unlink()
            before = {}


def told(pid: int) -> str:
    """Say what a process is, for the sentence of a failure."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        state, parent, group = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:3]
    except OSError:
        return f"{pid}: gone by now"
    return f"{pid}: {command.strip()} (state {state}, parent {parent}, group {group})"
