"""Bots of a few lines that play any legal action: for games that bring no starter kit in a language."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from malice.referee.errors import BotError
from malice.referee.isolation.folders import MANIFEST
from malice.referee.rulesets import list_family_rulesets
from malice.referee.toml_files import suggest_name
from malice.tournaments.entries.bot_files import STAMP
from malice.tournaments.entries.bots import Bot, load_bot_folder
from malice.tournaments.entries.kits import ALIASES, list_kits, make_bot_folder
from malice.tournaments.entries.plain_programs import PROGRAMS, Program


def has_kit(family: str, language: str) -> bool:
    """Return whether a family brings a starter kit in a language; raises `FamilyError` if there is no such family."""
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
    (folder / ".gitignore").write_text("\n".join(("__pycache__", STAMP, *program.ignore)) + "\n", "utf-8")
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
