"""A bot process: how it is started, what is kept of its stderr, and how it is ended for sure."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from protocol.codec import LineBuffer
from referee.records import Player
from referee.verdicts import exit_in_words

EXCERPT_BYTES = 8192
"""How much of the start and of the end of stderr is kept."""

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


class Excerpt:
    """The first and the last bytes of a stream that may be endless."""

    def __init__(self, size: int = EXCERPT_BYTES) -> None:
        self._size = size
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._head = b""
        self._tail = b""
        self._dropped = 0

    def add(self, data: bytes) -> None:
        """Add what came."""
        room = self._size - len(self._head)
        self._head += data[:room]
        tail = self._tail + data[room:]
        self._dropped += max(0, len(tail) - self._size)
        self._tail = tail[-self._size :]

    def text(self) -> str:
        """Return what was kept, with a line that says how much is missing in between."""
        gap = f"\n... {self._dropped} bytes left out ...\n".encode() if self._dropped else b""
        return (self._head + gap + self._tail).decode("utf-8", "replace")


class Bot:
    """A running bot, in a session of its own; it dies with the thread that started it.

    Raises:
        OSError: the command cannot be started.
    """

    def __init__(self, player: Player) -> None:
        self.player = player
        self.name = player.name or player.label
        self.version = player.version
        self.wants_legal = True
        self.requests = 0
        self.games = 0
        self.buffer = LineBuffer()
        self.errors = Excerpt()
        self.process = subprocess.Popen(
            player.command,
            cwd=player.cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            preexec_fn=_die_with(os.getpid()),
        )
        self.pid = self.process.pid
        self.pidfd = os.pidfd_open(self.pid)
        assert self.process.stdin
        assert self.process.stdout
        assert self.process.stderr
        self.stdin = self.process.stdin.fileno()
        self.stdout = self.process.stdout.fileno()
        self.stderr = self.process.stderr.fileno()
        for pipe in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(pipe, False)
        # The kernel's name for the CPU clock of another process: see clock_getcpuclockid(3).
        self._cpu_clock = (~self.pid << 3) | 2

    def cpu_ns(self) -> int:
        """Return the CPU time that the process has used so far, in nanoseconds; 0 once it is gone."""
        try:
            return time.clock_gettime_ns(self._cpu_clock)
        except OSError:
            return 0

    def start_time(self) -> int:
        """Return when the process was started, in clock ticks since boot: with the pid it names one process."""
        stat = Path(f"/proc/{self.pid}/stat").read_text()
        return int(stat.rpartition(")")[2].split()[19])

    def drain_stderr(self) -> bool:
        """Keep what waits on stderr; return False once it is closed."""
        try:
            data = os.read(self.stderr, 65_536)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self.errors.add(data)
        return bool(data)

    def exit(self, wait_s: float = 0) -> str | None:
        """Say how the process ended, or None while it lives; give it `wait_s` seconds to do so."""
        try:
            return exit_in_words(self.process.wait(wait_s))
        except subprocess.TimeoutExpired:
            return None

    def close_input(self) -> None:
        """Tell the bot that nothing more will come."""
        if self.process.stdin:
            with contextlib.suppress(OSError):
                self.process.stdin.close()

    def kill(self) -> None:
        """End the whole process group, close the pipes, and reap; safe to call again."""
        if self.pidfd < 0:
            return
        # The group outlives its leader, and its number is not used anew before it is empty.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()
        os.close(self.pidfd)
        self.pidfd = -1


def _die_with(parent: int) -> Callable[[], None]:
    def arm() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return arm
