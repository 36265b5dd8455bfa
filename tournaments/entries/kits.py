"""Starter kits: a small bot in each language, to copy and improve."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from msgspec import Struct

from malice.referee.errors import BotError, DataError
from malice.referee.families import list_folders, load_family
from malice.referee.games import DEFAULT_FAMILY
from malice.referee.isolation.folders import MANIFEST
from malice.referee.toml_files import suggest_name
from malice.tournaments.entries import bots
from malice.tournaments.entries.bot_files import STAMP, copy_files
from malice.tournaments.entries.bots import KIT, Bot, load_bot_folder
from malice.tournaments.entries.programs import explain_installation, list_missing_programs
from malice.tournaments.league.config import LABEL_LENGTH

ALIASES = {
    "bash": "shell",
    "c#": "csharp",
    "c++": "cpp",
    "cs": "csharp",
    "golang": "go",
    "js": "javascript",
    "node": "javascript",
    "pl": "perl",
    "py": "python",
    "rb": "ruby",
    "rs": "rust",
    "sh": "shell",
    "ts": "typescript",
}
"""Other names of a language, besides that of its folder."""


class Language(Struct, frozen=True):
    """A language that has a kit, and whether its programs are installed."""

    language: str
    ready: bool
    """Whether all programs and libraries that the kit needs are installed."""
    needs: tuple[str, ...]
    missing: tuple[str, ...]
    how_to_get: str
    """The command that installs what is missing, if we know one."""
    bot: str
    """The name of the kit for `malice play`; of a kit of another game, its folder."""
    kit: str
    """Its folder."""
    game: str
    """The family that the kit plays."""


def list_kits(family: str = DEFAULT_FAMILY) -> dict[str, Path]:
    """Return the folders of a family's kits by language; raise FamilyError if there is no such family."""
    if family == DEFAULT_FAMILY:
        return {path.parts[-3]: path.parent for path in sorted(bots.SHIPPED.glob(f"*/{KIT}/{MANIFEST}"))}
    return {path.parent.name: path.parent for path in sorted(load_family(family).folder.glob(f"{KIT}/*/{MANIFEST}"))}


def list_all_languages() -> list[Language]:
    """Return the languages that have a kit, for each game: first the default one, which has most.

    Raises:
        DataError: the bot.toml of a kit is invalid.
    """
    others = [name for name, folder in list_folders() if name != DEFAULT_FAMILY and (folder / KIT).is_dir()]
    return [language for family in (DEFAULT_FAMILY, *others) for language in list_languages(family)]


def list_languages(family: str = DEFAULT_FAMILY) -> list[Language]:
    """Return every language that has a kit for a game.

    Raises:
        FamilyError: there is no such family.
        DataError: the bot.toml of a kit is invalid.
    """
    languages = []
    for language, folder in list_kits(family).items():
        needs = load_bot_folder(folder).manifest.needs
        missing = list_missing_programs(needs)
        languages.append(
            Language(
                language=language,
                ready=not missing,
                needs=needs,
                missing=missing,
                how_to_get=explain_installation(missing),
                bot=f"{language}/{folder.name}" if family == DEFAULT_FAMILY else str(folder),
                kit=str(folder),
                game=family,
            )
        )
    return languages


def find_kit(language: str, family: str = DEFAULT_FAMILY) -> Bot:
    """Return a family's kit of a language, named by its folder or an alias.

    Raises:
        BotError: there is none.
    """
    known = list_kits(family)
    name = language.lower()
    name = name if name in known else ALIASES.get(name, name)
    if name not in known:
        raise BotError(f"no kit for {language!r}{suggest_name(name, known)}; languages: {', '.join(known) or 'none'}")
    return load_bot_folder(known[name])


def copy_kit(kit: Bot, folder: Path) -> Bot:
    """Copy a kit to a new folder; the bot there has the folder's name and no author.

    The output of a build is not copied, and a .gitignore in the copy lists it.

    Raises:
        BotError: the folder's name is not a name for a bot, or the folder is not empty.
    """
    assert kit.folder is not None
    name = make_bot_folder(folder)
    copy_files(kit.folder, folder, kit.manifest.ignore)
    manifest = folder / MANIFEST
    manifest.write_text(rename_kit(manifest.read_text("utf-8"), name, str(kit.folder / MANIFEST)), "utf-8")
    (folder / ".gitignore").write_text("\n".join(("__pycache__", STAMP, *kit.manifest.ignore)) + "\n", "utf-8")
    return load_bot_folder(folder.resolve())


def rename_kit(manifest: str, name: str, where: str) -> str:
    """Return the text of a bot.toml with another name and an empty author; comments stay.

    Raises:
        DataError: no line of it begins with `name = "`.
    """
    text, names = re.subn(r'^name *= *"[^"\n]*"', f'name = "{name}"', manifest, count=1, flags=re.MULTILINE)
    text = re.sub(r'^author *= *"[^"\n]*"', 'author = ""', text, count=1, flags=re.MULTILINE)
    if not names or tomllib.loads(text)["name"] != name:
        raise DataError(f'{where}: expected a line that begins with name = "')
    return text


def make_bot_folder(folder: Path) -> str:
    """Make the folder of a new bot, unless it is there and empty; return the name of the bot.

    Raises:
        BotError: the folder's name is not a name for a bot, or the folder is not empty.
    """
    name = _name_bot(folder)
    if folder.exists() and not folder.is_dir():
        raise BotError(f"{folder}: expected a new or an empty folder, got a file")
    if folder.exists() and any(folder.iterdir()):
        raise BotError(f"{folder}: expected a new or an empty folder, got one with files in it")
    folder.mkdir(parents=True, exist_ok=True)
    return name


def _name_bot(folder: Path) -> str:
    """Return the name of the bot in a folder; it must be easy to type and must not hide a bot that ships."""
    name = folder.resolve().name
    if not re.fullmatch(r"[^\W_][\w.-]*", name) or len(name) > LABEL_LENGTH:
        raise BotError(
            f"{name!r} is not a name for a bot: expected at most {LABEL_LENGTH} letters, digits, `_`, `-` or `.`,"
            " the first of them a letter or a digit; choose another folder name"
        )
    if name in bots.list_shipped_bots() or name == bots.PERSON.manifest.name:
        raise BotError(f"{name!r} is taken by malice itself; choose another folder name")
    return name
