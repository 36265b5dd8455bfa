"""A sandbox by bubblewrap: what is in it, what is not, and which of its processes is the bot."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from referee.isolation.limits import FILE_BYTES, PROCESSES
from referee.isolation.views import LITTLE, SETTINGS, SYSTEM, View

END_WAIT_MS = 1000
"""How long the kernel may take to end everything in a sandbox."""

_PATH = "/usr/local/bin:/usr/bin:/bin"
_TEMPORARY = ("/tmp", "/dev/shm")
"""What can be written to inside; together they take no more than a bot's memory."""
_SHELL = ("/bin/sh", "-c")


class Sandbox:
    """The sandbox for one command.

    Args:
        command: as it is written.
        program: the file that its first word means.
        view: the files beside the system's; the command is started in its folder.
        memory_mb: what the bot may use; its temporary files take no more than that.
    """

    def __init__(self, command: Sequence[str], program: Path, view: View, memory_mb: int) -> None:
        self._command = (os.path.abspath(program), *command[1:])
        self.view = view
        self._room = min(FILE_BYTES, (memory_mb << 20) // len(_TEMPORARY))

    def build_command(
        self, uid: int | None, status: int, filter: int | None = None, *, disable: bool = True, dies: bool = True
    ) -> tuple[str, ...]:
        """Return what to start.

        Args:
            uid: the user to become inside; None stays what we are, in a user namespace of its own.
            status: a descriptor that is told the first process of the sandbox, and how its program ended.
            filter: a descriptor that the filter of system calls is read from.
            disable: whether to forbid more user namespaces inside.
            dies: whether it dies with us; while it is being made, that leaves a process behind which waits for ever.
        """
        hand_over, take = _pipes_past_bubblewrap({status, filter})
        words = [
            *hand_over,
            shutil.which("bwrap") or "bwrap",
            *(["--die-with-parent"] if dies else []),
            "--json-status-fd",
            str(status),
        ]
        words += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        words += ["--cap-drop", "ALL"]
        if uid is None:
            words += ["--unshare-user", *(["--disable-userns"] if disable else [])]
        else:
            # Only for the step from us to the user; nothing is left of them behind it.
            words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
        words += ["--clearenv", "--setenv", "HOME", "/tmp", "--setenv", "LANG", "C.UTF-8"]
        words += ["--setenv", "PATH", self._search_path(), "--hostname", "box", *self._mount_options()]
        words += ["--chdir", str(self.view.folder)]
        if filter is not None:
            words += ["--seccomp", str(filter)]
        return (*words, "--", *take, *_switch_user(uid), *self._command)

    def _mount_options(self) -> Iterator[str]:
        for path in SYSTEM:
            if os.path.islink(path):
                yield from ("--symlink", os.readlink(path), path)
            elif os.path.isdir(path):
                yield from ("--ro-bind", path, path)
        yield from ("--dir", "/etc")
        for path in (*SETTINGS, *map(str, Path("/etc").glob("java-*"))):
            yield from ("--ro-bind-try", path, path)
        yield from ("--proc", "/proc", "--dev", "/dev")
        for path in _TEMPORARY:
            yield from ("--perms", "1777", "--size", str(self._room), "--tmpfs", path)
        yield from self.view.mounts()
        # A bot may have the user that all of this belongs to, and that of our own process inside, which is no bot's
        # business; for root the kernel's settings are below /proc.
        yield from ("--perms", "0555", "--size", str(LITTLE), "--tmpfs", "/proc/1", "--remount-ro", "/proc/1")
        for path in ("/proc", "/dev", "/"):
            yield from ("--remount-ro", path)

    def _search_path(self) -> str:
        """Keep of our own path what is to be seen inside."""
        own = [folder for folder in os.environ.get("PATH", "").split(":") if folder.startswith("/")]
        return ":".join(
            dict.fromkeys([*(folder for folder in own if self.view.shows(Path(folder))), *_PATH.split(":")])
        )


class SandboxStatus:
    """What bubblewrap says of one sandbox: a line when it has a first process, one when its program has ended."""

    def __init__(self) -> None:
        self._descriptor, self.told = os.pipe()
        os.set_blocking(self._descriptor, False)
        """`told` is for the sandbox to inherit, and to be closed here once it has."""
        self._said = b""

    def first_process(self) -> int | None:
        """Return its first process; None when there is none yet, or it failed before."""
        while b"\n" not in self._said and self._read():
            pass
        with suppress(ValueError, KeyError):
            return int(json.loads(self._said.partition(b"\n")[0])["child-pid"])
        return None

    def never_ran(self) -> bool:
        """Tell, after its end, whether the sandbox failed before there was a program in it."""
        while self._read():
            pass
        return b'"exit-code"' not in self._said

    def close(self) -> None:
        """Forget it; safe to call again."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _read(self) -> bool:
        try:
            data = os.read(self._descriptor, 4096) if self._descriptor >= 0 else b""
        except BlockingIOError:
            return False
        self._said += data
        return bool(data)


def find_child(pid: int) -> int | None:
    """Return the oldest child of a process."""
    with suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return int(children[0]) if children else None
    return None


def kill_and_wait(pidfd: int) -> None:
    """Kill the first process of a sandbox, without which the kernel ends all others, and wait for that."""
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    poll.poll(END_WAIT_MS)


def _pipes_past_bubblewrap(taken: set[int | None]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what to put before bubblewrap, and before the command in it, so that only the bot holds its pipes.

    Bubblewrap's own processes keep the standard descriptors, and close all others. With them a pipe that the bot
    has closed would stay open.
    """
    read, write = [number for number in range(3, 10) if number not in taken][:2]  # a shell knows one digit
    before = f'exec "$@" {read}<&0 {write}>&1 </dev/null >/dev/null'
    inside = f'unset PWD OLDPWD SHLVL; exec "$@" <&{read} >&{write} {read}<&- {write}>&-'
    return (*_SHELL, before, "sh"), (*_SHELL, inside, "sh")


def _switch_user(uid: int | None) -> tuple[str, ...]:
    if uid is not None:
        user = str(uid)
        return (
            "/usr/bin/setpriv",
            "--reuid",
            user,
            "--regid",
            user,
            "--clear-groups",
            "--inh-caps=-all",
            "--bounding-set=-all",
            "--",
        )
    if os.getuid() == 0:
        return ()  # root has no limit of processes, in a user namespace neither
    # Set inside, it counts the processes of this user namespace alone.
    return ("/usr/bin/prlimit", f"--nproc={PROCESSES}", "--")
