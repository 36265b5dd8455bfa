"""The programs that bots need, `needs` in bot.toml: which of them are not here, and how to get those."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

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
"""Which packages of Debian and its relatives hold a program."""


def missing(needs: Iterable[str]) -> tuple[str, ...]:
    """Return those programs that are not on the PATH."""
    return tuple(program for program in needs if shutil.which(program) is None)


def how_to_get(programs: Iterable[str]) -> str:
    """Return what to type to get programs, or nothing where we do not know."""
    packages = sorted({package for program in programs for package in DEBIAN.get(program, "").split()})
    return f"Debian: apt-get install {' '.join(packages)}" if packages else ""


def lack(needs: Iterable[str]) -> str | None:
    """Return one clause on what is not here and how to get it, or None when all is."""
    gone = missing(needs)
    if not gone:
        return None
    way = how_to_get(gone)
    return f"needs {' and '.join(gone)}, not on the PATH{f' ({way})' if way else ''}"
