"""A course in a folder: its files lie in `course/`, and people change their copies."""

from __future__ import annotations

import re
import subprocess
from importlib.metadata import distribution
from pathlib import Path
from shutil import copymode
from urllib.parse import unquote, urlsplit, urlunsplit

import msgspec

from malice.referee.errors import DataError
from malice.tournaments.entries.schemas import name_schema

FOLDER = Path(__file__).parent / "course"
HIDDEN = "dot-"
"""Begins the name of a file or folder that begins with a dot in a course."""
DISTRIBUTION = "malice-arena"
UNKNOWN = f"# CHANGE THIS: it came from a folder of this machine. Say\n# {DISTRIBUTION} @ git+https://ADDRESS@COMMIT"


class Vcs(msgspec.Struct, frozen=True):
    commit_id: str


class Origin(msgspec.Struct, frozen=True):
    """What pip notes of a distribution that it did not get from an index (direct_url.json)."""

    url: str
    vcs_info: Vcs | None = None


def write_course(folder: Path) -> str | None:
    """Write the files of a new course; what is returned is the file that does not know where malice comes from.

    Raises:
        DataError: the folder holds something already, or cannot be written.
    """
    try:
        if folder.exists() and any(folder.iterdir()):
            raise DataError(where=folder, expected="a new or an empty folder", got="one that holds something")
        for source in sorted(FOLDER.rglob("*")):
            names = [name.replace(HIDDEN, ".", 1) for name in source.relative_to(FOLDER).parts]
            target = folder.joinpath(*names)
            if source.is_dir():
                target.mkdir(parents=True, exist_ok=True)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(source.read_bytes())
                copymode(source, target)
        name_schema(folder / "tournament.toml", "tournament")
        file, known = folder / "requirements.txt", find_requirement()
        file.write_text(f"# The malice of this course, for its workflows and all who take part.\n{known or UNKNOWN}\n")
        return None if known else str(file)
    except OSError as error:
        raise DataError(f"{folder}: {error.strerror}") from None


def find_requirement() -> str | None:
    """Find by which line pip gets this very malice elsewhere: from the index, or a commit from where a checkout did.

    None if it came from a folder that has no address.
    """
    this = distribution(DISTRIBUTION)
    noted = this.read_text("direct_url.json")
    if noted is None:
        return f"{DISTRIBUTION}=={this.version}"
    origin = msgspec.json.decode(noted, type=Origin)
    if origin.vcs_info:
        return _name_commit(origin.url, origin.vcs_info.commit_id)
    folder = Path(unquote(urlsplit(origin.url).path))
    if not (folder / ".git").exists():
        return None
    return _name_commit(_ask_git(folder, "remote", "get-url", "origin"), _ask_git(folder, "rev-parse", "HEAD"))


def _name_commit(url: str, commit: str) -> str | None:
    # A forge serves by https what it serves by ssh.
    if ssh := re.fullmatch(r"(?:ssh://)?[\w.-]+@([\w.-]+?)[:/](.+)", url):
        url = f"https://{ssh[1]}/{ssh[2]}"
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not commit:
        return None
    public = parts._replace(netloc=parts.netloc.rpartition("@")[2])  # without a password
    return f"{DISTRIBUTION} @ git+{urlunsplit(public)}@{commit}"


def _ask_git(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
