"""What built a bot on this machine: the programs that it needs, as they call themselves, and what they made."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from malice.referee.records import LONGEST_BUILD
from malice.tournaments.entries.bot_files import STAMP
from malice.tournaments.entries.bots import Bot

FILES = "; files "
"""What stands between the programs and the hash of the files."""
PATIENCE_S = 60.0
"""How long a program may take to say its version."""
HEX = 12
_ASIDE = ("__pycache__", ".git")


def describe_build(bot: Bot) -> str:
    """What made a bot as it is played here; empty if it was not built, and needs no program.

    That is what each program of `needs` answers to `--version`, and a hash of all files of its folder, with those that
    its build made.
    """
    if bot.folder is None or not bot.owns_folder or not (bot.manifest.needs or bot.manifest.build):
        return ""
    told = [line for need in bot.manifest.needs if (line := ask_version(need))]
    programs = ", ".join(told)[: LONGEST_BUILD - len(FILES) - HEX]
    return f"{programs}{FILES}{hash_folder(bot.folder)[:HEX]}"


def name_programs(build: str) -> str:
    """What a description says of the programs."""
    return build.rpartition(FILES)[0]


@cache
def ask_version(program: str) -> str:
    """The first line of what a program answers to `--version`, after its name; empty if it is none, or does not say."""
    path = shutil.which(program)
    if path is None:
        return ""
    word = "version" if program == "go" else "-v" if re.fullmatch(r"lua[\d.]*", program) else "--version"
    try:
        done = subprocess.run(
            [path, word],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    first = next(filter(str.strip, done.stdout.decode("utf-8", "replace").splitlines()), "")
    line = " ".join("".join(each if each.isprintable() else " " for each in first).split())
    return line if program in line else f"{program} {line}"


def hash_folder(folder: Path) -> str:
    """SHA-256, hex, of all files below a folder and their paths, but for caches and the record of the build."""
    whole = hashlib.sha256()
    for path in sorted(_list_files(folder)):
        whole.update(os.fsencode(path.relative_to(folder)) + b"\0")
        with contextlib.suppress(OSError):
            if path.is_symlink():
                whole.update(os.fsencode(path.readlink()))
            elif path.is_file():
                with path.open("rb") as file:
                    whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()


def _list_files(folder: Path) -> Iterator[Path]:
    for inside, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _ASIDE]
        yield from (Path(inside, name) for name in names if name != STAMP)
