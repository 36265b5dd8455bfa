"""A bot process: how it is started, what is kept of its stderr, and how it is ended for sure."""

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

from protocol.codec import LineBuffer
from referee.errors import MachineFault, MemoryFault
from referee.isolation import kills
from referee.isolation.boxes import Box
from referee.isolation.layers import NONE, enclose, sweep_leftovers
from referee.records import Isolation, Player
from referee.stderr_lines import StderrLines
from referee.verdicts import describe_exit

EXCERPT_BYTES = 8192
"""How much of the start and of the end of stderr is kept."""
READ_BYTES = 65_536
STDERR_READS = 16
"""How many reads of stderr in a row, so that a bot that never stops writing cannot keep us: 1 MiB, the largest pipe."""

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def read_start_time(pid: int) -> int | None:
    """Return when a process was started, in clock ticks since boot; None if there is none.

    With the pid it names one process for good.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    return int(stat.rpartition(b")")[2].split()[19])


def kill_group(number: int) -> bool:
    """Kill the process group of a number that was read somewhere; return whether there was one that we may kill.

    No group of a bot has a number below 2: to the kernel that is our own group, or everybody.
    """
    if number < 2:
        return False
    try:
        os.killpg(number, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True


class StreamExcerpt:
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


class BotProcess:
    """A running bot, in a session of its own; it dies with the thread that started it.

    Args:
        player: what to start.
        isolation: what is to be around it.
        on_stderr: takes each line of its stderr when that is read; it must not raise.

    Raises:
        OSError: the command cannot be started.
    """

    def __init__(
        self, player: Player, isolation: Isolation = NONE, on_stderr: Callable[[str], None] | None = None
    ) -> None:
        self.buffer = LineBuffer()
        self.stderr_excerpt = StreamExcerpt()
        self._stderr_lines = StderrLines(on_stderr) if on_stderr else None
        self._kills = kills.count_kills()
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
        """The names of what is in force around it."""
        self.runs_off_turn = box.runs_off_turn()
        """Whether `all_cpu_ns` can grow while `cpu_ns` stands, and nothing was asked."""
        self.freeze = box.freeze
        """Stop it where it stands, if that was asked for."""
        self.thaw = box.thaw
        """Let it go on."""

    def cpu_ns(self) -> int:
        """Return the CPU time that the process has used so far, in nanoseconds; 0 once it is gone."""
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
        """Return the CPU time of the process and its children where a control group counts it, else of the process."""
        used = self._box.cpu_ns()
        return self.cpu_ns() if used is None else used

    def drain_stderr(self) -> bool:
        """Keep what waits on stderr; return False once it is closed."""
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
        """Say how the process ended, or None while it lives; give it `wait_s` seconds to do so."""
        poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        if not poll.poll(wait_s * 1000):
            return None
        # Not reaped: until `kill` the number belongs to nobody else, nor does that of the group.
        end = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        assert end
        if end.si_code != os.CLD_EXITED:
            return describe_exit(-end.si_status)
        return describe_exit(self._box.exit_status(end.si_status))

    def out_of_memory(self) -> bool:
        """Tell whether the kernel has killed some of it for using more memory than it may, where that is counted."""
        return self._box.out_of_memory()

    def machine_fault(self) -> MachineFault | None:
        """Return why the end of the process is no fault of the bot's, or None if it lives or ended by its own doing."""
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
        """Tell whether the kernel killed it for want of memory that others had used.

        Its own group knows what was killed in it. Without one there is only how many were killed beside us, which
        is no proof against a bot that may have ended itself in a way that looks the same.
        """
        if (starved := self._box.starved()) is not None:
            return starved
        return self._box.exit_is_sure() and kills.count_kills() > self._kills

    def close_input(self) -> None:
        """Tell the bot that nothing more will come."""
        self._pipes[0].close()

    def kill(self) -> None:
        """End the whole process group, keep its last words, close the pipes, and reap; safe to call again."""
        if self.pidfd < 0:
            return
        self._box.bot_pid()  # while it lives: a sandbox is waited for by its first process
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
    """Return our environment without what sets up the Python of whoever runs malice: that is no bot's business."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _start(player: Player, box: Box) -> subprocess.Popen[bytes]:
    die = prepare_parent_death_signal(signal.SIGKILL)

    def arm() -> None:
        box.arm()
        die()  # last: another user than ours would forget it

    process = None
    try:
        process = subprocess.Popen(
            box.command,
            cwd=player.cwd,
            env=_environment() if box.environment is None else box.environment,
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


def prepare_parent_death_signal(number: signal.Signals) -> Callable[[], None]:
    """Return what a child does between fork and exec, so that it gets this signal when the calling thread ends."""
    parent = os.getpid()

    def arm() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:
            os._exit(1)

    return arm
