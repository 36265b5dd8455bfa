"""Runs that are killed again and again, at moments that a seed draws."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from tests.processes import PATIENCE_S
from tests.runs import Run

TOURNAMENT = """
entries = ["uniform", "first", "greedy"]
seed = "crash"
deals = 6
"""
AFTER_S = 0.15
"""How long a run lives on at most that has finished its games."""


def make_swiss(entries: int, rounds: int) -> str:
    """Return the file of a Swiss tournament with short matches, in which every round follows from the last one."""
    bots = [("uniform", "first", "greedy")[number % 3] for number in range(entries)]
    return f'entries = {bots}\nformat = "swiss"\nrounds = {rounds}\ndeals = 1\nseed = "crash"\n'


def play_undisturbed(run: Run) -> float:
    """Play the whole tournament; return how long a run that is killed may live: half of that, in seconds."""
    began = time.monotonic()
    code, _, err = run.finish()
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
