"""The bots of a league, kept by content beside its database, so that each of their versions can play again.

A kept bot is `HASH.tar`, the files that count for its content hash, and `HASH/`, a copy of its folder as built, which
is played; notes may lie beside them. Each appears under its name when it is complete and on the disk, so a process may
be killed at any moment.

`HASH.home` names the folder that holds what a copy lacks, such as an interpreter in `.venv`; most bots need none.
`HASH.variant` says which kept bot plays under this hash, and which of its parameters differ from its bot.toml: the
files of a bot are kept once, however many variants of it play.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from malice.referee.errors import BotError, DataError
from malice.referee.isolation.folders import MANIFEST
from malice.referee.isolation.installations import LONGEST_PATH
from malice.referee.isolation.limits import explain_missing_uids
from malice.tournaments.entries.bot_files import (
    hash_bot,
    hash_files,
    inspect_file,
    is_ignored,
    list_files,
    unpack_tar,
    write_tar,
)
from malice.tournaments.entries.bots import Bot, load_bot_folder
from malice.tournaments.entries.builds import Say, build, hold_build, print_progress, read_stamp
from malice.tournaments.entries.built_copies import (
    copy_as_built,
    measure_tree,
    open_workplace,
    remove_tree,
    settle,
    sweep,
    sync,
)
from malice.tournaments.entries.manifests import (
    Manifest,
    format_defaults,
    hash_variant,
    make_run_command,
    read_manifest,
)
from malice.tournaments.entries.variants import give_parameters
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.file import find_kept_bots, list_league_files


def place_command(command: Sequence[str], home: Path, copy: Path) -> tuple[str, ...]:
    """Make a command that starts the copy of a bot's folder.

    A word that names something in the folder names it in the copy. What was not copied, such as an interpreter in a
    dot-folder, stays where it is: its word becomes an absolute path. Nothing outside may be named, so other words stay.

    Args:
        command: as it is in the original folder, where it starts.
        home: the original folder.
        copy: the folder in which it will start.
    """
    return tuple(_place_word(word, str(home), copy, first=not number) for number, word in enumerate(command))


def needs_home(command: Sequence[str], placed: Sequence[str], home: Path) -> bool:
    """Tell whether a command that `place_command` returned still needs the original folder."""
    return any(
        os.path.isabs(new) and (not os.path.isabs(old) or Path(new).is_relative_to(home))
        for old, new in zip(command, placed, strict=True)
    )


def _place_word(word: str, home: str, copy: Path, *, first: bool) -> str:
    if not word or "\0" in word or len(word) > LONGEST_PATH or (first and "/" not in word):
        return word  # without a slash, a program is looked up on the PATH
    path = os.path.normpath(os.path.join(home, word))
    inside = os.path.relpath(path, home)
    if inside == os.pardir or inside.startswith(os.path.join(os.pardir, "")):
        return word
    if os.path.lexists(copy / inside):
        return str(copy / inside) if os.path.isabs(word) else word
    return path if not os.path.isabs(word) and os.path.lexists(path) else word


VARIANT = ".variant"


class Variant(Struct, frozen=True, forbid_unknown_fields=True):
    """A bot with parameters that differ from its bot.toml."""

    content: str
    """The hash of its files."""
    given: dict[str, str]


class KeptNotes:
    """The notes in a folder of kept bots; each appears whole, and is on the disk.

    Args:
        folder: the folder, which may not exist yet.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def note_home(self, hash: str, home: Path) -> None:
        """Note the home of a kept bot."""
        if self.read_home(hash) != home:
            _write_file(self._folder / f"{hash}.home", str(home).encode())

    def read_home(self, hash: str) -> Path | None:
        """Read the home of a kept bot, if it has one.

        Raises:
            LeagueError: the note is damaged.
        """
        path = self._folder / f"{hash}.home"
        try:
            home = path.read_text("utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            home = ""
        if not home.startswith("/") or "\0" in home:
            raise LeagueError("damaged", where=path, expected="the path of a folder")
        return Path(home)

    def note_variant(self, hash: str, variant: Variant) -> None:
        """Note what plays under a hash; nothing if that is a bot with the parameters of its bot.toml."""
        if variant.given and self.read_variant(hash) != variant:
            _write_file(self._folder / f"{hash}{VARIANT}", msgspec.json.encode(variant))

    def read_variant(self, hash: str) -> Variant:
        """Read what plays under a hash.

        Raises:
            LeagueError: the note is damaged.
        """
        path = self._folder / f"{hash}{VARIANT}"
        try:
            variant = msgspec.json.decode(path.read_bytes(), type=Variant)
        except FileNotFoundError:
            return Variant(hash, {})
        except msgspec.MsgspecError as error:
            raise LeagueError(f"{path}: damaged: {error}") from None
        if hash_variant(variant.content, variant.given) != hash:
            raise LeagueError("damaged", where=path, expected=f"the variant {hash[:12]}", got="another")
        return variant

    def list_variants(self) -> dict[str, str]:
        """The hash of the kept bot that plays under another hash, by that other hash."""
        hashes = [path.name.removesuffix(VARIANT) for path in sorted(self._folder.glob(f"*{VARIANT}"))]
        return {hash: self.read_variant(hash).content for hash in hashes}


MANY_BYTES = 100_000_000
"""`malice entry list` advises on a kept bot that takes more."""
HASH = re.compile("[0-9a-f]{64}")


class KeptBots:
    """The kept bots of a league, in the folder `friday.bots` beside `friday.db`; it is made when it is first needed.

    No other user may list it. Where bots have users of their own, these may enter it, and then a bot that knows the
    content hash of another one can read that one's copy unless it is in a sandbox; the tar files are ours alone.

    Args:
        league: the path of the database.
        say: receives a line on each build, and on each copy that had to be replaced.
    """

    def __init__(self, league: Path, say: Say = print_progress) -> None:
        self.folder = find_kept_bots(league)
        self.notes = KeptNotes(self.folder)
        self._say = say
        self._apart = set(map(Path, list_league_files(league)))
        """No part of a bot, even if its folder holds them: the league has the seed."""

    def keep(self, bot: Bot) -> Bot:
        """Keep a bot that is ready to start, and return the bot that plays from the copy; its hash is the same.

        A command line is returned as it is: nobody knows which of the files around it belong to it. What is kept
        already is compared and not copied again, and all variants of a bot share one copy.

        Raises:
            BotError: the bot was edited since it was hashed, contains the folder of kept bots, or cannot be copied.
        """
        if bot.folder is None or not bot.owns_folder:
            return bot
        if bot.folder != self.copy(bot.content):
            self._refuse_to_contain_itself(bot, bot.folder)
            sweep(self.folder)
        with _name_failures(bot.manifest.name, self.folder):
            if bot.folder != self.copy(bot.content):
                if not self._is_kept(bot, bot.folder):
                    self._copy_folder(bot, bot.folder)
                bot = self._move(bot, bot.home or bot.folder)
            self.notes.note_variant(bot.hash, Variant(bot.content, bot.given))
            return bot

    def keep_tree(self, write: Callable[[Path], None], home: Path, guard: int | None = None) -> Bot:
        """Keep a bot whose files `write` puts into a new folder; it is built there, unless it is kept already.

        Args:
            write: makes the folder that it receives.
            home: the folder that holds what is not among the files, such as a virtual environment.
            guard: as in `build`.

        Raises:
            BotError, DataError: there is no bot in it, or as in `load`.
        """
        with _name_failures(home.name, self.folder), open_workplace(self.make_folder()) as work:
            tree = work / "tree"
            write(tree)
            try:
                bot = load_bot_folder(tree, home)
                if self.tar(bot.content).exists():
                    return self.load(bot.content, guard=guard)
                bot = build(bot, self._say, guard=guard).bot
            except (BotError, DataError) as error:  # it names a folder that will be gone
                raise type(error)(str(error).replace(str(tree), str(home))) from None
            self._store(bot, tree, work, replace=False)
            return self._move(bot, home)

    def has(self, hash: str) -> bool:
        """Whether a version was kept.

        Raises:
            LeagueError: the note on a variant is damaged.
        """
        if not HASH.fullmatch(hash):
            return False
        content = self.notes.read_variant(hash).content
        return self.copy(content).is_dir() or self.tar(content).exists()

    def load(self, hash: str, *, guard: int | None = None) -> Bot:
        """Load a kept version; if its copy is gone or was changed, build it again from its tar file.

        Args:
            hash: what identifies it: of a bot with the parameters of its bot.toml, the content hash.
            guard: as in `build`.

        Raises:
            BotError: it is not kept, does not build, or needs an interpreter that is gone.
            LeagueError: a file of it is damaged, and the message names the file.
            Abandoned: nobody waits for the build.
        """
        if not self.has(hash):
            raise BotError(f"no bot with the content {hash[:12]!r} is kept in {self.folder}")
        variant = self.notes.read_variant(hash)
        with _name_failures(hash[:12], self.folder):
            return give_parameters(self._load(variant.content, guard), variant.given)

    def _load(self, content: str, guard: int | None) -> Bot:
        copy = self.copy(content)
        manifest = self._read_copy(content) if copy.is_dir() else None
        if manifest is None:
            self._rebuild(content, guard)
            manifest = read_manifest(copy)
        home = self.notes.read_home(content) or copy
        placed = place_command(make_run_command(manifest, copy, home), home, copy)
        parameters = format_defaults(manifest.parameters)
        return Bot(manifest, placed, copy, content, home=None if home == copy else home, parameters=parameters)

    def list_kept(self) -> dict[str, int]:
        """The bytes that the tar file and the files of the copy have together, by content hash."""
        kept: dict[str, int] = {}
        for path in sorted(self.folder.glob("*")):
            hash = path.name.removesuffix(".tar")
            if HASH.fullmatch(hash):
                kept[hash] = kept.get(hash, 0) + (measure_tree(path) if path.is_dir() else path.stat().st_size)
        return kept

    def list_variants(self) -> dict[str, str]:
        """The content hash of each kept variant, by its hash; raise LeagueError for a damaged note."""
        return self.notes.list_variants()

    def receive(self, hash: str, tar: bytes) -> None:
        """Keep the tar file of a bot; what it holds is verified when it is loaded.

        Raises:
            ValueError: that is no content hash.
            OSError: there is no room.
        """
        if not HASH.fullmatch(hash):
            raise ValueError(f"expected a content hash, got {hash!r}")
        _write_file(self.tar(hash), tar)

    def remove(self, hash: str) -> None:
        """Remove a bot that nobody plays; its notes stay."""
        self.tar(hash).unlink(missing_ok=True)
        remove_tree(self.copy(hash))

    def copy(self, hash: str) -> Path:
        """Where a bot lies as it is played."""
        return self.folder / hash

    def tar(self, hash: str) -> Path:
        """Where the files of a bot lie."""
        return self.folder / f"{hash}.tar"

    def make_folder(self) -> Path:
        """Make the folder if it does not exist, and return it; raise OSError if that fails."""
        if not self.folder.is_dir():
            # Bots with users of their own must get to their copies, and without a way they would run as our user.
            mode = 0o700 if explain_missing_uids() else 0o711
            self.folder.mkdir(mode=0o700, exist_ok=True)
            self.folder.chmod(mode)
            sync(self.folder.parent)
        return self.folder

    def _refuse_to_contain_itself(self, bot: Bot, folder: Path) -> None:
        if self.folder.is_relative_to(folder.resolve()):
            inside = str(self.folder.relative_to(folder.resolve()))
            if not is_ignored(inside, bot.manifest.ignore):
                raise BotError(
                    where=bot.manifest.name,
                    expected="a league outside of the bot's folder",
                    got=f"{self.folder}, where its bots are kept",
                    hint="list that in `ignore`, or put the league elsewhere",
                )

    def _is_kept(self, bot: Bot, folder: Path) -> bool:
        """Tell whether a bot is kept whole, and its copy is of the build that is in its folder."""
        copy = self.copy(bot.content)
        if not copy.is_dir() or not self.tar(bot.content).exists():
            return False
        return self._read_copy(bot.content) is not None and read_stamp(copy) == read_stamp(folder)

    def _read_copy(self, hash: str) -> Manifest | None:
        """Read a copy's bot.toml; None, with a message, if the copy is no longer what was kept."""
        copy = self.copy(hash)
        with contextlib.suppress(DataError):
            manifest = read_manifest(copy)
            if _hash_content(copy, manifest) == hash:
                return manifest
        self._say(f"{copy}: something has changed this copy of a bot; it is replaced")
        return None

    def _copy_folder(self, bot: Bot, folder: Path) -> None:
        replace = self.copy(bot.content).exists()
        with open_workplace(self.make_folder()) as work:
            with hold_build(folder):
                copy_as_built(folder, work / "tree", self._apart)
            if _hash_content(work / "tree", bot.manifest) != bot.content:
                raise BotError(f"{bot.manifest.name}: {folder} was edited while it was copied; try again")
            self._store(bot, work / "tree", work, replace=replace)

    def _rebuild(self, hash: str, guard: int | None) -> None:
        tar = self.tar(hash)
        if not tar.exists():
            raise BotError(
                where=self.copy(hash), expected="the bot that was kept", got=f"another, and {tar.name} is gone"
            )
        with open_workplace(self.folder) as work:
            tree = work / "tree"
            try:
                unpack_tar(tar, tree)
                content = _hash_content(tree, read_manifest(tree))
            except (DataError, ValueError) as error:
                raise LeagueError(f"{tar}: damaged: {error}") from None
            if content != hash:
                raise LeagueError(
                    "damaged", where=tar, expected=f"the content {hash[:12]}", got=content and content[:12]
                )
            bot = build(load_bot_folder(tree, self.notes.read_home(hash)), self._say, guard=guard).bot
            if bot.content != hash:
                raise BotError(
                    f"{bot.manifest.name}: its build makes another bot of what was kept: it changes files that"
                    " `ignore` in bot.toml does not list"
                )
            self._place(tree, self.copy(hash), work / "old")

    def _store(self, bot: Bot, tree: Path, work: Path, *, replace: bool) -> None:
        """Keep a tree that is built: first its files as a tar, then the tree itself."""
        target = self.tar(bot.content)
        if not target.exists():
            files = set(list_files(tree, bot.manifest.ignore)) | {inspect_file(tree, MANIFEST)}
            new = work / "tar"
            with open(new, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as stream:
                write_tar(tree, files, stream)
                stream.flush()
                os.fsync(stream.fileno())
            new.rename(target)
        self._place(tree, self.copy(bot.content), work / "old" if replace else None)

    def _place(self, tree: Path, copy: Path, old: Path | None) -> None:
        """Put a tree where a copy belongs; move what is there to `old`, or else leave it."""
        settle(tree)
        if old:
            with contextlib.suppress(FileNotFoundError):
                copy.rename(old)
        try:
            tree.rename(copy)
        except OSError:
            if not copy.is_dir():  # else another process was quicker
                raise
        sync(self.folder)

    def _move(self, bot: Bot, home: Path) -> Bot:
        """The bot that plays from its copy; note its home if it still needs that."""
        copy = self.copy(bot.content)
        placed = place_command(bot.command, home, copy)
        python = bot.manifest.python
        if not needs_home(bot.command, placed, home) and "/" not in python:
            return structs.replace(bot, folder=copy, command=placed, home=None)
        self.notes.note_home(bot.content, home)
        return structs.replace(bot, folder=copy, command=placed, home=home)


def _write_file(path: Path, content: bytes) -> None:
    """Write a file that we alone may read; it appears whole, and is on the disk."""
    with open_workplace(path.parent) as work:
        draft = work / path.name
        draft.write_bytes(content)
        draft.chmod(0o600)
        sync(draft)
        draft.rename(path)
        sync(path.parent)


def explain_large_size(name: str, bytes: int) -> str | None:
    """Say what the author of a kept bot that takes over 100 MB of disk can do; None of a smaller one.

    Args:
        name: the bot.
        bytes: what it takes, as in `KeptBots.list_kept`.
    """
    if bytes <= MANY_BYTES:
        return None
    return (
        f"{name}: {bytes // 1_000_000:,} MB are kept of this version; a build that leaves behind only what"
        " `run` needs takes less, and what `ignore` in bot.toml lists is kept once, not twice"
    )


def _hash_content(folder: Path, manifest: Manifest) -> str | None:
    """The content hash of a folder; None if what lies there can be no bot."""
    try:
        return hash_bot(hash_files(folder, manifest.ignore))
    except BotError:
        return None


@contextlib.contextmanager
def _name_failures(name: str, folder: Path) -> Iterator[None]:
    """Make errors of the disk say what was to be done."""
    try:
        yield
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise BotError(f"{name}: cannot be kept in {folder}: {where}{error.strerror}") from None
