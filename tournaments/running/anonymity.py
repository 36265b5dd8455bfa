"""Neutral names for the entries of an anonymous tournament, and the list beside the league that translates them.

The league itself never learns a real name: its configuration, entries and records hold the neutral ones from the
beginning, in their own order. So nothing that reads a league has to know that it is anonymous, and the list can stay
with the organiser when the league is given away.
"""

from __future__ import annotations

import contextlib
import csv
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from tournaments.entries.bots import BotSpec
from tournaments.entries.enrolment import Enrolled
from tournaments.errors import LeagueError
from tournaments.league.config import EntryLine
from tournaments.terminal.tables import defuse, write_csv

if TYPE_CHECKING:
    from tournaments.running.plan import Plan

HEAD = ("name", "label", "bot", "author")
"""The columns of the list: the neutral name, then what it stands for."""
_NAME = re.compile(r"bot ([1-9][0-9]{0,8})")


class Listed(Struct, frozen=True):
    """A line of the list."""

    name: str
    """The neutral name."""
    label: str
    """The label that the entry would have, made safe for spreadsheets."""
    bot: str = ""
    """What the tournament file calls the bot."""
    author: str = ""


class NameList:
    """The neutral names of a league.

    Args:
        lines: what has a name already.
    """

    def __init__(self, lines: Sequence[Listed] = ()) -> None:
        self.lines = list(lines)

    @classmethod
    def read(cls, path: Path) -> NameList:
        """Read a list.

        Raises:
            FileNotFoundError: there is none.
            LeagueError: the file is no such list; the message names the line.
        """
        with path.open(encoding="utf-8", newline="") as file:
            try:
                head, *rows = list(csv.reader(file, strict=True)) or [[]]
            except (csv.Error, UnicodeDecodeError) as error:
                raise LeagueError(f"{path}: is not a list of names: {error}") from None
        if tuple(head) != HEAD:
            raise LeagueError(f"{path}: line 1: expected the columns {', '.join(HEAD)}, got {', '.join(head)}")
        lines: list[Listed] = []
        for number, row in enumerate(rows, 2):
            if len(row) != len(HEAD) or not _NAME.fullmatch(row[0]):
                raise LeagueError(f"{path}: line {number}: expected a name such as 'bot 7' and 3 columns, got {row}")
            lines.append(Listed(*row))
        for column in ("name", "label"):
            if len({getattr(line, column) for line in lines}) < len(lines):
                raise LeagueError(f"{path}: expected each {column} once")
        return cls(lines)

    def write(self, path: Path) -> None:
        """Write the list for its owner alone; readers see either the old list or the new one.

        Raises:
            OSError: it cannot be written; the old one is unchanged.
        """
        text = write_csv(HEAD, [(line.name, line.label, line.bot, line.author) for line in self.lines])
        draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            with open(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        except BaseException:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
            raise

    def add(self, labels: Sequence[str], words: Sequence[str], entrants: Sequence[BotSpec]) -> None:
        """Name those that have no name yet, with the next numbers, in an order drawn by lot.

        The order must follow from nothing that is ever published, such as the tournament's seed.
        """
        known = {line.label for line in self.lines}
        new = [entry for entry in zip(labels, words, entrants, strict=True) if defuse(entry[0]) not in known]
        last = max((_get_number(line.name) for line in self.lines), default=0)
        for number, (label, word, bot) in enumerate(secrets.SystemRandom().sample(new, len(new)), last + 1):
            self.lines.append(Listed(f"bot {number}", defuse(label), defuse(word), defuse(bot.manifest.author)))

    def translate(self) -> Mapping[str, str]:
        """Return the neutral names by label, as `defuse` writes it."""
        return {line.label: line.name for line in self.lines}


def anonymize(plan: Plan, path: Path, *, new: bool) -> Plan:
    """Return the same plan under the neutral names of its league, in the order of these.

    Its configuration no longer says where the bots are, nor its entries whose they are.

    Args:
        plan: the tournament.
        path: the list of names.
        new: whether the tournament begins, and the list grows by those that it lacks.

    Raises:
        LeagueError: the tournament has begun, but the list is missing; or the list is not valid.
        OSError: the list cannot be written.
    """
    try:
        names = NameList.read(path)
    except FileNotFoundError:
        if not new:
            raise LeagueError(
                f"{path}: no such file; it says which bot is which in this anonymous league, which cannot go on without"
            ) from None
        names = NameList()
    words = [entry if isinstance(entry, str) else entry.bot for entry in plan.config.entries]
    labels = [player.label for player in plan.players]
    names.add(labels, words, plan.bots)
    if new:
        names.write(path)
    neutral = names.translate()
    order = sorted(range(len(labels)), key=lambda place: _get_number(neutral[defuse(labels[place])]))
    entries = [neutral[defuse(labels[place])] for place in order]
    entrants = [
        Enrolled(_hide_maker(plan.bots[place], name), plan.absences.get(labels[place]))
        for place, name in zip(order, entries, strict=True)
    ]
    anchor = None if plan.config.anchor is None else neutral[defuse(plan.config.anchor)]
    config = replace(plan.config, entries=tuple(EntryLine("", name) for name in entries), anchor=anchor)
    return type(plan)(config, entrants, plan.rulesets, plan.seeds.seed)


def _get_number(name: str) -> int:
    return int(name.removeprefix("bot "))


def _hide_maker(bot: BotSpec, name: str) -> BotSpec:
    """Return a bot whose description says nothing; its command, folder and hash stay."""
    manifest = replace(bot.manifest, name=name, run=(), version="", author="", language="", rulesets=())
    return replace(bot, manifest=manifest)
