"""Starts a bot process, keeps an excerpt of its stderr, and makes sure that it ends."""

from __future__ import annotations

import ctypes
import errno
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from malice.protocol.codec import LineBuffer
from malice.referee.errors import MachineFault, MemoryFault
from malice.referee.isolation import cgroups
from malice.referee.isolation.boxes import NONE, Box, enclose, sweep_leftovers
from malice.referee.nouns import format_count
from malice.referee.records import Isolation, Player
from malice.referee.verdicts import describe_exit

LONGEST = 4096
"""The number of bytes after which an unfinished line is reported."""


class StderrLines:
    """Cuts a stream into lines.

    Args:
        report: receives each line, without its line feed; bytes that are not UTF-8 are replaced.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._pending = b""

    def add(self, data: bytes) -> None:
        """Add the next bytes, and report the lines that are complete."""
        *lines, rest = (self._pending + data).split(b"\n")
        while len(rest) >= LONGEST:
            lines.append(rest[:LONGEST])
            rest = rest[LONGEST:]
        self._pending = rest
        for line in lines:
            self._report(line.decode("utf-8", "replace").rstrip("\r"))

    def end(self) -> None:
        """Report the rest that has no line feed."""
        if self._pending:
            self.add(b"\n")


EXCERPT_BYTES = 8192
"""The size of the excerpt from each end of stderr."""
READ_BYTES = 65_536
STDERR_READS = 16
"""Reads of stderr in a row: 1 MiB, the largest pipe, so that endless output cannot hold us up."""

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def read_start_time(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None if there is no such process.

    Together with the pid it identifies the process for good.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    return int(stat.rpartition(b")")[2].split()[19])


def kill_group(number: int) -> bool:
    """Kill a process group by its number; return whether it existed and we may kill it.

    A number below 2 never belongs to a bot: to the kernel it means our own group, or every process.
    """
    if number < 2:
        return False
    try:
        os.killpg(number, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True


class StreamExcerpt:
    """The first and the last bytes of a stream of any length."""

    def __init__(self, size: int = EXCERPT_BYTES) -> None:
        self._size = size
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._head = b""
        self._tail = b""
        self._dropped = 0

    def add(self, data: bytes) -> None:
        """Add the next bytes."""
        room = self._size - len(self._head)
        self._head += data[:room]
        tail = self._tail + data[room:]
        self._dropped += max(0, len(tail) - self._size)
        self._tail = tail[-self._size :]

    def text(self) -> str:
        """The excerpt, with a line that says how much is missing in the middle."""
        gap = f"\n... {format_count(self._dropped, 'byte')} left out ...\n".encode() if self._dropped else b""
        return (self._head + gap + self._tail).decode("utf-8", "replace")


class BotProcess:
    """A running bot, in a session of its own; it dies with the thread that started it.

    Args:
        player: which bot to start.
        isolation: the isolation to request.
        on_stderr: receives each line that is read from its stderr; it must not raise.

    Raises:
        OSError: the command cannot be started.
    """

    def __init__(
        self, player: Player, isolation: Isolation = NONE, on_stderr: Callable[[str], None] | None = None
    ) -> None:
        self.buffer = LineBuffer()
        self.stderr_excerpt = StreamExcerpt()
        self._stderr_lines = StderrLines(on_stderr) if on_stderr else None
        self._kills = cgroups.count_kills()
        sweep_leftovers(isolation)
        self._box = box = enclose(player, isolation)
        self._process = _start(player, box)
        self.pid = self._process.pid
        self.pidfd = os.pidfd_open(self.pid)
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self.stdin, self.stdout, self.stderr = (pipe.fileno() for pipe in self._pipes)
        for pipe in self._pipes:
            os.set_blocking(pipe.fileno(), False)
        self._cpu_clock = 0
        self.isolation = box.words
        """The isolation in force, in words."""
        self.runs_off_turn = box.runs_off_turn()
        """Whether `all_cpu_ns` can grow off turn while `cpu_ns` stands still."""
        self.freeze = box.freeze
        """Freeze the process, if the isolation asks for that."""
        self.thaw = box.thaw
        """Let the process continue."""

    def cpu_ns(self) -> int:
        """CPU time of the process so far, in nanoseconds; 0 once it is gone."""
        if not self._cpu_clock:
            pid = self._box.bot_pid()
            if pid is None:
                return 0
            # The kernel's name for the CPU clock of another process: see clock_getcpuclockid(3).
            self._cpu_clock = (~pid << 3) | 2
        try:
            return time.clock_gettime_ns(self._cpu_clock)
        except OSError:
            return 0

    def all_cpu_ns(self) -> int:
        """CPU time in nanoseconds, with that of its children if a control group counts it."""
        used = self._box.cpu_ns()
        return self.cpu_ns() if used is None else used

    def drain_stderr(self) -> bool:
        """Read and keep waiting stderr; return False once it is closed."""
        for _ in range(STDERR_READS):
            try:
                data = os.read(self.stderr, READ_BYTES)
            except BlockingIOError:
                return True
            if not data:
                return False
            self.stderr_excerpt.add(data)
            if self._stderr_lines:
                self._stderr_lines.add(data)
        return True

    def exit_status(self, wait_s: float = 0) -> str | None:
        """Wait up to `wait_s` seconds, and say in words how the process ended; None if it still lives."""
        poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        if not poll.poll(wait_s * 1000):
            return None
        # Not reaped: until `kill`, no other process or group can get the number.
        end = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        assert end
        if end.si_code != os.CLD_EXITED:
            return describe_exit(-end.si_status)
        return describe_exit(self._box.exit_status(end.si_status))

    def out_of_memory(self) -> bool:
        """Whether the kernel killed a process of the bot over its memory limit; False where nothing counts that."""
        return self._box.out_of_memory()

    def machine_fault(self) -> MachineFault | None:
        """Why the end of the process is not the bot's fault; None if it is, or if the process lives."""
        status = self.exit_status()
        if status is None:
            return None
        if status.startswith("exited") and self._box.never_ran():
            self.drain_stderr()
            return MachineFault(
                f"the sandbox of a bot failed, it {status}: {self.stderr_excerpt.text().strip()[-500:]}"
            )
        if status == describe_exit(-signal.SIGKILL) and self._was_starved():
            return MemoryFault("a bot was killed as the machine ran out of memory")
        return None

    def _was_starved(self) -> bool:
        """Whether the kernel killed it for lack of memory that others had used.

        The bot's control group counts the kills in it. Without one there is only the count of kills around us, which
        proves nothing if the bot could have ended itself in a way that looks the same.
        """
        if (starved := self._box.starved()) is not None:
            return starved
        return self._box.exit_is_sure() and cgroups.count_kills() > self._kills

    def close_input(self) -> None:
        """Close the bot's stdin, since no request follows."""
        self._pipes[0].close()

    def kill(self) -> None:
        """Kill the whole process group, keep the rest of its stderr, close the pipes, and reap; safe to call again."""
        if self.pidfd < 0:
            return
        self._box.bot_pid()  # while the bot lives: the first process of a sandbox waits for it
        os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        self._box.close()
        self.drain_stderr()
        if self._stderr_lines:
            self._stderr_lines.end()
        for pipe in self._pipes:
            pipe.close()
        os.close(self.pidfd)
        self.pidfd = -1


