"""What may enter a tournament: a folder with bot.toml, a bot that ships, or a command line."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
import shutil
import sys
from pathlib import Path

from msgspec import Struct

import referee
from referee.errors import BotError
from referee.isolation.folders import MANIFEST
from referee.records import Player
from referee.ruleset import list_rulesets
from referee.toml_files import convert, read_toml, suggest_name
from tournaments.entries.bot_files import content_hash, contents, file_hash, own_file

SHIPPED = Path(referee.__file__).parents[1] / "bots"
"""The bots that come with malice, one folder per language."""

KIT = "starter"
"""The folder of a language's starter kit."""

MOST_BUILD_S = 86_400

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
"""What runs a file of that name: the first of them that is here."""


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """What bot.toml says."""

    name: str
    run: tuple[str, ...]
    """The command that starts the bot, in its folder; `{python}` stands for a Python interpreter."""
    version: str = ""
    author: str = ""
    language: str = ""
    build: tuple[str, ...] = ()
    """The command that builds it, in its folder, before a run."""
    build_s: int = 600
    """Seconds that the build may take."""
    python: str = ""
    """The interpreter that `{python}` stands for: a program on the PATH, or a path from the bot's folder such as
    ".venv/bin/python"; by default the one that runs malice."""
    needs: tuple[str, ...] = ()
    """Programs that the build or the run takes, besides a shell, and libraries: "cargo", "node", "cjson"."""
    rulesets: tuple[str, ...] = ()
    """What it is made for: rulesets that ship, or files in its folder such as "./mine.toml"; by default all."""
    ignore: tuple[str, ...] = ()
    """Patterns of files that do not make it another bot, such as what the build leaves."""


class BotSpec(Struct, frozen=True):
    """A bot that was found: how to start it, and what it is."""

    manifest: Manifest
    command: tuple[str, ...]
    folder: Path | None
    hash: str

    @property
    def made_for(self) -> tuple[str, ...]:
        """The names of the rulesets that it is made for; none means all."""
        return tuple(Path(name).stem if name.endswith(".toml") else name for name in self.manifest.rulesets)

    def make_player(self, label: str) -> Player:
        """Return what the referee needs to seat it as `label`."""
        name, version = self.manifest.name, self.manifest.version
        return Player(label, self.hash, self.command, str(self.folder) if self.folder else None, name, version)


PERSON = BotSpec(Manifest("you", ("you",)), ("you",), None, hashlib.sha256(b"you").hexdigest())
"""Whoever sits at the terminal; no process is started for them."""


def list_shipped_bots() -> dict[str, Path]:
    """Return the folders of the bots that ship, by name and by language/name; Python's come first."""
    folders = sorted(SHIPPED.glob(f"*/*/{MANIFEST}"), key=lambda path: (path.parts[-3] != "python", path))
    found: dict[str, Path] = {}
    for folder in (path.parent for path in folders):
        found.setdefault(folder.name, folder)
        found[f"{folder.parent.name}/{folder.name}"] = folder
    return found


def find_bot(words: str, base: Path = Path()) -> BotSpec:
    """Return the bot that `words` name: a folder, a bot that ships, or a command line.

    Args:
        words: as written by the user.
        base: what a folder is relative to, and where a command line is run.

    Raises:
        BotError: there is no such bot.
        DataError: its bot.toml does not fit.
    """
    if not words.strip():
        raise BotError("expected a bot, got an empty string")
    _require_text(words)
    folder = _folder(words, base)
    if folder and (folder / MANIFEST).is_file():
        return load_bot_folder(folder.resolve())
    if words in (ships := list_shipped_bots()):
        return load_bot_folder(ships[words])
    if folder:
        raise BotError(f"{words}: the folder has no {MANIFEST}")
    command = _split(words, base)
    if not _is_program(command[0], base):
        raise BotError(f"no bot {words!r}{_instead(words, command, base)}")
    return _make_command_bot(command, base.resolve())


def _split(words: str, base: Path) -> tuple[str, ...]:
    if os.path.isfile(base / words):
        return (words,)  # its name may have a space in it
    try:
        return tuple(shlex.split(words)) or (words,)
    except ValueError as error:
        raise BotError(f"{words!r} is no command line: {error}") from None


def _is_program(word: str, base: Path) -> bool:
    """Tell whether the first word of a command line can be started, as a shell in `base` would see it."""
    if "/" in word:
        return os.path.isfile(base / word) and os.access(base / word, os.X_OK)
    return shutil.which(word) is not None


