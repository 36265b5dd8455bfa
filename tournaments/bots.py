"""What may enter a tournament: a folder with bot.toml, a bot that ships, or a command line."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
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
        return _from_folder(folder.resolve())
    if words in (ships := shipped()):
        return _from_folder(ships[words])
    if folder:
        raise BotError(f"{words}: the folder has no {MANIFEST}")
    try:
        command = shlex.split(words)
    except ValueError as error:
        raise BotError(f"{words!r} is no command line: {error}") from None
    if not command or not (shutil.which(command[0]) or (base / command[0]).is_file()):
        known = sorted(name for name in ships if "/" not in name)
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


def built(bot: Bot, words: str, base: Path) -> Bot:
    """Return the bot as it is once its build command has run, if it has one.

    Raises:
        BotError: it failed; the message holds the end of what it printed.
    """
    if not bot.manifest.build:
        return bot
    command = _filled_in(bot.manifest.build)
    try:
        builder = subprocess.Popen(
            command,
            cwd=bot.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise BotError(f"{bot.manifest.name}: cannot build: {error}") from None
    with builder:
        try:
            said, _ = builder.communicate()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(builder.pid, signal.SIGKILL)
    if builder.returncode:
        told = said.strip()[-2000:]
        raise BotError(f"{bot.manifest.name}: {shlex.join(command)} failed with {builder.returncode}:\n{told}")
    return find_bot(words, base)  # hashed anew: what the build leaves belongs to it, unless it is ignored


def labels(names: Iterable[str]) -> list[str]:
    """Return names made unique: twins become `greedy` and `greedy#2`."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return found


def _from_folder(folder: Path) -> Bot:
    path = folder / MANIFEST
    manifest = convert(read_toml(path), Manifest, str(path))
    if not manifest.run:
        raise BotError(f"{path}: run: expected a command, got an empty list")
    return Bot(manifest, _filled_in(manifest.run), folder, _hash_files(folder, manifest.ignore))


def _filled_in(command: tuple[str, ...]) -> tuple[str, ...]:
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


def _hash_files(folder: Path, ignore: tuple[str, ...]) -> str:
    """Hash path, exec bit and content of every file, in the order of their paths."""
    whole = hashlib.sha256()
    for path in sorted(_files(folder, ignore)):
        told = (folder / path).read_bytes()
        executable = b"x" if (folder / path).stat().st_mode & 0o100 else b"-"
        whole.update(path.encode() + b"\0" + executable + hashlib.sha256(told).digest())
    return whole.hexdigest()


def _files(folder: Path, ignore: tuple[str, ...]) -> Iterator[str]:
    for path in folder.rglob("*"):
        inside = path.relative_to(folder)
        if any(part.startswith(".") or part == "__pycache__" for part in inside.parts) or not path.is_file():
            continue
        name = inside.as_posix()
        parents = [parent.as_posix() for parent in inside.parents]
        if not any(fnmatch(each, pattern.rstrip("/")) for pattern in ignore for each in (name, *parents)):
            yield name
