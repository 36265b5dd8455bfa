"""Landlock: the kernel lets a process, and whatever it starts, open only files that were named before.

Newer versions of it also stop TCP, requests to devices, and signals. No version governs what needs no opened file, such
as a change of a file's mode: the filter of system calls has to refuse that.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

LEAST_VERSION = 3
"""Before it, a bot could cut short any file that its user may write."""


class Power(NamedTuple):
    """What Landlock gives from one of its versions on."""

    part: str
    version: int
    linux: str
    gives: str


POWERS = (
    Power("landlock tcp", 4, "6.7", "no TCP by the kernel, not by the filter alone"),
    Power("landlock devices", 5, "6.10", "no requests (ioctl) to devices"),
    Power("landlock signals", 6, "6.12", "no signals and no abstract sockets to other processes of your user"),
)
"""What is added to the files, each by the first version that has it."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_MAKE_DEVICES, _MAKE_SOCKET, _TRUNCATE, _IOCTL = 1 << 6 | 1 << 11, 1 << 9, 1 << 14, 1 << 15
_EVERYTHING_IN_3 = (1 << 15) - 1
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_WRITE = _EVERYTHING_IN_3 & ~(_MAKE_DEVICES | _MAKE_SOCKET)
_USE_DEVICE = _READ_FILE | _WRITE_FILE
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
"""The rights that a rule on a file may give; the others are of folders."""
_ALL_TCP, _ALL_SCOPES = 0b11, 0b11

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_FIGURES = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat")
_SETTINGS = tuple(map(Path, ("/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf", "/etc/crypto-policies")))
"""What a library can do without, unless it exists and may not be opened."""
_libc = ctypes.CDLL(None, use_errno=True)


@cache
def find_version() -> int:
    """The version of Landlock that this kernel has; 0 if it has none, or none that we may use."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)))


def explain_missing_version() -> str | None:
    """Why the kernel's Landlock is missing or too old to hold a bot; None if it is not."""
    version = find_version()
    if version >= LEAST_VERSION:
        return None
    if version:
        return f"Landlock {version} of this kernel does not protect files from being cut short: Linux 6.2 has 3"
    ctypes.set_errno(0)
    _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    if ctypes.get_errno() == errno.EOPNOTSUPP:
        return "this kernel was booted without Landlock: add it to lsm= on the kernel's command line"
    return "no Landlock here: it needs Linux 6.2 with CONFIG_SECURITY_LANDLOCK, and a container that lets it through"


def explain_missing_power(power: Power) -> str | None:
    """Why the kernel's Landlock lacks this; None if it has it."""
    version = find_version()
    if version >= power.version:
        return None
    has = f"has {version}" if version else "has none"
    return f"needs Landlock {power.version} (Linux {power.linux}), this kernel {has}"


class LandlockRules:
    """What one bot may open; everything else is closed to it, for good.

    Args:
        readable: files, and folders with all that lies in them, which it may read and execute.
        listed: folders of which it may list the names, with those of the folders in them.
        folder: where it may also write, make and remove files; None for nowhere.

    Raises:
        OSError: the kernel refuses.
    """

    def __init__(self, readable: Iterable[Path], listed: Iterable[Path], folder: Path | None) -> None:
        version = find_version()
        handled = _EVERYTHING_IN_3 | (_IOCTL if version >= 5 else 0)
        tcp, scopes = (_ALL_TCP if version >= 4 else 0), (_ALL_SCOPES if version >= 6 else 0)
        attributes = struct.pack("=QQQ", handled, tcp, scopes)
        self._descriptor = _call(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
        self._open = [self._descriptor]
        try:
            for path in (*readable, *_SETTINGS):
                self._allow(path, _READ)
            for path in listed:
                self._allow(path, _READ_DIR)
            for device in _DEVICES:
                self._allow(device, _USE_DEVICE)
            for figures in _FIGURES:
                self._allow(figures, _READ_FILE, pin=True)
            if folder:
                self._allow(folder, _WRITE)
        except OSError:
            self.close()
            raise

    def _allow(self, path: Path | str, rights: int, *, pin: bool = False) -> None:
        """Add a rule on a file; keep it open with `pin`, since the kernel forgets what nobody uses in /proc."""
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        try:
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                rights &= _OF_FILES
            _call(_ADD_RULE, self._descriptor, _PATH_BENEATH, struct.pack("=Qi", rights, descriptor), 0)
        finally:
            if pin:
                self._open.append(descriptor)
            else:
                os.close(descriptor)

    def add_own_process(self) -> None:
        """Let the calling process, a fork of ours, read its own folder in /proc, which some runtimes need."""
        with suppress(OSError):
            self._allow("/proc/self", _READ)

    def restrict(self) -> None:
        """Put the calling process under these rules; it must have given up new privileges before."""
        _call(_RESTRICT_SELF, self._descriptor, 0)

    def pin_process(self, pid: int) -> None:
        """Keep the folder of a process in /proc known to the kernel."""
        with suppress(OSError):
            self._open.append(os.open(f"/proc/{pid}", os.O_PATH | os.O_CLOEXEC))

    def close(self) -> None:
        """Close all that we hold; safe to call again."""
        while self._open:
            os.close(self._open.pop())


def _call(number: int, *arguments: object) -> int:
    result = int(_libc.syscall(number, *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")
    return result
