"""What the bot.toml of a bot's folder says, and how much: it may name programs, and files in the folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct

from malice.referee.errors import BotError
from malice.referee.isolation.folders import MANIFEST
from malice.referee.isolation.installations import is_inside, list_allowed_program, names_file
from malice.referee.rulesets import list_rulesets, suggest_ruleset
from malice.referee.toml_files import convert, read_toml
from malice.tournaments.entries.bot_files import inspect_file
from malice.tournaments.entries.parameters import Value, require_parameter
from malice.tournaments.league.config import LABEL_LENGTH

PYTHON = "{python}"
"""The word of a command that stands for a Python interpreter."""
MOST_BYTES = 65_536
"""The size of a bot.toml."""
MOST_ITEMS = 256
"""How many words a command may have, and how many items each other list and the table of parameters."""
LONGEST_TEXT = 200
"""How many characters a bot's version, author and language may have each."""
MOST_BUILD_S = 86_400


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """What bot.toml says."""

    name: str
    run: tuple[str, ...]
    """The command that starts the bot, in its folder; `{python}` stands for a Python interpreter."""
    version: str = ""
    author: str = ""
    language: str = ""
    build: tuple[str, ...] = ()
    """The command that builds the bot, in its folder, before a run."""
    build_s: int = 600
    """Seconds that the build may take."""
    python: str = ""
    """The interpreter that `{python}` stands for: a program on the PATH, or a file in the bot's folder such as
    ".venv/bin/python"; by default the one that runs malice."""
    needs: tuple[str, ...] = ()
    """Programs that `build` and `run` need, besides a shell, and libraries: "cargo", "node", "cjson"."""
    games: tuple[str, ...] = ()
    """The games that the bot plays; by default those of its rulesets, and any game without these."""
    rulesets: tuple[str, ...] = ()
    """What the bot is made for: rulesets that ship, or files in its folder such as "./mine.toml"; by default all."""
    ignore: tuple[str, ...] = ()
    """Patterns of files that do not count as part of the bot, such as the output of the build."""
    parameters: dict[str, Value] = {}
    """What a name such as `mybot?weight=300` may change, with the defaults."""


def read_manifest(folder: Path) -> Manifest:
    """Return what the bot.toml of a folder says.

    Raises:
        BotError, DataError: it is missing or invalid.
    """
    path = folder / MANIFEST
    require_text(str(folder))
    with contextlib.suppress(FileNotFoundError):  # reported below
        inspect_file(folder, MANIFEST)  # a symlink must not make us read files outside the folder
    table = read_toml(path, MOST_BYTES)
    manifest = convert(table, Manifest, str(path))
    try:
        _check_sizes(manifest)
        _check_values(manifest, folder)
    except ValueError as error:
        raise BotError(f"{path}: {error}") from None
    if table.get("rulesets") == []:
        raise BotError(f"{path}: rulesets: expected at least one, got none; a bot for all rulesets leaves the line out")
    return manifest


def _check_sizes(manifest: Manifest) -> None:
    lists: dict[str, Collection[object]] = {
        "run": manifest.run,
        "build": manifest.build,
        "needs": manifest.needs,
        "games": manifest.games,
        "rulesets": manifest.rulesets,
        "ignore": manifest.ignore,
        "parameters": manifest.parameters,
    }
    if not 1 <= len(manifest.name) <= LABEL_LENGTH:
        raise ValueError(f"name: expected 1 to {LABEL_LENGTH} characters, got {len(manifest.name):,}")
    for field, items in lists.items():
        if len(items) > MOST_ITEMS:
            raise ValueError(f"{field}: expected at most {MOST_ITEMS}, got {len(items):,}")
    texts = {
        "version": manifest.version,
        "author": manifest.author,
        "language": manifest.language,
    }
    for field, text in texts.items():
        if len(text) > LONGEST_TEXT:
            raise ValueError(f"{field}: expected at most {LONGEST_TEXT} characters, got {len(text):,}")


