"""What bots need (`needs` in bot.toml): what is missing, how to install it, and which limits they run into.

Standard library only: continuous integration uses this module before it installs anything.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

MISSING = re.compile(
    r"ModuleNotFoundError: No module named '(?P<python>[^']+)'"
    r"|Cannot find (?:module|package) '(?P<node>[^']+)'"
    r"|cannot load such file -- (?P<ruby>\S+)"
    r"|Can't locate (?P<perl>\S+) in @INC"
    r"|module '(?P<lua>[^']+)' not found"
    r"|error while loading shared libraries: (?P<library>[^\s:]+)"
    r"|(?:NoClassDefFoundError|ClassNotFoundException): (?P<java>\S+)"
)
"""The message of each language on stderr."""

SHOWN = "a bot sees only its own folder, the system's, and the installation of the program that runs it"
REFUSED = (
    f"{SHOWN}, and writes only in the folder that TMPDIR names; it can neither change the mode, owner or time of a file"
    " nor make a socket"
)


_READ_ONLY = re.compile(r"read-only file system|EROFS", re.IGNORECASE)
_DENIED = re.compile(r"permission ?denied|not permitted|EACCES|EPERM|PermissionError|AccessDenied", re.IGNORECASE)
_NO_FILE = re.compile(r"no such file or directory|ENOENT|FileNotFound|NoSuchFile|cannot find the file", re.IGNORECASE)
_NO_MEMORY = re.compile(
    r"MemoryError|bad_alloc|OutOfMemory|heap out of memory|cannot allocate memory|not enough memory|out of memory"
    r"|memory allocation of \d+ bytes failed|more memory than it may",
    re.IGNORECASE,
)
"""What languages, and the referee, say of a bot that has used up its memory."""


def explain_limits(evidence: str, isolation: Sequence[str], memory_mb: int) -> str | None:
    """What the author can do about a limit that the bot ran into, if that is the trouble.

    Args:
        evidence: the sentence of its verdict, and what it wrote to stderr.
        isolation: the isolation in force around it, the layer first.
        memory_mb: how much memory it may use.
    """
    if _NO_MEMORY.search(evidence):
        return f"all its processes together may use {memory_mb} MB of memory (memory_mb in the tournament file)"
    if not {"bwrap", "landlock"}.intersection(isolation):
        return None
    if match := MISSING.search(evidence):
        way = "copy it into the bot's folder"
        if match.lastgroup == "python":
            way += ", or set `python` in bot.toml to an interpreter that has it"
        return (
            f"the sandbox may hide {match[match.lastgroup or 0]!r}: {SHOWN}; {way}"
            " (--isolation none shows whether that is the cause)"
        )
    if "landlock" in isolation:
        return REFUSED if _DENIED.search(evidence) else None
    if _READ_ONLY.search(evidence):
        return "a bot sees only its own folder, and cannot write there: write to /tmp, which is gone with its process"
    if _NO_FILE.search(evidence):
        return "a bot sees only its own folder: put the file there, and name it relative to it; write to /tmp"
    return None


DEBIAN = {
    "bash": "bash",
    "c++": "g++",
    "cargo": "cargo",
    "cc": "gcc libc6-dev",
    "clang": "clang",
    "clang++": "clang",
    "cmake": "cmake",
    "csc": "mono-devel",
    "g++": "g++",
    "gcc": "gcc libc6-dev",
    "ghc": "ghc",
    "go": "golang-go",
    "java": "default-jre-headless",
    "javac": "default-jdk-headless",
    "jq": "jq",
    "julia": "julia",
    "lua": "lua5.4",
    "lua5.4": "lua5.4",
    "luajit": "luajit",
    "make": "make",
    "mcs": "mono-mcs",
    "mono": "mono-runtime",
    "mvn": "maven",
    "node": "nodejs",
    "npm": "npm",
    "ocaml": "ocaml",
    "perl": "perl",
    "php": "php-cli",
    "pkg-config": "pkg-config",
    "python3": "python3",
    "ruby": "ruby",
    "rustc": "rustc",
    "tsc": "node-typescript",
}
"""The packages of Debian and its derivatives that hold a program."""


class Library(NamedTuple):
    """A library that a compiler or an interpreter must find."""

    probe: tuple[str, ...]
    """A command that fails if the library is missing, and has no other effect."""
    source: str
    """The input of that command."""
    debian: str


_MONO = 'test -e "$(dirname "$(dirname "$(command -v mono)")")/lib/mono/4.5/$1.dll"'

LIBRARIES = {
    "JSON::PP": Library(("perl", "-MJSON::PP", "-e", "1"), "", "perl"),  # Debian's perl-base lacks it
    "System.Runtime.Serialization": Library(
        ("sh", "-c", _MONO, "sh", "System.Runtime.Serialization"), "", "libmono-system-runtime-serialization4.0-cil"
    ),
    "cjson": Library(("cc", "-E", "-x", "c", "-"), "#include <cjson/cJSON.h>\n", "libcjson-dev"),
    "dkjson": Library(("lua5.4", "-l", "dkjson", "-e", ""), "", "lua-dkjson"),
    "nlohmann-json": Library(("c++", "-E", "-x", "c++", "-"), "#include <nlohmann/json.hpp>\n", "nlohmann-json3-dev"),
}
"""The libraries that `needs` may name besides programs."""


def list_missing_programs(needs: Iterable[str]) -> tuple[str, ...]:
    """The programs that are not on the PATH, and the libraries that cannot be found."""
    return tuple(need for need in needs if not _is_installed(need))


def list_packages(needs: Iterable[str]) -> list[str]:
    """The Debian packages that hold these programs and libraries, as far as we know them."""
    names = (LIBRARIES[need].debian if need in LIBRARIES else DEBIAN.get(need, "") for need in needs)
    return sorted({package for each in names for package in each.split()})


def explain_installation(needs: Iterable[str]) -> str:
    """The command that installs these programs and libraries; empty if we do not know it."""
    names = list_packages(needs)
    return f"Debian: apt-get install {' '.join(names)}" if names else ""


def explain_missing_programs(needs: Iterable[str]) -> str | None:
    """One clause on what is missing and how to install it; None if nothing is."""
    missing = list_missing_programs(needs)
    if not missing:
        return None
    way = explain_installation(missing)
    programs = [need for need in missing if need not in LIBRARIES]
    libraries = [f"the library {need}" for need in missing if need in LIBRARIES]
    where = ", not on the PATH" if not libraries else ", not found"
    return f"needs {' and '.join(programs + libraries)}{where}{f' ({way})' if way else ''}"


def _is_installed(need: str) -> bool:
    if need not in LIBRARIES:
        return shutil.which(need) is not None
    # The program that probes may change with the PATH, and with it the cached answer.
    return _has_library(need, shutil.which(LIBRARIES[need].probe[0]))


@cache
def _has_library(name: str, program: str | None) -> bool:
    if program is None:
        return False
    library = LIBRARIES[name]
    command = (program, *library.probe[1:])
    return subprocess.run(command, input=library.source.encode(), capture_output=True, check=False).returncode == 0
