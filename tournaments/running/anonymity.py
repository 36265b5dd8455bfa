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

from msgspec import Struct
from msgspec.structs import replace

from malice.tournaments.entries.bots import Bot
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.config import LabelledBot
from malice.tournaments.running.field import Setup, SetupEntry
from malice.tournaments.terminal.tables import defuse, write_csv

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

    def add(self, labels: Sequence[str], words: Sequence[str], entrants: Sequence[Bot]) -> None:
        """Name those that have no name yet, with the next numbers, in an order drawn by lot.

        The order must follow from nothing that is ever published, such as the tournament's seed.
        """
        known = {line.label for line in self.lines}
        new = [entry for entry in zip(labels, words, entrants, strict=True) if defuse(entry[0]) not in known]
        last = max((_get_number(line.name) for line in self.lines), default=0)
        for number, (label, word, bot) in enumerate(secrets.SystemRandom().sample(new, len(new)), last + 1):
            self.lines.append(Listed(f"bot {number}", defuse(label), defuse(word), defuse(bot.manifest.author)))

    def recall_labels(self) -> dict[str, str]:
        """Return the labels by what the tournament file called their bots; twins are left out."""
        words = [line.bot for line in self.lines]
        return {line.bot: line.label for line in self.lines if line.bot and words.count(line.bot) == 1}

    def translate(self) -> Mapping[str, str]:
        """Return the neutral names by label, as `defuse` writes it."""
        return {line.label: line.name for line in self.lines}


def find_names(path: Path, *, begun: bool) -> NameList:
    """Return the list of names of a league; an empty one if its tournament only begins.

    Args:
        path: the list.
        begun: whether the tournament has begun, so that the list must be there.

    Raises:
        LeagueError: the tournament has begun, but the list is missing; or the list is not valid.
    """
    try:
        return NameList.read(path)
    except FileNotFoundError:
        if begun:
            raise LeagueError(
                f"{path}: no such file; it says which bot is which in this anonymous league, which cannot go on without"
            ) from None
        return NameList()


def anonymize(field: Setup, names: NameList) -> Setup:
    """Return the same field under the neutral names of its league, in the order of these.

    The new field no longer says where the bots are, nor its entries whose they are. The list grows by the entries that
    it lacked; nobody has written it yet.
    """
    words = [entry if isinstance(entry, str) else entry.bot for entry in field.config.entries]
    names.add([each.label for each in field.entries], words, [each.bot for each in field.entries])
    neutral = {label: names.translate()[defuse(label)] for label in (each.label for each in field.entries)}
    entries = sorted(
        (
            SetupEntry(neutral[each.label], hide_maker(each.bot, neutral[each.label]), each.absence)
            for each in field.entries
        ),
        key=lambda each: _get_number(each.label),
    )
    anchor = None if field.config.anchor is None else neutral[field.config.anchor]
    lines = tuple(LabelledBot("", each.label) for each in entries)
    return Setup(replace(field.config, entries=lines, anchor=anchor), field.rulesets, tuple(entries))


def _get_number(name: str) -> int:
    return int(name.removeprefix("bot "))


def hide_maker(bot: Bot, name: str) -> Bot:
    """Return a bot whose description says nothing; its command, folder, hash and the values that it receives stay."""
    hidden = replace(bot.manifest, name=name, run=(), version="", author="", language="")
    manifest = replace(hidden, rulesets=(), parameters={})
    return replace(bot, manifest=manifest)
