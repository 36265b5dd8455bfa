"""Leagues, folders of bots that everybody may reach, and git repositories without the settings of whoever runs them."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from malice.tournaments.entries.bots import Bot, find_bot
from malice.tournaments.entries.builds import ensure_built
from malice.tournaments.entries.kept_bots import KeptBots

PROGRAM = """\
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    answer = {"id": request["id"], "version": VERSION}
    if request["type"] == "move":
        answer["move"] = request["legal"][0]
    print(json.dumps(answer), flush=True)
"""
BUILD = 'build = ["sh", "-c", "mkdir -p out && cp source out/bot && echo built >> out/log"]\nignore = ["out"]\n'


@contextlib.contextmanager
def open_place() -> Iterator[Path]:
    """Yield a folder that every user may enter; those of pytest are ours alone."""
    with TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        yield Path(place)


def write_bot(folder: Path, version: str = "1", more: str = "") -> Path:
    """Write a Python bot that tells `version` at hello, and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bot.toml").write_text(f'name = "mine"\nrun = ["{{python}}", "-I", "bot.py"]\n{more}')
    (folder / "bot.py").write_text(PROGRAM.replace("VERSION", repr(version)))
    return folder


def write_built_bot(folder: Path) -> Path:
    """Write a bot whose build copies its source into `out`, which is ignored, and keeps a log there."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bot.toml").write_text(f'name = "built"\nrun = ["sh", "out/bot"]\n{BUILD}')
    (folder / "source").write_text("echo one\n")
    return folder


def say_nothing(_: str) -> None:
    """Receive a line on a build or a copy."""


def find_built(folder: Path) -> Bot:
    """Return the bot of a folder, built."""
    return ensure_built(find_bot(str(folder)), say_nothing)


def keep(place: Path, folder: Path) -> tuple[KeptBots, Bot]:
    """Keep the bot of a folder in the league `friday.db` of a place."""
    kept = KeptBots(place / "friday.db", say_nothing)
    return kept, kept.keep(find_built(folder))


def read_tree(folder: Path) -> dict[str, bytes | str]:
    """Return all files below a folder by path: the content, or the target of a symlink."""
    return {
        str(path.relative_to(folder)): str(path.readlink()) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


PERSON = ("-c", "user.name=ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
ENVIRON = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(folder: Path, *words: str) -> str:
    """Run git in a folder, and return what it prints."""
    command = ("git", "-C", str(folder), *PERSON, *words)
    return subprocess.run(command, env=ENVIRON, check=True, capture_output=True, text=True).stdout.strip()


def start_repository(folder: Path) -> None:
    """Make a folder a repository whose branch is main."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch", "main")


def commit(folder: Path, message: str = "work") -> str:
    """Commit everything in a repository, and return the name of the commit."""
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")
