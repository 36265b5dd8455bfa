"""Folders as they were at a git revision, read without running anything that their repository configures.

Files are read as git stores them. `git archive` would run the filters that a repository configures, and leave out what
its attributes say.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from referee.errors import BotError
from referee.isolation.folders import MANIFEST
from tournaments.entries.bot_files import MOST_BYTES, MOST_FILES
from tournaments.entries.fresh_trees import LONGEST_PATH, FreshTree

_OPTIONS = (
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "protocol.allow=never"),  # objects that are missing are not fetched
    *("-c", "safe.bareRepository=explicit"),
)
_SETTINGS = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_NO_FOLDER = ("Not a valid object name", "not a tree object")
_LINK, _EXECUTABLE = "120000", "100755"


class GitFile(NamedTuple):
    """A file of a folder at a revision."""

    mode: str
    object: str
    size: int
    path: str


class GitFolder:
    """A folder in a git repository.

    Raises:
        BotError: there is no git, or no repository that we may read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        git = shutil.which("git")
        if git is None:
            raise BotError("a revision of a bot needs git, not on the PATH (Debian: apt-get install git)")
        self._command = (git, "-C", str(folder), *_OPTIONS)
        done = self._run("rev-parse", "--show-prefix")
        if done.returncode:
            reason = _find_reason(done.stderr)
            known = reason.startswith("not a git repository")
            raise BotError(f"{folder} is not in a git repository{'' if known else f' that can be read: {reason}'}")
        self._prefix = os.fsdecode(done.stdout.removesuffix(b"\n"))

    def find_commit(self, revision: str) -> str:
        """Return the full name of the commit that a revision names.

        Raises:
            BotError: there is none.
        """
        # What begins with a dash would be an option.
        done = (
            None if revision.startswith("-") else self._run("rev-parse", "--verify", "--quiet", revision + "^{commit}")
        )
        if done is None or done.returncode:
            raise BotError(f"no revision {revision!r} in the git repository of {self._folder}")
        return done.stdout.decode().strip()

    def write(self, commit: str, target: Path) -> None:
        """Write the folder, as it was in a commit, to a new folder.

        Raises:
            BotError: it was no bot's folder then, or holds what no bot may hold; the message names it.
        """
        files = list(self._list_files(commit))
        if MANIFEST not in (file.path for file in files):
            raise BotError(f"{self._folder} has no {MANIFEST} at {commit[:12]}")
        if len(files) > MOST_FILES or sum(file.size for file in files) > MOST_BYTES:
            most = f"{MOST_FILES:,} files with {MOST_BYTES:,} bytes"
            raise BotError(f"{self._folder} at {commit[:12]}: expected at most {most}, got more")
        tree = FreshTree(target)
        try:
            self._write_files(files, tree)
            tree.finish()
        except ValueError as error:
            raise BotError(f"{self._folder} at {commit[:12]}: {error}") from None

    def _list_files(self, commit: str) -> Iterator[GitFile]:
        where = f"{commit}:{self._prefix.rstrip('/')}"
        done = self._run("ls-tree", "-r", "-z", "-l", "--full-tree", where)
        if done.returncode:
            reason = _find_reason(done.stderr)
            if reason.startswith(_NO_FOLDER):
                return
            raise BotError(f"{self._folder} at {commit[:12]} cannot be read: {reason}")
        for line in done.stdout.split(b"\0")[:-1]:
            described, _, path = line.partition(b"\t")
            mode, kind, name, size = described.decode().split()
            if kind != "blob":
                raise BotError(
                    f"{self._folder} at {commit[:12]}: expected only files, got a submodule, {os.fsdecode(path)!r}"
                )
            yield GitFile(mode, name, int(size), os.fsdecode(path))

    def _write_files(self, files: list[GitFile], tree: FreshTree) -> None:
        command = (*self._command, "cat-file", "--batch")
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=_make_environment()
        ) as git:
            assert git.stdin is not None
            assert git.stdout is not None
            try:
                for file in files:
                    git.stdin.write(f"{file.object}\n".encode())
                    git.stdin.flush()
                    _write_file(file, git.stdout, tree)
            except BrokenPipeError:
                raise ValueError("git ended before it had written all files") from None
            finally:
                git.kill()

    def _run(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                (*self._command, *words),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=_make_environment(),
                check=False,
            )
        except ValueError:  # a NUL
            raise BotError(f"no revision of {self._folder}: expected text without NUL") from None


def _write_file(file: GitFile, output: IO[bytes], tree: FreshTree) -> None:
    header = output.readline().split()
    if len(header) != 3 or header[1] != b"blob" or int(header[2]) != file.size:
        raise ValueError(f"the repository lacks the content of {file.path!r}")
    if file.mode == _LINK:
        if file.size > LONGEST_PATH:
            raise ValueError(f"{file.path!r}: expected a symlink of at most {LONGEST_PATH} bytes, got {file.size:,}")
        tree.add_link(file.path, os.fsdecode(output.read(file.size)))
    else:
        tree.add_file(file.path, output, file.size, executable=file.mode == _EXECUTABLE)
    output.read(1)  # the line feed after it


def _find_reason(stderr: bytes) -> str:
    """Return why git gave up; warnings may come before it, and advice after it."""
    lines = os.fsdecode(stderr).splitlines()
    return next((line.removeprefix("fatal: ") for line in lines if line.startswith("fatal: ")), "git says no reason")


def _make_environment() -> dict[str, str]:
    """Return our environment without what would lead git to another repository or configuration."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "LC_", "LANG"))}
    return ours | _SETTINGS
