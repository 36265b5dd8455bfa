"""Which processes a test has started: those that carry its mark in their environment, under any parent."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

NAME = "MALICE_TEST_MARK"
PATIENCE_S = 600
"""For what happens soon, on however slow a machine."""
POLL_S = 0.02
"""How often something is looked for that tells nobody that it has happened."""


def await_end(find: Callable[[], list[int]], but: int = 0) -> list[int]:
    """Wait until `find` finds no process any more, or no more than so many; return those that it still finds."""
    deadline = time.monotonic() + PATIENCE_S
    while len(left := find()) > but and (rest := deadline - time.monotonic()) > 0:
        pidfds = []
        for pid in left:
            with suppress(ProcessLookupError):
                pidfds.append(os.pidfd_open(pid))
        select.select(pidfds, [], [], rest if len(pidfds) == len(left) else 0)
        for pidfd in pidfds:
            os.close(pidfd)
    return left


class Mark:
    """A mark that a process inherits from its parent and cannot lose."""

    def __init__(self) -> None:
        self._value = uuid.uuid4().hex

    def environ(self) -> dict[str, str]:
        """Return our environment with the mark in it."""
        return os.environ | self.variable()

    def variable(self) -> dict[str, str]:
        """Return the variable that is the mark."""
        return {NAME: self._value}

    def alive(self) -> Iterator[int]:
        """Find the processes that carry the mark."""
        wanted = f"{NAME}={self._value}".encode()
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    if wanted in (entry / "environ").read_bytes().split(b"\0"):
                        yield int(entry.name)
                except OSError:
                    continue

    def find(self, word: str) -> list[int]:
        """Return the processes that carry the mark, and whose command has this word."""
        found = []
        for pid in self.alive():
            with suppress(OSError):
                if word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                    found.append(pid)
        return found

    def await_end(self, but: int = 0) -> list[int]:
        """Wait until all these processes are gone, or all but so many; return those that live on."""
        return await_end(lambda: list(self.alive()), but)

    def end(self) -> None:
        """Kill what still lives."""
        for pid in self.alive():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def list_loaded(program: str) -> set[str]:
    """Run a program and return the names of the modules that it loaded."""
    program += "\nimport sys\nprint(*sys.modules)\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())
