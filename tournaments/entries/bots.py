"""Bots: a folder with bot.toml, a bot that ships, or a command line."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
from pathlib import Path

from msgspec import Struct

from malice import referee
from malice.referee.errors import BotError
from malice.referee.isolation.folders import MANIFEST
from malice.referee.records import Player
from malice.referee.toml_files import suggest_name
from malice.tournaments.entries.bot_files import hash_bot, hash_file, hash_files
from malice.tournaments.entries.manifests import (
    Manifest,
    format_defaults,
    hash_variant,
    make_environment,
    make_run_command,
    read_manifest,
    require_text,
)
from malice.tournaments.league import journal

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
    """The command that would run a file; None if we know none.

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


SHIPPED = Path(referee.__file__).parents[1] / "bots"
"""The bots that come with malice, one folder per language."""

KIT = "starter"
"""The folder of a language's starter kit."""


_WILD = re.compile(r"[*?\[]")
"""What makes the words of an entry a pattern."""


class Bot(Struct, frozen=True):
    """A bot: its bot.toml, how to start it, the hash of its files, and its parameters."""

    manifest: Manifest
    command: tuple[str, ...]
    folder: Path | None
    content: str
    """SHA-256 of its files or command line, hex."""
    owns_folder: bool = True
    """Whether its folder belongs to the bot; a command line merely runs in one."""
    home: Path | None = None
    """For a copy of a bot's folder, the folder that holds what was not copied, such as a virtual environment."""
    parameters: dict[str, str] = {}
    """All parameters that it receives."""
    given: dict[str, str] = {}
    """Those of them that differ from its bot.toml."""
    guest: bool = False
    """Whether it plays without a process of its own: a person at the terminal, or a player of a Python program."""

    @property
    def hash(self) -> str:
        """What identifies it: its content, and the parameters that differ from its bot.toml."""
        return hash_variant(self.content, self.given)

    @property
    def own_home(self) -> str | None:
        """The folder that its command may name files in; None if it is a command line, which may name any."""
        return str(self.home or self.folder) if self.owns_folder and self.folder else None

    @property
    def made_for(self) -> tuple[str, ...]:
        """The names of the rulesets that the bot is made for; an empty tuple means all."""
        return tuple(Path(name).stem if name.endswith(".toml") else name for name in self.manifest.rulesets)

    def make_player(self, label: str) -> Player:
        """Seat the bot as `label`."""
        name, version = self.manifest.name, self.manifest.version
        folder = str(self.folder) if self.folder else None
        environment = make_environment(self.parameters)
        return Player(
            label, self.hash, self.command, folder, name, version, environment=environment, home=self.own_home
        )


PERSON = Bot(Manifest(journal.YOU, (journal.YOU,)), (journal.YOU,), None, journal.PERSON, guest=True)
"""A person at the table; no process is started for them."""


def list_shipped_bots() -> dict[str, Path]:
    """The folders of the bots that ship, by name and by language/name; Python's come first."""
    folders = sorted(SHIPPED.glob(f"*/*/{MANIFEST}"), key=lambda path: (path.parts[-3] != "python", path))
    shipped: dict[str, Path] = {}
    for folder in (path.parent for path in folders):
        shipped.setdefault(folder.name, folder)
        shipped[f"{folder.parent.name}/{folder.name}"] = folder
    return shipped


def find_bot(words: str, base: Path = Path()) -> Bot:
    """Find the bot that `words` name: a folder, a bot that ships, or a command line.

    Args:
        words: as the user wrote them.
        base: the folder that paths are relative to and command lines run in.

    Raises:
        BotError: there is no such bot.
        DataError: its bot.toml is invalid.
    """
    if not words.strip():
        raise BotError(expected="a bot", got="an empty string")
    require_text(words)
    folder = find_folder(words, base)
    if folder and (folder / MANIFEST).is_file():
        if wild := _WILD.search(folder.name):
            raise BotError(
                where=words, expected=f"a folder's name without {wild[0]!r}, which stands for others in a pattern"
            )
        return load_bot_folder(folder.resolve())
    if words in (shipped := list_shipped_bots()):
        return load_bot_folder(shipped[words].resolve())
    if folder:
        raise BotError(f"the folder has no {MANIFEST}", where=words)
    command = _split_command(words, base)
    if not _is_program(command[0], base):
        raise _explain_no_bot(words, command, base)
    return _make_command_bot(command, base.resolve())


def _split_command(words: str, base: Path) -> tuple[str, ...]:
    if os.path.isfile(base / words):
        return (words,)  # a file name may contain a space
    try:
        return tuple(shlex.split(words)) or (words,)
    except ValueError as error:
        raise BotError(f"{words!r} is not a command line: {error}") from None


def _is_program(word: str, base: Path) -> bool:
    """Whether the first word of a command line can be started, as a shell in `base` sees it."""
    if "/" in word:
        return os.path.isfile(base / word) and os.access(base / word, os.X_OK)
    return shutil.which(word) is not None


def _explain_no_bot(words: str, command: tuple[str, ...], base: Path) -> BotError:
    """Why these words name no bot, and what the user may have meant."""
    no_bot = f"no bot {words!r}"
    first, known = command[0], sorted(name for name in list_shipped_bots() if "/" not in name)
    if os.path.isfile(base / first):
        if suggestion := suggest_command(command, base):
            hint = f'did you mean "{shlex.join(suggestion)}"?'
            return BotError(f"{no_bot}: {first} is a file, not a command", hint=hint)
        return BotError(f"{no_bot}: the file {first} is not executable (chmod +x)")
    if len(command) > 1:
        return BotError(f"{no_bot}: no program {first!r} on the PATH or in {base.resolve()}")
    expected = f"a folder with {MANIFEST}, a bot that ships ({', '.join(known)}), or a command line"
    return BotError(f"{no_bot}{suggest_name(words, known)}", expected=expected)


def names_program(words: str, base: Path) -> bool:
    """Tell whether `words` are a command line whose first word can be started, as a shell in `base` sees it."""
    try:
        return bool(words.strip()) and _is_program(_split_command(words, base)[0], base)
    except (BotError, ValueError):  # a quote that does not end, or a NUL
        return False


def find_folder(words: str, base: Path) -> Path | None:
    """The folder that `words` name, if any: a command line may not even be a valid path."""
    try:
        folder = base / Path(words).expanduser()
        return folder if folder.is_dir() else None
    except (OSError, RuntimeError, ValueError):
        return None


def load_bot_folder(folder: Path, home: Path | None = None) -> Bot:
    """Load the bot that the bot.toml of a folder describes.

    Args:
        folder: the folder.
        home: what `python` in bot.toml is relative to; by default the folder itself.

    Raises:
        BotError, DataError: bot.toml is missing or invalid.
    """
    manifest = read_manifest(folder)
    command = make_run_command(manifest, folder, home or folder)
    content = hash_bot(hash_files(folder, manifest.ignore))
    return Bot(manifest, command, folder, content, home=home, parameters=format_defaults(manifest.parameters))


def _make_command_bot(command: tuple[str, ...], base: Path) -> Bot:
    """Make the bot of a command line; its hash covers the words, and each word that is a file."""
    require_text(str(base))
    whole = hashlib.sha256()
    files = [word for word in command if os.path.isfile(base / word)]
    for word in command:
        whole.update(word.encode() + b"\0")
        if word in files:
            whole.update(hash_file(base / word)[0])
    name = Path(files[-1]).stem if files else Path(command[0]).name
    return Bot(Manifest(name, command), command, base, whole.hexdigest(), owns_folder=False)
