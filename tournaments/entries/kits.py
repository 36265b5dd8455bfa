"""Starter kits: a small bot in each language, to copy and improve, and a tournament of those that play on this
machine.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import copyfile

from msgspec import Struct

from malice.referee.errors import BotError, DataError
from malice.referee.families import list_folders, load_family
from malice.referee.games import DEFAULT_FAMILY
from malice.referee.isolation.folders import MANIFEST
from malice.referee.records import Isolation
from malice.referee.rulesets import list_family_rulesets
from malice.referee.seat import greet_bot
from malice.referee.toml_files import suggest_name
from malice.referee.verdicts import Verdict
from malice.tournaments.entries import bots
from malice.tournaments.entries.bot_files import STAMP, copy_files
from malice.tournaments.entries.bots import KIT, Bot, load_bot_folder
from malice.tournaments.entries.builds import Say, ensure_built, print_progress
from malice.tournaments.entries.plain_programs import PROGRAMS, Program
from malice.tournaments.entries.programs import explain_installation, list_missing_programs
from malice.tournaments.entries.schemas import name_schema
from malice.tournaments.league.config import LABEL_LENGTH, Config

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


AGENTS = Path(__file__).parent / "AGENTS.md"
"""What every new bot comes with, for programs that write it."""


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
    """The name of the kit for `malice play`; of a kit of another game, its folder; empty without one."""
    kit: str
    """Its folder; empty for a bot of a few lines that knows no game, which needs none."""
    game: str
    """The family that the kit plays."""


def list_kits(family: str = DEFAULT_FAMILY) -> dict[str, Path]:
    """The folders of a family's kits by language; raise FamilyError if there is no such family."""
    if family == DEFAULT_FAMILY:
        return {path.parts[-3]: path.parent for path in sorted(bots.SHIPPED.glob(f"*/{KIT}/{MANIFEST}"))}
    return {path.parent.name: path.parent for path in sorted(load_family(family).folder.glob(f"{KIT}/*/{MANIFEST}"))}


def list_all_languages() -> list[Language]:
    """The languages that have a kit, for each game: first the default one, which has most.

    Raises:
        DataError: the bot.toml of a kit is invalid.
    """
    others = [name for name, folder in list_folders() if name != DEFAULT_FAMILY and (folder / KIT).is_dir()]
    return [language for family in (DEFAULT_FAMILY, *others) for language in list_languages(family)]


def list_languages(family: str = DEFAULT_FAMILY) -> list[Language]:
    """Every language that has a kit for a game.

    Raises:
        FamilyError: there is no such family.
        DataError: the bot.toml of a kit is invalid.
    """
    languages = []
    for language, folder in list_kits(family).items():
        needs = load_bot_folder(folder).manifest.needs
        bot = f"{language}/{folder.name}" if family == DEFAULT_FAMILY else str(folder)
        languages.append(_describe_language(language, needs, bot, str(folder), family))
    return languages


def list_plain_languages(family: str) -> list[Language]:
    """Every language without a kit for a game in which `malice new` writes a bot that plays any legal action of it.

    Raises:
        FamilyError: there is no such family.
    """
    if family == DEFAULT_FAMILY:
        return []  # its kits are all that `malice new` makes
    known = list_kits(family)
    return [
        _describe_language(language, program.needs, "", "", family)
        for language, program in sorted(PROGRAMS.items())
        if language not in known
    ]


def _describe_language(language: str, needs: tuple[str, ...], bot: str, kit: str, family: str) -> Language:
    missing = list_missing_programs(needs)
    how_to_get = explain_installation(missing)
    return Language(language, not missing, needs, missing, how_to_get, bot, kit, family)