def _check_values(manifest: Manifest, folder: Path) -> None:
    if not manifest.run:
        raise ValueError("run: expected a command, got an empty list")
    if not 1 <= manifest.build_s <= MOST_BUILD_S:
        raise ValueError(f"build_s: expected 1 to {MOST_BUILD_S}, got {manifest.build_s}")
    for need in manifest.needs:
        if "/" in need:
            raise ValueError(f"needs: expected the name of a program or a library, got {need!r}")
    for name in manifest.rulesets:
        if name.endswith(".toml"):
            _check_own_ruleset(name, folder)
        elif name not in list_rulesets():
            raise ValueError(f"rulesets: no ruleset {name!r}{suggest_ruleset(name)}")
    for name, default in manifest.parameters.items():
        try:
            require_parameter(name, default)
        except ValueError as error:
            raise ValueError(f"parameters.{name}: {error}") from None


def _check_own_ruleset(name: str, folder: Path) -> None:
    path = os.path.normpath(name)
    if not is_inside((folder / path).parent, [folder]):
        raise ValueError(f"rulesets: expected a file in this folder, got {name!r}")
    try:
        inspect_file(folder, path)
    except OSError:
        raise ValueError(f"rulesets: no file {name!r} in the folder") from None


def make_run_command(manifest: Manifest, folder: Path, home: Path) -> tuple[str, ...]:
    """Return the command that starts a bot, with the path of a Python interpreter where it says `{python}`.

    Args:
        manifest: what bot.toml says.
        folder: the folder that it lies in.
        home: for a copy of a bot's folder, the original.

    Raises:
        BotError: the interpreter that bot.toml names does not exist, or the command names a file outside the folder.
    """
    for number, word in enumerate(manifest.run):
        if word == PYTHON or (not number and "/" not in word):
            continue
        places = [each for each in (folder, home) if names_file(word, each)]
        if places or not number:
            _require_own("run", word, (places or [folder])[0], (folder, home))
    return fill_in_python(manifest.run, manifest, home)


def fill_in_python(command: tuple[str, ...], manifest: Manifest, home: Path) -> tuple[str, ...]:
    """Return a command of bot.toml with the path of a Python interpreter where it says `{python}`.

    Raises:
        BotError: the interpreter that bot.toml names does not exist, or lies outside its folder and the PATH.
    """
    if PYTHON not in command:
        return command
    python = _find_interpreter(manifest.python, home) if manifest.python else sys.executable
    return tuple(python if word == PYTHON else word for word in command)


def _find_interpreter(python: str, home: Path) -> str:
    """Return the path of an interpreter; symlinks stay, as only they lead to a virtual environment."""
    if "/" not in python:
        path = shutil.which(python)
    else:
        _require_own("python", python, home, (home,))
        path = os.path.abspath(home / python)
        path = path if os.path.isfile(path) and os.access(path, os.X_OK) else None
    if path is None:
        where = f"in {home}" if "/" in python else "on the PATH"
        raise BotError(f"{home / MANIFEST}: python: no program {python!r} {where}")
    return os.path.abspath(path)


def _require_own(field: str, word: str, place: Path, own: tuple[Path, ...]) -> None:
    """Make sure that a path is that of a file in a bot's folders, or links from there to a program on the PATH.

    Raises:
        BotError: it is not; the message names bot.toml, the word, and where that leads.
    """
    path = Path(os.path.abspath(place / word))
    try:
        if not is_inside(path.parent, own):
            raise PermissionError
        list(list_allowed_program(path, own))
    except OSError as error:
        leads = f", which leads to {error.filename}" if error.filename else ""
        raise BotError(
            f"{own[0] / MANIFEST}: {field}: expected a file in this folder, or the bare name of a program on the PATH,"
            f" got {word!r:.{LONGEST_TEXT}}{leads}"
        ) from None


def require_text(words: str) -> None:
    """Make sure that words can be sent to a referee process, as JSON, and can be part of a command.

    Raises:
        BotError: they cannot.
    """
    if "\0" in words:
        raise BotError(f"no bot {words!r}: expected text without NUL")
    try:
        words.encode()
    except UnicodeEncodeError:
        raise BotError(f"no bot {words!r}: expected a path or a command in UTF-8") from None
