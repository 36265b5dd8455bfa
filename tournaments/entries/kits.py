"""Starter kits: a small bot in each language, to be copied and made better."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from msgspec import Struct

from referee.errors import BotError, DataError
from referee.isolation.folders import MANIFEST
from referee.toml_files import suggest_name
from tournaments.entries import bots
from tournaments.entries.bot_files import STAMP, copy_files
from tournaments.entries.bots import KIT, BotSpec, load_bot_folder
from tournaments.entries.programs import explain_installation, list_missing_programs
from tournaments.league.config import LABEL_LENGTH

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
"""What people call a language besides the name of its folder."""


class Language(Struct, frozen=True):
    """A language that has a kit, and whether its programs are here."""

    language: str
    ready: bool
    """Whether all programs and libraries that the kit names are here."""
    needs: tuple[str, ...]
    missing: tuple[str, ...]
    how_to_get: str
    """What to type to get what is missing, where we know it."""
    bot: str
    """What `malice play` calls the kit."""
    kit: str
    """Its folder."""


def list_kits() -> dict[str, Path]:
    """Return the folders of the kits by language."""
    return {path.parts[-3]: path.parent for path in sorted(bots.SHIPPED.glob(f"*/{KIT}/{MANIFEST}"))}


def list_languages() -> list[Language]:
    """Return every language that has a kit.

    Raises:
        DataError: the bot.toml of one does not fit.
    """
    found = []
    for language, folder in list_kits().items():
        needs = load_bot_folder(folder).manifest.needs
        gone = list_missing_programs(needs)
        found.append(
            Language(
                language, not gone, needs, gone, explain_installation(gone), f"{language}/{folder.name}", str(folder)
            )
        )
    return found


def find_kit(language: str) -> BotSpec:
    """Return the kit of a language, by the name of its folder or another that people use.

    Raises:
        BotError: there is none.
    """
    known = list_kits()
    name = language.lower()
    name = name if name in known else ALIASES.get(name, name)
    if name not in known:
        raise BotError(f"no kit for {language!r}{suggest_name(name, known)}; languages: {', '.join(known) or 'none'}")
    return load_bot_folder(known[name])


def copy_kit(kit: BotSpec, folder: Path) -> BotSpec:
    """Make a folder with a kit's files that describes a bot called like it, by nobody yet.

    What a build left in the kit stays there, and git is told to ignore it in the copy.

    Raises:
        BotError: the folder's name is none for a bot, or there is something in it.
    """
    assert kit.folder is not None
    name = _name(folder)
    if folder.exists() and not folder.is_dir():
        raise BotError(f"{folder}: expected a new or an empty folder, got a file")
    if folder.exists() and any(folder.iterdir()):
        raise BotError(f"{folder}: expected a new or an empty folder, got one with files in it")
    folder.mkdir(parents=True, exist_ok=True)
    copy_files(kit.folder, folder, kit.manifest.ignore)
    manifest = folder / MANIFEST
    manifest.write_text(rename_kit(manifest.read_text("utf-8"), name, str(kit.folder / MANIFEST)), "utf-8")
    (folder / ".gitignore").write_text("\n".join(("__pycache__", STAMP, *kit.manifest.ignore)) + "\n", "utf-8")
    return load_bot_folder(folder.resolve())


def rename_kit(manifest: str, name: str, where: str) -> str:
    """Return the text of a bot.toml with another name and without the author; comments stay.

    Raises:
        DataError: it has no line that begins with `name = "`.
    """
    text, names = re.subn(r'^name *= *"[^"\n]*"', f'name = "{name}"', manifest, count=1, flags=re.MULTILINE)
    text = re.sub(r'^author *= *"[^"\n]*"', 'author = ""', text, count=1, flags=re.MULTILINE)
    if not names or tomllib.loads(text)["name"] != name:
        raise DataError(f'{where}: expected a line that begins with name = "')
    return text


def _name(folder: Path) -> str:
    """Return the bot's name, its folder's; a name must be easy to type and must not hide a bot that ships."""
    name = folder.resolve().name
    if not re.fullmatch(r"[^\W_][\w.-]*", name) or len(name) > LABEL_LENGTH:
        raise BotError(
            f"{name!r} is no name for a bot: expected at most {LABEL_LENGTH} letters, digits, `_`, `-` or `.`,"
            " and a letter or a digit first; call the folder otherwise"
        )
    if name in bots.list_shipped_bots() or name == bots.PERSON.manifest.name:
        raise BotError(f"{name!r} is taken by malice itself; call the folder otherwise")
    return name
