"""How fast this machine computes while all its slots are at work."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from statistics import mean

from msgspec import Struct

from malice.protocol.errors import MaliceError

ROUNDS_PER_S = 6000.0
"""What a machine of speed 1 does in a second of CPU time."""
RUNS = 20
"""How often each slot measures, one time after the other."""
RUN_S = 0.1
PATIENCE_S = 60.0

PROGRAM = """
import os, sys, time
from hashlib import sha256

runs, seconds, cpus = int(sys.argv[1]), float(sys.argv[2]), [int(word) for word in sys.argv[3:]]
if cpus:
    os.sched_setaffinity(0, cpus)

def play_round():
    # What bots do all day: arithmetic, lists, dictionaries, sorting, strings, and some work in C.
    cards = [number * 7919 % 52 for number in range(312)]
    piles = {}
    for place, card in enumerate(cards):
        piles.setdefault(card % 13, []).append((card, place))
    best = sorted(piles.values(), key=lambda pile: (len(pile), sum(card for card, _ in pile)))
    text = ",".join(str(card) for pile in best for card, _ in sorted(pile))
    return sha256(text.encode() * 8).digest()

for _ in range(200):
    play_round()
print("ready", flush=True)
sys.stdin.readline()
rates, total, start = [], 0, time.monotonic()
for _ in range(runs):
    rounds, begin = 0, time.process_time()
    end = time.monotonic() + seconds
    while time.monotonic() < end or not rounds:
        play_round()
        rounds += 1
    rates.append(rounds / (time.process_time() - begin))
    total += rounds
print(*rates)
print(total / (time.monotonic() - start))
"""


class Speeds(Struct, frozen=True):
    """How fast a machine computes with all slots at work, as multiples of a reference that does nothing else."""

    cpu: float
    """In a second of CPU time."""
    wall: float
    """In a second of the clock on the wall; less where processors are shared, or a control group bounds them."""


def measure_speeds(cpu_sets: Sequence[Sequence[int]], run_s: float = RUN_S, runs: int = RUNS) -> Speeds:
    """Measure how fast this machine computes with all slots at work.

    A program that does what bots do runs on every slot at the same time, again and again.

    Args:
        cpu_sets: the processors of each slot; an empty set lets the system choose.
        run_s: how long each measurement of a slot takes, in seconds.
        runs: how many a slot makes.

    Raises:
        MaliceError: the program does not run.
    """
    programs = [_start(cpus, run_s, runs) for cpus in cpu_sets]
    try:
        for program in programs:
            assert program.stdout
            program.stdout.readline()  # all of them are ready before any begins
        told = [program.communicate(timeout=PATIENCE_S)[0].split("\n") for program in _release(programs)]
        rates = [choose_rate(lines[0], runs) for lines in told]
        walls = [float(lines[1]) for lines in told]
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired) as error:
        raise MaliceError(f"the calibration failed: {error}") from None
    finally:
        for program in programs:
            program.kill()
            program.wait()
    return Speeds(*(round(mean(each) / ROUNDS_PER_S, 3) for each in (rates, walls)))


def choose_rate(text: str, runs: int = RUNS) -> float:
    """Choose the second best of the rates that a slot measured.

    Whatever else runs on a machine, or beside it on the same host, makes some measurements slower, often half of
    them, and none faster: mean and median follow the neighbours. The best one alone may be a quirk of a clock.

    Raises:
        ValueError: these are not so many numbers.
    """
    rates = sorted(map(float, text.split()))
    if len(rates) != runs:
        raise ValueError(f"expected {runs} rates, got {len(rates)}")
    return rates[-2]


def _start(cpus: Sequence[int], run_s: float, runs: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-I", "-c", PROGRAM, str(runs), str(run_s), *map(str, cpus)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _release(programs: Sequence[subprocess.Popen[str]]) -> Sequence[subprocess.Popen[str]]:
    """Let all programs begin before the first is waited for."""
    for program in programs:
        assert program.stdin
        program.stdin.write("go\n")
        program.stdin.flush()
    return programs
