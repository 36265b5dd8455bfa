"""What bot.toml says of a bot, and the parameters that its name may give it."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import shlex
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

import msgspec
from msgspec import Struct

from malice.referee.errors import BotError, DataError
from malice.referee.isolation.folders import MANIFEST
from malice.referee.isolation.installations import is_inside, list_allowed_program, names_file
from malice.referee.nouns import format_count
from malice.referee.rulesets import list_rulesets, suggest_ruleset
from malice.referee.toml_files import convert, read_toml
from malice.tournaments.entries.bot_files import inspect_file
from malice.tournaments.league.config import LABEL_LENGTH

Value = bool | int | float | str
PREFIX = "MALICE_"
"""What stands before the name of a parameter, in capitals, in the environment of its bot."""
MOST_CHARACTERS = 200
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INTEGERS = range(-(2**63), 2**63)
"""What most languages can hold, and TOML."""


class ParameterError(DataError):
    """A bot is given a parameter that it does not have, or a value that does not fit; the bot itself may be fine."""


def require_parameter(name: str, default: Value) -> None:
    """Make sure that bot.toml may list a parameter.

    Raises:
        DataError: it may not.
    """
    if not _NAME.fullmatch(name):
        raise DataError(expected="a name of up to 40 small letters, digits and _ that begins with a letter")
    if isinstance(default, float) and not math.isfinite(default):
        raise DataError(expected="a finite number", got=default)
    if isinstance(default, int) and default not in _INTEGERS:
        raise DataError(expected="an integer of 64 bits", got=default)
    if isinstance(default, str):
        _require_parameter_text(default, DataError)


def format_value(value: Value) -> str:
    """The one text that stands for a value: `true`, `300`, `0.5`, or a string as it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value + 0.0) if isinstance(value, float) else str(value)  # the sum makes -0.0 the same as 0.0


def format_defaults(parameters: Mapping[str, Value]) -> dict[str, str]:
    return {name: format_value(value) for name, value in parameters.items()}


def parse_value(text: str, default: Value) -> str:
    """Read a value that a user wrote, of the type of the default, and spell it as `format_value` does.

    Raises:
        ParameterError: it has another type.
    """
    if isinstance(default, str):
        _require_parameter_text(text, ParameterError)
        return text
    if isinstance(default, bool):
        if text not in ("true", "false"):
            raise ParameterError(expected="true or false", got=repr(text))
        return text
    if isinstance(default, int):
        if not _INTEGER.fullmatch(text) or int(text) not in _INTEGERS:
            raise ParameterError(expected="an integer of 64 bits", got=repr(text))
        return format_value(int(text))
    if not _FLOAT.fullmatch(text) or not math.isfinite(float(text)):
        raise ParameterError(expected="a finite number", got=repr(text))
    return format_value(float(text))


def parse_query(query: str) -> dict[str, str]:
    """Parse `weight=300&depth=2` to values by name; in a value `%26` stands for `&` and `%25` for `%`.

    Raises:
        ParameterError: it is no such list.
    """
    given: dict[str, str] = {}
    for pair in query.split("&"):
        name, equals, value = pair.partition("=")
        if not equals:
            raise ParameterError(expected="name=value", got=repr(pair), hint="a & in a value is written %26")
        if name in given:
            raise ParameterError(where=name, expected="one value", got="two")
        if re.search("%(?![0-9A-Fa-f]{2})", value):
            raise ParameterError(
                where=name, expected="two hexadecimal digits after each %", got=repr(value), hint="a % is written %25"
            )
        try:
            given[name] = unquote(value, errors="strict")
        except UnicodeDecodeError:
            raise ParameterError(where=name, expected="UTF-8 after each %", got=repr(value)) from None
    return given


def format_query(given: Mapping[str, str]) -> str:
    """The values as `parse_query` reads them."""
    return "&".join(f"{name}={value.replace('%', '%25').replace('&', '%26')}" for name, value in given.items())


