"""Names of bots: folders, shipped bots, command lines, versions of a league, git revisions of a folder.

Files of a revision are read as git stores them. `git archive` would run the filters that a repository configures, and
leave out what its attributes say.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple, NoReturn

from msgspec import Struct, structs
from msgspec.structs import replace

from malice.referee.errors import BotError, DataError
from malice.referee.isolation.folders import MANIFEST
from malice.tournaments.entries.bot_files import LONGEST_PATH, MOST_BYTES, MOST_FILES, FreshTree
from malice.tournaments.entries.bots import PERSON, Bot, find_bot, find_folder, list_shipped_bots, names_program
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.entries.variants import find_variant, give_query, list_splits
from malice.tournaments.league.store import Store

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
MOST_MEMORY = 1024**3
"""How many bytes git may take: it reads a folder's list, or a commit, as a whole, and these compress well."""
MOST_WAIT_S = 60
"""How long git may take to name a commit: where a file of a repository is a fifo, it would wait for ever."""
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
            way_out = "; use a copy, or keep versions there: git init, git commit"
            raise BotError(f"{folder} is not in a git repository{way_out if known else f' that can be read: {reason}'}")
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
                path = os.path.join(inside, name)
                try:
                    kind = stat.S_IFMT(os.lstat(path).st_mode)
                except FileNotFoundError:  # git packs its objects meanwhile
                    continue
                if kind == stat.S_IFLNK:
                    self._refuse_repository(path)
                if kind not in (stat.S_IFREG, stat.S_IFDIR):
                    raise BotError(where=path, expected="a file or a folder of git")

    def _refuse_repository(self, path: str, target: str = "") -> NoReturn:
        leads = f" to {target}" if target else ""
        raise BotError(
            f"{path} leads out of the repository around {self._folder}{leads}; expected a folder .git that holds all of"
            " its objects, as git clone makes it"
        )

    def find_commit(self, revision: str) -> str:
        """The full name of the commit that a revision names.

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
                raise BotError(where=f"{self._folder} at {commit[:12]}", expected=f"at most {most}", got="more")
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
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=said,
                env=_make_environment(),
                preexec_fn=_limit_memory,
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
                where=f"{self._folder} at {commit[:12]}",
                expected="only files",
                got=f"a submodule, {os.fsdecode(path)!r}",
            )
        if not size.isdecimal():  # git says BAD
            raise ValueError(f"the repository lacks the content of {os.fsdecode(path)!r}")
        return GitFile(mode, name, int(size), os.fsdecode(path))

    def _write_files(self, files: list[GitFile], tree: FreshTree) -> None:
        command = (*self._command, "cat-file", "--batch")
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            env=_make_environment(),
            preexec_fn=_limit_memory,
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
                timeout=MOST_WAIT_S,
                preexec_fn=_limit_memory,
            )
        except subprocess.TimeoutExpired:
            raise BotError(f"git gave no answer on {self._folder} within {MOST_WAIT_S} s") from None
        except ValueError:  # a NUL
            raise BotError(f"no revision of {self._folder}", expected="text without NUL") from None


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
    """Why git gave up; warnings may come before it, and advice after it."""
    lines = os.fsdecode(stderr).splitlines()
    return next((line.removeprefix("fatal: ") for line in lines if line.startswith("fatal: ")), "git says no reason")


def _limit_memory() -> None:
    """Limit what the calling process allocates; files that it maps do not count."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = MOST_MEMORY if hard == resource.RLIM_INFINITY else min(MOST_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _make_environment() -> dict[str, str]:
    """Our environment without what would lead git to another repository or configuration."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "LC_", "LANG"))}
    return ours | _SETTINGS


LAST = "last"
_NUMBER = re.compile("[1-9][0-9]{0,5}")
"""A version; longer numbers are abbreviated commits."""


class Reference(Struct, frozen=True):
    """A name with `@`, such as `mybot@2`, `mybot@last` or `mybot@HEAD~3`."""

    label: str
    """What stands before the `@`: the label of an entry, or a folder."""
    selector: int | str
    """The number of a version, `last`, or else a git revision."""

    @property
    def names_version(self) -> bool:
        """Whether it names a version that a league knows; if not, a git revision."""
        return isinstance(self.selector, int) or self.selector == LAST


def parse_reference(words: str) -> Reference | None:
    """Split a name at its `@`; None if it has none, or nothing on one side of it.

    A number of one to six digits is a version. The last `@` counts, but for git's own, as in `mybot@HEAD@{1}`.
    """
    label, selector = next(_split(words), ("", ""))
    if not label:
        return None
    return Reference(label, int(selector) if _NUMBER.fullmatch(selector) else selector)


def find_revision(words: str, base: Path, kept: KeptBots, *, guard: int | None = None) -> Bot:
    """Build and keep the bot that a folder held at a git revision, such as `./bots/mybot@HEAD~3`.

    A folder, a bot that ships or a program whose own name has an `@` comes first, and is found as by `find_bot`.

    Args:
        words: as the user wrote them.
        base: the folder that paths are relative to.
        kept: where the revision is kept, and plays from.
        guard: as in `build`.

    Returns:
        The bot, named after the folder and the revision: `mybot@HEAD~3`.

    Raises:
        BotError: there is no such folder, repository, revision or bot, or no git; or as `KeptBots.load`.
        DataError: the bot.toml of that revision is invalid.
        Abandoned: nobody waits for the build.
    """
    if _is_literal(words, base):
        return find_bot(words, base)
    place = _find_place(words, base)
    if place is None:
        if reference := parse_reference(words):
            raise BotError(f"no bot {words!r}", expected="a folder before the @", got=repr(reference.label))
        return find_bot(words, base)
    folder, revision = place
    try:
        repository = GitFolder(folder)
        commit = repository.find_commit(revision)
        bot = kept.keep_tree(partial(repository.write, commit), folder, guard)
    except (BotError, DataError) as error:
        raise type(error)(f"{words}: {error}") from None
    return structs.replace(bot, manifest=structs.replace(bot.manifest, name=f"{folder.name}@{revision}"))


def _split(words: str) -> Iterator[tuple[str, str]]:
    """Yield the ways to split a name at an `@`, from the last one to the first."""
    for match in reversed(list(re.finditer("@", words))):
        before, after = words[: match.start()], words[match.end() :]
        if before and after and not after.startswith("{"):
            yield before, after


def _is_literal(words: str, base: Path) -> bool:
    """Tell whether something has this very name, with its `@`."""
    if find_folder(words, base) or words in list_shipped_bots():
        return True
    return names_program(words, base) and (" " not in words or _find_place(words, base) is None)


def _find_place(words: str, base: Path) -> tuple[Path, str] | None:
    """The folder and the revision that a name means; None if what is before the `@` is no folder."""
    shipped = list_shipped_bots()
    for before, after in _split(words):
        folder = find_folder(before, base) or shipped.get(before)
        if folder is not None:
            return folder.resolve(), after
    return None


class Names:
    """Finds the bots that a user names.

    Args:
        league: the database beside which bots are kept.
        store: the league itself, if it is open; without it, nothing is known of versions.
        people: whether `you` is the person at the terminal.
        scratch: a database beside which git revisions are kept instead.
        origin: another league, from which games go on: its versions may be named, too.
    """

    def __init__(
        self,
        league: Path,
        store: Store | None = None,
        *,
        people: bool = False,
        scratch: Path | None = None,
        origin: Path | None = None,
    ) -> None:
        self._kept = KeptBots(league)
        self._revisions = self._kept if scratch is None else KeptBots(scratch)
        # Copied here: entries are looked up in threads, and a database belongs to one.
        self._versions = dict(store.league().versions) if store else {}
        self._people = people
        self._origin: Names | None = None
        if origin:
            with Store(origin) as other:
                self._origin = Names(origin, other)

    def find(self, words: str, base: Path = Path()) -> Bot:
        """Find the bot that words name, also `mybot@2` or `mybot@last`, a version, and `mybot@HEAD~3`, a revision.

        Each of them may have parameters: `mybot@2?weight=300`.

        Raises:
            BotError: there is no such bot, version or revision.
            ParameterError: the bot has no such parameter, or a value does not fit.
            DataError: its bot.toml is invalid.
        """
        # A label may have parameters of its own: mybot?weight=300@2 is the second version of that entry.
        for name, query in ((words, ""), *reversed(list_splits(words))):
            reference = parse_reference(name)
            if not reference or not reference.names_version:
                continue
            for names in filter(None, (self, self._origin)):
                if found := names._find_version(reference):
                    return give_query(found, query, words) if query else found
        return find_variant(words, base, self._find)

    def _find(self, words: str, base: Path) -> Bot:
        if self._people and words == PERSON.manifest.name:
            return PERSON
        reference = parse_reference(words)
        if reference is None:
            return find_bot(words, base)
        try:
            return find_revision(words, base, self._revisions)
        except BotError as error:
            if not reference.names_version or self._versions:
                raise
            raise error.advise(f"versions such as @{reference.selector} lie in a league: --db LEAGUE.db") from None

    def _find_version(self, reference: Reference) -> Bot | None:
        """Find a version of an entry; None if no entry has this label, so that it may be a folder."""
        label, selector = reference.label, reference.selector
        versions = self._versions.get(label) or self._versions.get(Path(label).name, [])
        if not versions:
            return None
        if selector != LAST and not (isinstance(selector, int) and selector <= len(versions)):
            raise BotError(f"{label}@{selector}: the league knows versions 1 to {len(versions)} of {label!r}")
        version = versions[-1 if selector == LAST else int(selector) - 1]
        bot = self._kept.load(version.hash)
        return replace(bot, manifest=replace(bot.manifest, name=f"{version.label}@{version.number}"))