def _instead(words: str, command: tuple[str, ...], base: Path) -> str:
    """Say what is wrong with words that name nothing, and what was perhaps meant."""
    first, known = command[0], sorted(name for name in list_shipped_bots() if "/" not in name)
    if os.path.isfile(base / first):
        if rather := _command_for(command, base):
            return f': {first} is a file, not a command; did you mean "{shlex.join(rather)}"?'
        return f": the file {first} is not executable (chmod +x)"
    if len(command) > 1:
        return f": no program {first!r} on the PATH or in {base.resolve()}"
    return (
        f"{suggest_name(words, known)}: expected a folder with {MANIFEST},"
        f" a bot that ships ({', '.join(known)}), or a command line"
    )


def _command_for(command: tuple[str, ...], base: Path) -> tuple[str, ...] | None:
    """Return the command that runs a file, if there is one."""
    first = command[0]
    if os.access(base / first, os.X_OK):
        return (os.path.join(".", first), *command[1:])
    ways = INTERPRETERS.get(Path(first).suffix.lower())
    if ways is None:
        return None
    way = next((way for way in ways if shutil.which(way.split()[0])), ways[0])
    return (*way.split(), *command)


def find_player(words: str, base: Path = Path()) -> BotSpec:
    """Return the person at the terminal for `you`, else the bot that `words` name; a folder of that name is `./you`.

    Raises:
        BotError, DataError: as `find_bot`.
    """
    return PERSON if words == PERSON.manifest.name else find_bot(words, base)


def _folder(words: str, base: Path) -> Path | None:
    """Return the folder that `words` name; most command lines are no path at all, and some too long for one."""
    try:
        folder = base / Path(words).expanduser()
        return folder if folder.is_dir() else None
    except (OSError, RuntimeError, ValueError):
        return None


def load_bot_folder(folder: Path) -> BotSpec:
    """Return the bot that the bot.toml of a folder describes.

    Raises:
        BotError, DataError: it does not describe one.
    """
    path = folder / MANIFEST
    _require_text(str(folder))
    with contextlib.suppress(FileNotFoundError):  # which is told below
        own_file(folder, MANIFEST)  # not to read what lies elsewhere
    manifest = _check_manifest(convert(read_toml(path), Manifest, str(path)), path)
    command = fill_in(manifest.run, manifest, folder)
    return BotSpec(manifest, command, folder, content_hash(contents(folder, manifest.ignore)))


def _check_manifest(manifest: Manifest, path: Path) -> Manifest:
    if not manifest.run:
        raise BotError(f"{path}: run: expected a command, got an empty list")
    if not 1 <= manifest.build_s <= MOST_BUILD_S:
        raise BotError(f"{path}: build_s: expected 1 to {MOST_BUILD_S}, got {manifest.build_s}")
    for name in manifest.rulesets:
        if name.endswith(".toml"):
            if not (path.parent / name).is_file():
                raise BotError(f"{path}: rulesets: no file {name!r} in the folder")
        elif name not in list_rulesets():
            raise BotError(
                f"{path}: rulesets: no ruleset {name!r}{suggest_name(name, list_rulesets())}; malice rules lists them"
            )
    return manifest


def fill_in(command: tuple[str, ...], manifest: Manifest, folder: Path) -> tuple[str, ...]:
    """Return a command of bot.toml with the path of a Python interpreter where it says `{python}`.

    Raises:
        BotError: the interpreter that bot.toml names is not there.
    """
    if "{python}" not in command:
        return command
    python = _interpreter(manifest.python, folder) if manifest.python else sys.executable
    return tuple(python if word == "{python}" else word for word in command)


def _interpreter(python: str, folder: Path) -> str:
    """Return the path of an interpreter by its own name: what a symlink leads to knows no virtual environment."""
    if "/" not in python:
        found = shutil.which(python)
    else:
        found = os.path.abspath(folder / Path(python).expanduser())
        found = found if os.path.isfile(found) and os.access(found, os.X_OK) else None
    if found is None:
        where = f"in {folder}" if "/" in python else "on the PATH"
        raise BotError(f"{folder / MANIFEST}: python: no program {python!r} {where}")
    return os.path.abspath(found)


def _make_command_bot(command: tuple[str, ...], base: Path) -> BotSpec:
    """Hash the words, and each word that is a file."""
    _require_text(str(base))
    whole = hashlib.sha256()
    files = [word for word in command if os.path.isfile(base / word)]
    for word in command:
        whole.update(word.encode() + b"\0")
        if word in files:
            whole.update(file_hash(base / word)[0])
    name = Path(files[-1]).stem if files else Path(command[0]).name
    return BotSpec(Manifest(name, command), command, base, whole.hexdigest())


def _require_text(words: str) -> None:
    """Make sure that words can be told to a referee process, which hears JSON, and be part of a command."""
    if "\0" in words:
        raise BotError(f"no bot {words!r}: expected text without NUL")
    try:
        words.encode()
    except UnicodeEncodeError:
        raise BotError(f"no bot {words!r}: expected a path or a command in UTF-8") from None
