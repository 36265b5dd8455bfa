"""What may enter a tournament: a folder with bot.toml, a bot that ships, or a command line."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path

from msgspec import Struct

import referee
from referee.errors import BotError
from referee.records import Player
from referee.toml_files import convert, read_toml, suggestion

SHIPPED = Path(referee.__file__).parents[1] / "bots"
"""The bots that come with malice, one folder per language."""

MANIFEST = "bot.toml"

KIT = "starter"
"""The folder of a language's starter kit."""


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """What bot.toml says."""

    name: str
    run: tuple[str, ...]
    """The command that starts the bot, in its folder; `{python}` stands for the Python that runs malice."""
    version: str = ""
    author: str = ""
    language: str = ""
    build: tuple[str, ...] = ()
    """The command that builds it, in its folder, before a run."""
    needs: tuple[str, ...] = ()
    """Programs that the build or the run takes, besides a shell: "cargo", "node"."""
    ignore: tuple[str, ...] = ()
    """Patterns of files that do not make it another bot, such as what the build leaves."""


class Bot(Struct, frozen=True):
    """A bot that was found: how to start it, and what it is."""

    manifest: Manifest
    command: tuple[str, ...]
    folder: Path | None
    hash: str

    def player(self, label: str) -> Player:
        """Return what the referee needs to seat it as `label`."""
        name, version = self.manifest.name, self.manifest.version
        return Player(label, self.hash, self.command, str(self.folder) if self.folder else None, name, version)


PERSON = Bot(Manifest("you", ("you",)), ("you",), None, hashlib.sha256(b"you").hexdigest())
"""Whoever sits at the terminal; no process is started for them."""


def shipped() -> dict[str, Path]:
    """Return the folders of the bots that ship, by name and by language/name; Python's come first."""
    folders = sorted(SHIPPED.glob(f"*/*/{MANIFEST}"), key=lambda path: (path.parts[-3] != "python", path))
    found: dict[str, Path] = {}
    for folder in (path.parent for path in folders):
        found.setdefault(folder.name, folder)
        found[f"{folder.parent.name}/{folder.name}"] = folder
    return found


def find_bot(words: str, base: Path = Path()) -> Bot:
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
    folder = _folder(words, base)
    if folder and (folder / MANIFEST).is_file():
        return from_folder(folder.resolve())
    if words in (ships := shipped()):
        return from_folder(ships[words])
    if folder:
        raise BotError(f"{words}: the folder has no {MANIFEST}")
    try:
        command = shlex.split(words)
    except ValueError as error:
        raise BotError(f"{words!r} is no command line: {error}") from None
    if not command or not (shutil.which(command[0]) or (base / command[0]).is_file()):
        known = sorted(name for name in ships if "/" not in name)
        if len(command) > 1:
            raise BotError(f"no bot {words!r}: no program {command[0]!r} on the PATH or in {base.resolve()}")
        raise BotError(
            f"no bot {words!r}{suggestion(words, known)}: expected a folder with {MANIFEST},"
            f" a bot that ships ({', '.join(known)}), or a command line"
        )
    return _from_command(tuple(command), base.resolve())


def find_player(words: str, base: Path = Path()) -> Bot:
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


def labels(names: Iterable[str]) -> list[str]:
    """Return names made unique: twins become `greedy` and `greedy#2`."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return found


def from_folder(folder: Path) -> Bot:
    """Return the bot that the bot.toml of a folder describes.

    Raises:
        BotError, DataError: it does not describe one.
    """
    path = folder / MANIFEST
    manifest = convert(read_toml(path), Manifest, str(path))
    if not manifest.run:
        raise BotError(f"{path}: run: expected a command, got an empty list")
    return Bot(manifest, filled_in(manifest.run), folder, content_hash(contents(folder, manifest.ignore)))


def filled_in(command: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command of bot.toml with the Python that runs malice where it asks for one."""
    return tuple(sys.executable if word == "{python}" else word for word in command)


def _from_command(command: tuple[str, ...], base: Path) -> Bot:
    """Hash the words, and each word that is a file."""
    whole = hashlib.sha256()
    for word in command:
        whole.update(word.encode() + b"\0")
        if (base / word).is_file():
            whole.update(hashlib.sha256((base / word).read_bytes()).digest())
    name = next((Path(word).stem for word in reversed(command) if (base / word).is_file()), Path(command[0]).name)
    return Bot(Manifest(name, command), command, base, whole.hexdigest())


def content_hash(files: Mapping[str, bytes]) -> str:
    """Return what makes a bot the same bot: one hash of all that `contents` gives, in the order of the paths."""
    whole = hashlib.sha256()
    for path, told in sorted(files.items()):
        whole.update(os.fsencode(path) + b"\0" + told)
    return whole.hexdigest()


def contents(folder: Path, ignore: tuple[str, ...]) -> dict[str, bytes]:
    """Return the exec bit and the hash of every file that makes the bot."""
    found = {}
    for path in own_files(folder, ignore):
        with contextlib.suppress(FileNotFoundError):  # a build that runs beside us takes its files away again
            found[path] = _content(folder / path)
    return found


def own_files(folder: Path, ignore: tuple[str, ...]) -> Iterator[str]:
    """List the files that make the bot: all but dot-files, Python's caches and what `ignore` names."""
    for where, folders, names in os.walk(folder):
        inside = Path(where).relative_to(folder)
        # What a build leaves may be a thousand times what it is made from: it is not even looked at.
        folders[:] = [name for name in folders if _counts(inside / name, ignore)]
        for path in (inside / name for name in names):
            if _counts(path, ignore) and (folder / path).is_file():
                yield path.as_posix()


def _content(path: Path) -> bytes:
    executable = b"x" if path.stat().st_mode & 0o100 else b"-"
    return executable + hashlib.sha256(path.read_bytes()).digest()


def _counts(path: Path, ignore: tuple[str, ...]) -> bool:
    hidden = path.name.startswith(".") or path.name == "__pycache__"
    return not hidden and not any(fnmatch(path.as_posix(), pattern.rstrip("/")) for pattern in ignore)
