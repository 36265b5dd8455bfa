"""Which kinds of isolation work on this machine: each is tried once per process."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

from malice.referee.isolation import bwrap, landlock, limits
from malice.referee.isolation.bwrap import PATIENCE_S, SandboxView
from malice.referee.records import Layer

_TRUE = "/bin/true"
_MEMORY_MB = 16


def find_strongest_layer(wanted: Layer) -> Layer:
    """Find the strongest layer that works here and is no stronger than the wanted one."""
    order: tuple[Layer, ...] = ("bwrap", "landlock", "rlimit", "none")
    first = 0 if wanted == "auto" else order.index(wanted)
    return next(layer for layer in order[first:] if explain_missing_layer(layer) is None)


def explain_missing_layer(layer: Layer) -> str | None:
    """Why a layer is unavailable; None if it works. `auto` means the strongest."""
    if layer in ("auto", "bwrap"):
        return explain_missing_sandbox()
    if layer == "landlock":
        return explain_missing_landlock()
    return None if layer == "none" else explain_missing_limits()


@cache
def explain_missing_limits() -> str | None:
    """Why limits cannot be set here; None if they can."""
    return None if sys.platform == "linux" else f"limits are made for Linux, not for {sys.platform}"


@cache
def explain_missing_landlock() -> str | None:
    """Why the kernel's own rules on files are unavailable; None if they work."""
    why = explain_missing_limits() or limits.explain_missing_filter() or landlock.explain_missing_version()
    if why:
        return why
    try:
        rules = landlock.LandlockRules([*bwrap.list_system()], [], None)
        load_filter = limits.make_filter_loader(counted=False, stopped=True, landlocked=True)

        def arm() -> None:
            load_filter()
            rules.restrict()

        try:
            subprocess.run([_TRUE], preexec_fn=arm, check=True, capture_output=True, timeout=PATIENCE_S)
        finally:
            rules.close()
    except (OSError, subprocess.SubprocessError) as error:
        return f"Landlock does not work here: {error}"
    return None


@cache
def explain_missing_sandbox() -> str | None:
    """Why a sandbox is unavailable; None if it works."""
    program = shutil.which("bwrap")
    if explain_missing_limits() or program is None:
        return explain_missing_limits() or "bwrap not found (Debian: apt-get install bubblewrap)"
    if why := bwrap.explain_setuid_hole(program):
        return why
    if sandbox_works(own_user=False) or (limits.explain_missing_uids() is None and sandbox_works(own_user=True)):
        return None
    return f"bwrap does not work here: {_last_error_line(_try_sandbox(False, True))}"


@cache
def sandbox_works(*, own_user: bool) -> bool:
    """Tell whether a sandbox can be made: with a user of its own inside, or in a user namespace."""
    return not _try_sandbox(own_user, can_disable_nested_users()).returncode


@cache
def can_disable_nested_users() -> bool:
    """Tell whether bubblewrap can forbid more user namespaces inside: 0.8 and newer, if the kernel allows it."""
    return not _try_sandbox(False, True).returncode


@cache
def find_process_limit() -> int | None:
    """The limit outside a sandbox, where our user's other processes count, too; None for root."""
    return None if os.getuid() == 0 else limits.count_user_threads() + 4 * limits.PROCESSES


@cache
def _try_sandbox(own_user: bool, disable: bool) -> subprocess.CompletedProcess[bytes]:
    sandbox = bwrap.Sandbox([_TRUE], Path(_TRUE), SandboxView([_TRUE], Path(_TRUE), Path("/")), _MEMORY_MB)
    descriptors = [os.open(os.devnull, os.O_WRONLY)]
    if limits.explain_missing_filter() is None:
        descriptors.append(limits.open_filter(counted=False, stopped=True))
    uid = limits.next_uid() if own_user else None
    command = sandbox.build_command(uid, *descriptors, disable=disable, dies=False)  # it ends at once
    # A sandbox that is killed while it starts can leave a child that waits for it for ever.
    held = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGHUP, signal.SIGINT, signal.SIGTERM))
    try:
        return subprocess.run(
            command, pass_fds=descriptors, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S
        )
    except OSError as error:
        return subprocess.CompletedProcess(command, 127, b"", f"bwrap: {error.strerror}".encode())
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 127, b"", f"bwrap: no end after {PATIENCE_S} s".encode())
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        for descriptor in descriptors:
            os.close(descriptor)


def _last_error_line(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"it ended with {done.returncode}"
