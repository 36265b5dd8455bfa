"""What this machine has to play with: what its control groups leave to a worker, and how fast it computes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from statistics import mean
from typing import Annotated

from msgspec import Meta, Struct

from malice.protocol.errors import MaliceError

SLOT_BYTES = 256 * 2**20
"""What a slot takes at least: a referee process and two small bots."""
UNBOUNDED = 2**60
"""What version 1 says where it bounds no memory is more than this."""
GROUPS = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")

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


class Allowance(Struct, frozen=True):
    """What a process may use; None is as much as there is."""

    cpus: float | None = None
    """How many processors at a time, on average."""
    memory: int | None = None
    """Bytes."""

    def bound_slots(self, slots: int, cpus_per_slot: int) -> int:
        """How many of so many slots it leaves, at least 1."""
        if self.cpus is not None:
            slots = min(slots, int(self.cpus / cpus_per_slot + 0.01))
        if self.memory is not None:
            slots = min(slots, self.memory // SLOT_BYTES)
        return max(1, slots)

    def describe(self) -> str:
        """What it allows, in words; empty if that is all."""
        cpus = "" if self.cpus is None else f"{self.cpus:g} {'processor' if self.cpus == 1 else 'processors'}"
        memory = "" if self.memory is None else f"{self.memory // 2**20} MiB of memory"
        return " and ".join(filter(None, (cpus, memory)))


ALL = Allowance()


def read_allowance(groups: Path = GROUPS, own: Path = OWN) -> Allowance:
    """Read what the control groups of this process, and those around them, allow.

    Args:
        groups: where they are mounted.
        own: which of them are its own.
    """
    cpus: list[float] = []
    memory: list[int] = []
    for folder in _list_folders(groups, own):
        cpus += _read_cpus(folder)
        memory += _read_memory(folder)
    return Allowance(min(cpus, default=None), min(memory, default=None))


def _list_folders(groups: Path, own: Path) -> Iterator[Path]:
    """Yield the folders of our groups and of those around them; a container may see its own as the root."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, names, path = line.split(":", 2)
        inside = PurePosixPath(path.strip("/"))
        roots = [groups, groups / "unified"] if not names else [groups / names.removeprefix("name=")]
        for root in roots:
            yield from (root / each for each in (inside, *inside.parents))


def _read_cpus(folder: Path) -> Iterator[float]:
    words = _read(folder / "cpu.max").split()
    quota = words[0] if words else _read(folder / "cpu.cfs_quota_us").strip()
    period = words[1] if len(words) > 1 else _read(folder / "cpu.cfs_period_us").strip()
    if quota.isdigit() and period.isdigit() and int(period):
        yield int(quota) / int(period)


def _read_memory(folder: Path) -> Iterator[int]:
    for name in ("memory.max", "memory.limit_in_bytes"):
        text = _read(folder / name).strip()
        if text.isdigit() and int(text) < UNBOUNDED:
            yield int(text)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


Factor = Annotated[float, Meta(ge=0.001, le=1000)]


class Speeds(Struct, frozen=True, forbid_unknown_fields=True):
    """How fast a machine computes with all slots at work, as multiples of a reference that does nothing else."""

    cpu: Factor
    """In a second of CPU time."""
    wall: Factor
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
