"""Folders as they were at a git revision, read without running anything that their repository configures.

Files are read as git stores them. `git archive` would run the filters that a repository configures, and leave out what
its attributes say.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, NoReturn

from malice.referee.errors import BotError
from malice.referee.isolation.folders import MANIFEST
from malice.tournaments.entries.bot_files import MOST_BYTES, MOST_FILES
from malice.tournaments.entries.fresh_trees import LONGEST_PATH, FreshTree

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
MOST_RECORD_BYTES = 65_536
"""What git may say of one file; a longer path is refused."""
_NO_FOLDER = ("Not a valid object name", "not a tree object")
_LINK, _EXECUTABLE = "120000", "100755"


class GitFile(NamedTuple):
    """A file of a folder at a revision."""

    mode: str
    object: str
    size: int
    path: str


class GitFolder:
    """A folder in a git repository: that of `.git` in it or above it, and none that this leads to.

    Whoever wrote the folder may have written its `.git`, too: a file, a link or an alternate there could lead to a
    repository that nobody but us may read.

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
        self._require_own_repository()

    def _require_own_repository(self) -> None:
        """Make sure that the repository lies in a folder `.git` in or above ours, with all of its objects."""
        top = os.path.realpath(self._folder).removesuffix(self._prefix.rstrip("/")).rstrip("/")
        own = os.path.join(top, ".git")
        said = os.fsdecode(self._run("rev-parse", "--absolute-git-dir").stdout.removesuffix(b"\n"))
        if said != own or os.path.islink(own):
            self._refuse_repository(own, said if said != own else os.path.realpath(own))
        for name in ("commondir", "objects", "objects/info/alternates"):
            path = os.path.join(own, name)
            if os.path.islink(path) or (name != "objects" and os.path.lexists(path)):
                self._refuse_repository(path)
        for inside, folders, files in os.walk(os.path.join(own, "objects")):
            for name in (*folders, *files):
                if os.path.islink(path := os.path.join(inside, name)):
                    self._refuse_repository(path)

    def _refuse_repository(self, path: str, target: str = "") -> NoReturn:
        leads = f" to {target}" if target else ""
        raise BotError(
            f"{path} leads out of the repository around {self._folder}{leads}; expected a folder .git that holds all of"
            " its objects, as git clone makes it"
        )

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
        files, size = [], 0
        for file in self._list_files(commit):
            files.append(file)
            size += file.size
            if len(files) > MOST_FILES or size > MOST_BYTES:
                most = f"{MOST_FILES:,} files with {MOST_BYTES:,} bytes"
                raise BotError(f"{self._folder} at {commit[:12]}: expected at most {most}, got more")
        if MANIFEST not in (file.path for file in files):
            raise BotError(f"{self._folder} has no {MANIFEST} at {commit[:12]}")
        tree = FreshTree(target)
        try:
            self._write_files(files, tree)
            tree.finish()
        except ValueError as error:
            raise BotError(f"{self._folder} at {commit[:12]}: {error}") from None

    def _list_files(self, commit: str) -> Iterator[GitFile]:
        """Yield the files as git names them; a tree may name more than fit into memory, so who reads on decides."""
        where = f"{commit}:{self._prefix.rstrip('/')}"
        command = (*self._command, "ls-tree", "-r", "-z", "-l", "--full-tree", where)
        with (
            tempfile.TemporaryFile() as said,
            subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, env=_make_environment()
            ) as git,
        ):
            assert git.stdout is not None
            try:
                for record in _split_records(git.stdout):
                    yield self._parse_file(record, commit)
                status = git.wait()
            except ValueError as error:
                raise BotError(f"{self._folder} at {commit[:12]}: {error}") from None
            finally:
                git.kill()
            said.seek(0)
            if status and not (reason := _find_reason(said.read(MOST_RECORD_BYTES))).startswith(_NO_FOLDER):
                raise BotError(f"{self._folder} at {commit[:12]} cannot be read: {reason}")

    def _parse_file(self, record: bytes, commit: str) -> GitFile:
        described, _, path = record.partition(b"\t")
        mode, kind, name, size = described.decode().split()
        if kind != "blob":
            raise BotError(
                f"{self._folder} at {commit[:12]}: expected only files, got a submodule, {os.fsdecode(path)!r}"
            )
        if not size.isdecimal():  # git says BAD
            raise ValueError(f"the repository lacks the content of {os.fsdecode(path)!r}")
        return GitFile(mode, name, int(size), os.fsdecode(path))

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


def _split_records(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield what ends with a NUL.

    Raises:
        ValueError: one is too long.
    """
    rest = b""
    while piece := stream.read(MOST_RECORD_BYTES):
        *records, rest = (rest + piece).split(b"\0")
        yield from records
        if len(rest) > MOST_RECORD_BYTES:
            raise ValueError(f"expected paths of at most {MOST_RECORD_BYTES:,} bytes, got a longer one")


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
