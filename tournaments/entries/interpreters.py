"""Interpreters of programs that cannot be started by themselves, for users who name a file where a command belongs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

INTERPRETERS: dict[str, tuple[str, ...]] = {
    ".cjs": ("node",),
    ".exe": ("mono",),
    ".jar": ("java -jar",),
    ".jl": ("julia",),
    ".js": ("node",),
    ".lua": ("lua", "lua5.4", "luajit"),
    ".mjs": ("node",),
    ".php": ("php",),
    ".pl": ("perl",),
    ".py": ("python3",),
    ".rb": ("ruby",),
    ".sh": ("sh",),
}
"""By suffix, the interpreters of a file, best first: the first one that is installed runs it."""


def suggest_command(command: tuple[str, ...], base: Path) -> tuple[str, ...] | None:
    """Return the command that would run a file, or None if we know none.

    Args:
        command: as the user wrote it, with the file as its first word.
        base: the folder in which it would run.
    """
    first = command[0]
    if os.access(base / first, os.X_OK):
        return (os.path.join(".", first), *command[1:])
    interpreters = INTERPRETERS.get(Path(first).suffix.lower())
    if interpreters is None:
        return None
    installed = (each for each in interpreters if shutil.which(each.split()[0]))
    return (*next(installed, interpreters[0]).split(), *command)
