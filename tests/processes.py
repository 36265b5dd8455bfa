"""Which processes a test has started: those that carry its mark in their environment, under any parent."""

from __future__ import annotations

import os
import select
import signal
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

NAME = "MALICE_TEST_MARK"


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

    def left_after(self, seconds: float) -> list[int]:
        """Return the processes that live on after so many seconds; those that are gone sooner are not waited for."""
        deadline = time.monotonic() + seconds
        for pid in self.alive():
            try:
                pidfd = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            select.select([pidfd], [], [], max(0, deadline - time.monotonic()))
            os.close(pidfd)
        return list(self.alive())

    def end(self) -> None:
        """Kill what still lives."""
        for pid in self.alive():
            os.kill(pid, signal.SIGKILL)
