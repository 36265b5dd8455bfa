"""Git repositories for tests, made by git itself and without the settings of whoever runs them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

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
