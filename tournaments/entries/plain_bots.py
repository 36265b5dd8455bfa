"""A plain bot for a game that brings no starter kits: a few lines of Python that play any legal action."""

from __future__ import annotations

import json
from pathlib import Path

from referee.errors import BotError
from referee.isolation.folders import MANIFEST
from referee.rulesets import list_family_rulesets
from tournaments.entries.bots import BotSpec, load_bot_folder
from tournaments.entries.kits import list_kits, make_bot_folder

LANGUAGE = "python"

PROGRAM = '''\
"""A bot for {family} that plays any legal action."""

import json
import random
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    answer = {{"id": request["id"]}}
    if request["type"] == "game_start":
        chance = random.Random(int(request["rng"]))  # the same game is played the same way again
    if request["type"] == "move":
        # Begin here: request["view"] is the table as you see it, request["events"] what happened since your last move.
        answer["move"] = chance.choice(request["legal"])
    print(json.dumps(answer), flush=True)
'''

DESCRIPTION = """\
name = {name}
version = "1"
author = ""
language = "{language}"
run = ["{{python}}", "-I", "bot.py"]
rulesets = {rulesets} # the rulesets that it is made for
"""


def has_kits(family: str) -> bool:
    """Return whether a family brings starter kits; raises `FamilyError` if there is no such family."""
    return bool(list_kits(family))


def write_plain_bot(folder: Path, language: str, family: str) -> BotSpec:
    """Write a bot that is made for all rulesets of a family to a new folder, and name it after the folder.

    Raises:
        BotError: another language is asked for, the folder's name is not a name for a bot, or it is not empty.
        FamilyError: there is no such family, or it has no ruleset.
    """
    if language.lower() not in (LANGUAGE, "py"):
        raise BotError(
            f"no kit for {language!r}: the game {family!r} brings none; without --language it is a {LANGUAGE} bot"
        )
    rulesets = list_family_rulesets(family)
    name = make_bot_folder(folder)
    (folder / "bot.py").write_text(PROGRAM.format(family=family), "utf-8")
    described = DESCRIPTION.format(name=json.dumps(name), language=LANGUAGE, rulesets=json.dumps(rulesets))
    (folder / MANIFEST).write_text(described, "utf-8")
    (folder / ".gitignore").write_text("__pycache__\n", "utf-8")
    return load_bot_folder(folder.resolve())