def _environment() -> dict[str, str]:
    """Our environment without the variables that set up our own Python."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _start(player: Player, box: Box) -> subprocess.Popen[bytes]:
    die = prepare_parent_death_signal(signal.SIGKILL)

    def arm() -> None:
        box.arm()
        die()  # last: a change of user clears it

    process = None
    try:
        process = subprocess.Popen(
            box.command,
            cwd=player.cwd,
            env=_environment() | dict(player.environment) if box.environment is None else box.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            pass_fds=box.descriptors,
            start_new_session=True,
            preexec_fn=arm,
        )
    except subprocess.SubprocessError as error:
        raise OSError(errno.EPERM, f"a bot cannot be isolated: {error}") from None
    finally:
        box.note_start(process.pid if process else 0)
    return process


def request_parent_death_signal(number: signal.Signals) -> None:
    """Let this process receive a signal when the thread that started it ends; if that has ended, nothing comes."""
    _libc.prctl(_PR_SET_PDEATHSIG, number)


def prepare_parent_death_signal(number: signal.Signals) -> Callable[[], None]:
    """Make a function for a child to run between fork and exec.

    The kernel then sends the child this signal when the thread that called us ends.
    """
    parent = os.getpid()

    def arm() -> None:
        request_parent_death_signal(number)
        if os.getppid() != parent:
            os._exit(1)

    return arm