def hash_variant(content: str, given: Mapping[str, str]) -> str:
    """The identity of a bot whose parameters differ from its bot.toml; without such, that of its content.

    Args:
        content: the hash of its files, hex.
        given: the values that differ, by name.
    """
    if not given:
        return content
    return hashlib.sha256(msgspec.json.encode((content, sorted(given.items())))).hexdigest()


def make_environment(parameters: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The variables that pass a bot its parameters."""
    return tuple((PREFIX + name.upper(), value) for name, value in parameters.items())


def _require_parameter_text(text: str, kind: type[DataError]) -> None:
    if len(text) > MOST_CHARACTERS:
        raise kind(expected=f"at most {MOST_CHARACTERS} characters", got=format_count(len(text), "character"))
    if not text.isprintable():
        raise kind(expected="a text without control characters", got=repr(text))


PYTHON = "{python}"
"""The word of a command that stands for a Python interpreter."""
MOST_BYTES = 65_536
"""The size of a bot.toml."""
MOST_ITEMS = 256
"""How many words a command may have, and how many items each other list and the table of parameters."""
LONGEST_TEXT = 200
"""How many characters a bot's version, author, language and each pattern of `ignore` may have."""
MOST_BUILD_S = 86_400
MOST_FAULTS = 9
"""How many faults of a bot.toml are told beside the first: strangers may write any number."""


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
    """Read the bot.toml of a folder.

    Raises:
        BotError, DataError: it is missing or invalid.
    """
    path = folder / MANIFEST
    require_text(str(folder))
    with contextlib.suppress(FileNotFoundError):  # reported below
        inspect_file(folder, MANIFEST)  # a symlink must not make us read files outside the folder
    table = read_toml(path, MOST_BYTES)
    _raise_first(_list_misfits(table, path), path)
    manifest = convert(table, Manifest, str(path))
    _raise_first(_list_wrong_sizes(manifest), path)
    _raise_first(_list_wrong_values(manifest, folder), path)
    if table.get("rulesets") == []:
        raise DataError(
            where=f"{path}: rulesets",
            expected="at least one",
            got="none",
            hint="a bot for all rulesets leaves the line out",
        )
    return manifest


def _raise_first(faults: Iterator[DataError], path: Path) -> None:
    """Raise the first fault of a file, if there is one, with what the next ones say."""
    if first := next(faults, None):
        for other in islice(faults, MOST_FAULTS):
            first.advise(f"also {other}")
        raise first.within(path)


def _list_misfits(table: Mapping[str, object], path: Path) -> Iterator[DataError]:
    """Yield a fault of each field that is unknown, is missing, or has another type."""
    sound: dict[str, object] = {"name": "x", "run": ["x"]}
    for field in dict.fromkeys((*sound, *table)):
        words = table.get(field)
        if field in ("run", "build") and isinstance(words, str):
            got = f"the text {words!r:.{LONGEST_TEXT}}"
            yield DataError(where=field, expected=f"a list, {_spell_list(words)}", got=got)
            continue
        others = {name: value for name, value in sound.items() if name != field}
        try:
            convert(others | ({field: words} if field in table else {}), Manifest, "")
        except DataError as error:
            yield error


def _list_wrong_sizes(manifest: Manifest) -> Iterator[DataError]:
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
        yield DataError(where="name", expected=f"1 to {LABEL_LENGTH} characters", got=f"{len(manifest.name):,}")
    for field, items in lists.items():
        if len(items) > MOST_ITEMS:
            yield DataError(where=field, expected=f"at most {MOST_ITEMS}", got=f"{len(items):,}")
    texts = {
        "version": manifest.version,
        "author": manifest.author,
        "language": manifest.language,
        "ignore": max(manifest.ignore, key=len, default=""),  # reading one takes time that grows with its square
    }
    for field, text in texts.items():
        if len(text) > LONGEST_TEXT:
            yield DataError(where=field, expected=f"at most {LONGEST_TEXT} characters", got=f"{len(text):,}")


def _list_wrong_values(manifest: Manifest, folder: Path) -> Iterator[DataError]:
    if not manifest.run:
        yield DataError(where="run", expected="a command", got="an empty list")
    else:
        yield from _find_bare_file(manifest, folder)
    if not 1 <= manifest.build_s <= MOST_BUILD_S:
        yield DataError(where="build_s", expected=f"1 to {MOST_BUILD_S}", got=manifest.build_s)
    for need in manifest.needs:
        if "/" in need:
            yield DataError(where="needs", expected="the name of a program or a library", got=repr(need))
    for name in manifest.rulesets:
        if name.endswith(".toml"):
            yield from _find_strange_ruleset(name, folder)
        elif name not in list_rulesets():
            yield DataError(f"no ruleset {name!r}{suggest_ruleset(name)}", where="rulesets", got=name)
    for name, default in manifest.parameters.items():
        try:
            require_parameter(name, default)
        except DataError as error:
            yield error.within(f"parameters.{name}")


def _spell_list(words: str) -> str:
    """A command line as bot.toml spells it, with our interpreter for Python."""
    try:
        first, *rest = shlex.split(words) or [""]
    except ValueError:  # a quote that does not end
        first, *rest = words.split()
    word = PYTHON if re.fullmatch(r"python[0-9.]*", first) else first
    return msgspec.json.encode([word, *rest]).decode().replace('","', '", "')


def _find_bare_file(manifest: Manifest, folder: Path) -> Iterator[DataError]:
    """Yield the fault of a command whose first word is a file of the folder: it would be looked up on the PATH."""
    word, *rest = manifest.run
    if "/" in word or word == PYTHON or not os.path.isfile(folder / word) or shutil.which(word):
        return
    words = (PYTHON, word, *rest) if word.endswith(".py") else (f"./{word}", *rest)
    spelled = msgspec.json.encode(words).decode().replace('","', '", "')
    shebang = f", or ./{word} if it is executable and begins with a line such as #!/usr/bin/env python3"
    yield DataError(
        where="run",
        expected="a program on the PATH first",
        got=f"{word!r}, a file of this folder",
        hint=f"write {spelled}{shebang if words[0] == PYTHON else ', and make it executable (chmod +x)'}",
    )


def _find_strange_ruleset(name: str, folder: Path) -> Iterator[DataError]:
    path = os.path.normpath(name)
    if not is_inside((folder / path).parent, [folder]):
        yield DataError(where="rulesets", expected="a file in this folder", got=repr(name))
        return
    try:
        inspect_file(folder, path)
    except OSError:
        yield DataError(f"no file {name!r} in the folder", where="rulesets", got=name)


def make_run_command(manifest: Manifest, folder: Path, home: Path) -> tuple[str, ...]:
    """Make the command that starts a bot, with the path of a Python interpreter for `{python}`.

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
    """Put the path of a Python interpreter into a command of bot.toml where it says `{python}`.

    Raises:
        BotError: the interpreter that bot.toml names does not exist, or lies outside its folder and the PATH.
    """
    if PYTHON not in command:
        return command
    python = _find_interpreter(manifest.python, home) if manifest.python else sys.executable
    return tuple(python if word == PYTHON else word for word in command)


def _find_interpreter(python: str, home: Path) -> str:
    """The path of an interpreter; symlinks stay, as only they lead to a virtual environment."""
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
        # A link before `..` leads elsewhere than the words say.
        if not (is_inside(path.parent, own) and is_inside((place / word).parent, own)):
            raise PermissionError
        list(list_allowed_program(path, own))
    except OSError as error:
        leads = f", which leads to {error.filename}" if error.filename else ""
        raise BotError(
            where=f"{own[0] / MANIFEST}: {field}",
            expected="a file in this folder, or the bare name of a program on the PATH",
            got=f"{word!r:.{LONGEST_TEXT}}{leads}",
        ) from None


def require_text(words: str) -> None:
    """Make sure that words can be sent to a referee process, as JSON, and can be part of a command.

    Raises:
        BotError: they cannot.
    """
    if "\0" in words:
        raise BotError(f"no bot {words!r}", expected="text without NUL")
    try:
        words.encode()
    except UnicodeEncodeError:
        raise BotError(f"no bot {words!r}", expected="a path or a command in UTF-8") from None
