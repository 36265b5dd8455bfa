"""A referee process under guard: whatever it or its bots start is known, even what has left its parents."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from malice.referee.records import Batch, BatchDone, GameBegun, Record, Report, Started

WARDEN = Path(__file__).parent / "warden.py"


class Played(NamedTuple):
    """What came of a game."""

    record: Record
    seconds: float
    """From the order until the record came, by our own clock, which trusts nobody."""


class WardedReferee:
    """A referee process with a warden above it, and with a folder that is its home and the bots' temporary one."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="malice-test-")
        self.home = Path(self._folder.name)
        self.home.chmod(0o1777)  # for bots that have a user of their own too
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(WARDEN), sys.executable, "-P", "-m", "malice.referee"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"TMPDIR": str(self.home), "HOME": str(self.home)},
            cwd=Path(__file__).parents[1],
        )
        self._decoder: msgspec.json.Decoder[Report] = msgspec.json.Decoder(Report)
        self._first_kb: int | None = None

    @property
    def alive(self) -> bool:
        """Whether it can play another batch."""
        return self._process.poll() is None

    def play(self, batch: Batch) -> Played:
        """Play a batch of one game to its end."""
        assert self._process.stdin
        assert self._process.stdout
        ends: list[tuple[Record, float]] = []
        begin = time.monotonic()
        self._process.stdin.write(msgspec.json.encode(batch) + b"\n")
        self._process.stdin.flush()
        while not isinstance(report := self._decoder.decode(self._process.stdout.readline()), BatchDone):
            if isinstance(report, Started):
                self._first_kb = self._first_kb or self._peak_kb()
            elif not isinstance(report, GameBegun):
                assert isinstance(report, Record), report
                ends.append((report, time.monotonic() - begin))
        (end,) = ends
        return Played(*end)

    def growth_kb(self) -> int:
        """Return how much more memory it has held at a time than when it had started its first bot."""
        assert self._first_kb is not None
        return self._peak_kb() - self._first_kb

    def _peak_kb(self) -> int:
        status = Path(f"/proc/{self._referee()}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0])

    def _referee(self) -> int:
        return int(Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()[0])

    def find_left(self) -> list[int]:
        """Return the processes that bots have left."""
        return sorted(self._below() - {self._referee()})

    def _below(self) -> set[int]:
        """Find all that lives below the warden."""
        children: defaultdict[int, list[int]] = defaultdict(list)
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                pid, _, rest = path.read_text().partition(" ")
                state, parent = rest.rpartition(")")[2].split()[:2]
                if state != "Z":
                    children[int(parent)].append(int(pid))
        found: set[int] = set()
        unseen = [self._process.pid]
        while unseen:
            below = children[unseen.pop()]
            unseen += below
            found.update(below)
        return found

    def end(self) -> int:
        """Close its input; return its exit status."""
        assert self._process.stdin
        self._process.stdin.close()
        return self._process.wait(60)

    def close(self) -> None:
        """End it if it still lives, and all below it."""
        if self.alive:
            for pid in self._below():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            with suppress(BrokenPipeError):
                pipe.close()
        self._folder.cleanup()
