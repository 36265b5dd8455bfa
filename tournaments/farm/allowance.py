"""What the control groups around this process let it use of its machine: a container often has less than it sees."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from msgspec import Struct

SLOT_BYTES = 256 * 2**20
"""What a slot takes at least: a referee process and two small bots."""
UNBOUNDED = 2**60
"""What version 1 says where it bounds no memory is more than this."""
GROUPS = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")


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
        cpus = "" if self.cpus is None else f"{self.cpus:g} processors"
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