def find_kit(language: str, family: str = DEFAULT_FAMILY) -> Bot:
    """Find a family's kit of a language, named by its folder or an alias.

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
    _finish_bot_folder(folder, kit.manifest.ignore)
    return load_bot_folder(folder.resolve())


def _finish_bot_folder(folder: Path, ignore: Sequence[str]) -> None:
    """Add what every new bot has: a schema by which an editor checks its bot.toml, and a page for agents."""
    copyfile(AGENTS, folder / AGENTS.name)
    name_schema(folder / MANIFEST, "bot")
    (folder / ".gitignore").write_text("\n".join(("__pycache__", STAMP, *ignore)) + "\n", "utf-8")


def rename_kit(manifest: str, name: str, where: str) -> str:
    """Give a bot.toml another name and an empty author; comments stay.

    Raises:
        DataError: no line of it begins with `name = "`.
    """
    text, names = re.subn(r'^name *= *"[^"\n]*"', f'name = "{name}"', manifest, count=1, flags=re.MULTILINE)
    text = re.sub(r'^author *= *"[^"\n]*"', 'author = ""', text, count=1, flags=re.MULTILINE)
    if not names or tomllib.loads(text)["name"] != name:
        raise DataError(where=where, expected='a line that begins with name = "')
    return text


def make_bot_folder(folder: Path) -> str:
    """Make the folder of a new bot, unless it is there and empty; return the name of the bot.

    Raises:
        BotError: the folder's name is not a name for a bot, or the folder is not empty.
    """
    name = _name_bot(folder)
    if folder.exists() and not folder.is_dir():
        raise BotError(where=folder, expected="a new or an empty folder", got="a file")
    if folder.exists() and any(folder.iterdir()):
        raise BotError(where=folder, expected="a new or an empty folder", got="one with files in it")
    folder.mkdir(parents=True, exist_ok=True)
    return name


def _name_bot(folder: Path) -> str:
    """The name of the bot in a folder; it must be easy to type and must not hide a bot that ships."""
    name = folder.resolve().name
    if not re.fullmatch(r"[^\W_][\w.-]*", name) or len(name) > LABEL_LENGTH:
        raise BotError(
            f"{name!r} is not a name for a bot",
            expected=f"at most {LABEL_LENGTH} letters, digits, `_`, `-` or `.`, the first of them a letter or a digit",
            hint="choose another folder name",
        )
    if name in bots.list_shipped_bots() or name == bots.PERSON.manifest.name:
        raise BotError(f"{name!r} is taken by malice itself; choose another folder name")
    return name


def has_kit(family: str, language: str) -> bool:
    """Whether a family brings a starter kit in a language; raises `FamilyError` if there is no such family."""
    kits = list_kits(family)
    return language.lower() in kits or ALIASES.get(language.lower()) in kits


def write_simple_bot(folder: Path, language: str, family: str) -> Bot:
    """Write a bot that is made for all rulesets of a family to a new folder, and name it after the folder.

    Raises:
        BotError: no program of ours is in this language, the folder's name is not one for a bot, or it is not empty.
        FamilyError: there is no such family, or it has no ruleset.
    """
    program = PROGRAMS.get(ALIASES.get(language.lower(), language.lower()))
    if program is None:
        known = sorted({*PROGRAMS, *list_kits(family)})
        raise BotError(
            f"no kit for {language!r}{suggest_name(language, known)}; languages for {family!r}: {', '.join(known)}"
        )
    rulesets = list_family_rulesets(family)
    name = make_bot_folder(folder)
    (folder / program.file).write_text(program.text.replace("{family}", family), "utf-8")
    for other, text in program.others.items():
        (folder / other).write_text(text, "utf-8")
    manifest = _describe(name, ALIASES.get(language.lower(), language.lower()), program, rulesets)
    (folder / MANIFEST).write_text("".join(f"{line}\n" for line in manifest), "utf-8")
    _finish_bot_folder(folder, program.ignore)
    return load_bot_folder(folder.resolve())


def _describe(name: str, language: str, program: Program, rulesets: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a bot.toml."""
    yield f"name = {json.dumps(name)}"
    yield 'version = "1"'
    yield 'author = ""'
    yield f"language = {json.dumps(language)}"
    for field in ("needs", "build", "run", "ignore"):
        if value := getattr(program, field):
            yield f"{field} = {json.dumps(value)}"
    yield f"rulesets = {json.dumps(rulesets)} # the rulesets that it is made for"


OTHERS = ("greedy", "uniform")
"""Bots to compare the kits with: one far above them, one far below."""

START_MS = 20_000
"""Time to start: on a busy computer a virtual machine needs more than the default."""

TOURNAMENT = """\
# Written by malice new --list --tournament: the starter kits that play on this machine, and bots to compare them with.
name = "languages"
seed = "languages" # a fixed seed: everybody gets the same cards
deals = 10
anchor = "uniform"
init_ms = {start}
entries = [
{entries}
]

[clock]
move_ms = 1000
bank_ms = 30_000
increment_ms = 50
"""


def make_kit_tournament(say: Say = print_progress) -> str:
    """Make the text of a tournament file with every kit that builds and answers `hello` on this machine.

    Args:
        say: receives a line on each build, and on each kit that is left out, with the reason.

    Raises:
        BotError: none of them can play.
    """
    entries = list(_list_players(say))
    if not entries:
        raise BotError("no starter kit plays on this machine; malice new --list says what they need")
    lines = "\n".join(f'    "{entry}",' for entry in (*entries, *OTHERS))
    return TOURNAMENT.format(start=START_MS, entries=lines)


def _list_players(say: Say) -> Iterator[str]:
    defaults = Config(entries=())
    isolation = Isolation(defaults.isolation, defaults.memory_mb, defaults.freeze)
    for language in list_languages():
        try:
            bot = ensure_built(load_bot_folder(Path(language.kit)), say)
            greet_bot(bot.make_player(bot.manifest.name), START_MS, isolation)
        except BotError as error:
            say(f"left out {language.bot}: {error}")
        except Verdict as verdict:
            say(f"left out {language.bot}: {verdict.quote_stderr()}")
        else:
            yield language.bot
