"""A sandbox made by bubblewrap: what it contains, what it hides, and which of its processes is the bot."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from malice.referee.isolation.limits import FILE_BYTES, PROCESSES
from malice.referee.isolation.views import MIN_TMPFS_BYTES, SETTINGS, SYSTEM, SandboxView

END_WAIT_MS = 1000
"""How long the kernel may take to end everything in a sandbox."""

_PATH = "/usr/local/bin:/usr/bin:/bin"
_TEMPORARY = ("/tmp", "/dev/shm")
"""The writable folders inside; together they hold at most as much as a bot's memory."""
_SHELL = ("/bin/sh", "-c")


class Sandbox:
    """The sandbox for one command.

    Args:
        command: as written.
        program: the file that its first word names.
        view: the files besides the system's; the command starts in its folder.
        memory_mb: what the bot may use; its temporary files take no more than that.
        environment: variables for the command, besides a few of ours.
    """

    def __init__(
        self,
        command: Sequence[str],
        program: Path,
        view: SandboxView,
        memory_mb: int,
        environment: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._command = (os.path.abspath(program), *command[1:])
        self._environment = environment
        self.view = view
        self._tmpfs_bytes = min(FILE_BYTES, (memory_mb << 20) // len(_TEMPORARY))

    def build_command(
        self, uid: int | None, status: int, filter: int | None = None, *, disable: bool = True, dies: bool = True
    ) -> tuple[str, ...]:
        """Return the command that starts the sandbox.

        Args:
            uid: the user to become inside; None keeps our own, in a user namespace of its own.
            status: a descriptor that receives the first process of the sandbox, and how its program ended.
            filter: a descriptor to read the filter of system calls from.
            disable: whether to forbid more user namespaces inside.
            dies: whether the sandbox dies with us; if we die while it is being made, it leaves a process that waits
                for ever.
        """
        before, inside = _pass_pipes({status, filter})
        words = [
            *before,
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
            # Needed only to change from our user to the bot's, who keeps none of them.
            words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
        words += ["--clearenv", "--setenv", "HOME", "/tmp", "--setenv", "LANG", "C.UTF-8"]
        for name, value in self._environment:
            words += ["--setenv", name, value]
        words += ["--setenv", "PATH", self._search_path(), "--hostname", "box", *self._mount_options()]
        words += ["--chdir", str(self.view.folder)]
        if filter is not None:
            words += ["--seccomp", str(filter)]
        return (*words, "--", *inside, *_switch_user(uid), *self._command)

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
            yield from ("--perms", "1777", "--size", str(self._tmpfs_bytes), "--tmpfs", path)
        yield from self.view.list_mounts()
        # A bot may run as the user who owns all of this. It must neither touch our own process inside, nor, as root,
        # write the kernel's settings below /proc.
        yield from ("--perms", "0555", "--size", str(MIN_TMPFS_BYTES), "--tmpfs", "/proc/1", "--remount-ro", "/proc/1")
        for path in ("/proc", "/dev", "/"):
            yield from ("--remount-ro", path)

    def _search_path(self) -> str:
        """Return the folders of our own PATH that are visible inside, then the system's."""
        own = [folder for folder in os.environ.get("PATH", "").split(":") if folder.startswith("/")]
        return ":".join(
            dict.fromkeys([*(folder for folder in own if self.view.shows(Path(folder))), *_PATH.split(":")])
        )


class SandboxStatus:
    """Bubblewrap's reports on one sandbox: a line when it has a first process, and one when its program has ended."""

    def __init__(self) -> None:
        self._descriptor, self.write_end = os.pipe()
        """The sandbox inherits `write_end`; the caller closes it after the start."""
        os.set_blocking(self._descriptor, False)
        self._lines = b""

    def first_process(self) -> int | None:
        """Return the first process of the sandbox; None if there is none yet, or the sandbox failed before."""
        while b"\n" not in self._lines and self._read():
            pass
        with suppress(ValueError, KeyError):
            return int(json.loads(self._lines.partition(b"\n")[0])["child-pid"])
        return None

    def never_ran(self) -> bool:
        """Tell, after the sandbox has ended, whether it failed before its program started."""
        while self._read():
            pass
        return b'"exit-code"' not in self._lines

    def close(self) -> None:
        """Close our end; safe to call again."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _read(self) -> bool:
        try:
            data = os.read(self._descriptor, 4096) if self._descriptor >= 0 else b""
        except BlockingIOError:
            return False
        self._lines += data
        return bool(data)


def find_child(pid: int) -> int | None:
    """Return the oldest child of a process."""
    with suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return int(children[0]) if children else None
    return None


def kill_and_wait(pidfd: int) -> None:
    """Kill the first process of a sandbox, with which the kernel ends all others, and wait until they are gone."""
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    poll.poll(END_WAIT_MS)


def _pass_pipes(used: set[int | None]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return words to put before bubblewrap, and before the command inside, so that only the bot holds its pipes.

    Bubblewrap's own processes keep the standard descriptors open and close all others. If they held the bot's pipes,
    a pipe that the bot has closed would stay open.
    """
    read, write = [number for number in range(3, 10) if number not in used][:2]  # a shell knows one digit
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
        return ()  # the kernel does not limit root's processes, not even in a user namespace
    # Set inside, the limit counts only the processes of this user namespace.
    return ("/usr/bin/prlimit", f"--nproc={PROCESSES}", "--")
