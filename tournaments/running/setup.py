"""The setup of a tournament: its entries with their bots, its rulesets and settings, and its neutral names if any.

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
import shlex
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from malice.referee.errors import DataError
from malice.referee.rulesets import Ruleset, find_ruleset
from malice.tournaments.entries.bots import Bot, find_bot
from malice.tournaments.entries.builds import print_progress
from malice.tournaments.entries.lookup import (
    Find,
    FoundBot,
    UnfitBot,
    expand_entries,
    find_and_build_bots,
    name_apart,
    require_games,
    say_refusal,
)
from malice.tournaments.entries.manifests import Manifest
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.config import LABEL_LENGTH, Config, LabelledBot, assign_labels, find_seats
from malice.tournaments.league.journal import Absence, relabel_config
from malice.tournaments.league.tournament import Tournaments
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.tables import defuse, write_csv

MOST_REFUSED = 100
"""How many folders that are no entries are named one by one: strangers may hand in any number."""


class SetupEntry(Struct, frozen=True):
    """An entry of the file, with its bot."""

    label: str
    bot: Bot
    absence: Absence | None = None
    """Why the bot cannot play."""


class Setup(Struct, frozen=True):
    """What a run found when it read the tournament file."""

    config: Config
    """Patterns in its entries are expanded."""
    rulesets: tuple[Ruleset, ...]
    entries: tuple[SetupEntry, ...]
    """In the order of the file."""
    names: NameList | None = None
    """The neutral names of an anonymous tournament, which these are."""
    refused: Mapping[str, str] = {}
    """The folders that match a pattern and are no entries, and why, the last line for all beyond `MOST_REFUSED`; an
    anonymous tournament keeps none.
    """

    def place(self, bots: Mapping[str, Bot]) -> Setup:
        """Move bots to other places, by label; one with other contents than before stays where it is."""
        found = ((each, bots.get(each.label, each.bot)) for each in self.entries)
        entries = (replace(each, bot=bot) if bot.hash == each.bot.hash else each for each, bot in found)
        return replace(self, entries=tuple(entries))

    def mark(self, absences: Mapping[str, Absence]) -> Setup:
        """Note, by label, why further entries cannot play."""
        entries = (replace(each, absence=absences.get(each.label, each.absence)) for each in self.entries)
        return replace(self, entries=tuple(entries))

    def rename(self, names: Mapping[str, str]) -> Setup:
        """The same under the labels of today, by those that entries bore: a file may say either."""
        if not names:
            return self
        entries = tuple(replace(each, label=names.get(each.label, each.label)) for each in self.entries)
        _refuse_doubles("entries", [each.label for each in entries])
        config = relabel_config(self.config, names)
        return replace(self, config=config, entries=entries)

    def drop(self, labels: Collection[str]) -> Setup:
        """The same without these entries."""
        lines = zip(self.config.entries, self.entries, strict=True)
        kept = [(line, each) for line, each in lines if each.label not in labels]
        config = replace(self.config, entries=tuple(line for line, _ in kept))
        return replace(self, config=config, entries=tuple(each for _, each in kept))

    def add(self, entries: Iterable[SetupEntry]) -> Setup:
        """Add entries, also to the configuration."""
        added = tuple(entries)
        lines = (LabelledBot(each.bot.manifest.run[0], each.label) for each in added)
        config = replace(self.config, entries=(*self.config.entries, *lines))
        return replace(self, config=config, entries=(*self.entries, *added))

    @property
    def absences(self) -> dict[str, Absence]:
        """By label, why entries cannot play."""
        return {each.label: each.absence for each in self.entries if each.absence}


def read_setup(
    config: Config,
    base: Path,
    find: Find = find_bot,
    known: Mapping[str, str] | None = None,
    *,
    numbered: bool = False,
    gone: Collection[str] = (),
) -> Setup:
    """Find and build the bots of a configuration, and load its rulesets; broken entries are absent.

    Args:
        config: the content of the tournament file.
        base: the folder that the paths of its bots and rulesets are relative to.
        find: returns the bot that an entry names.
        known: labels that entries got before, by what the file calls their bots.
        numbered: whether a command line names the bots, and not a file: different bots of one name are told apart by
            folders or numbers and need no labels, and one that is not made for a ruleset is refused.
        gone: as in `expand_entries`.

    Raises:
        ParameterError: an entry gives its bot a parameter that it does not have, or a value that does not fit.
        DataError: entries or rulesets share a name, a name is too long for a label, a ruleset is unknown or does not
            fit, the anchor is not an entry, or bots that think at the same time share a processor under wall clocks.
        UnfitBot: a bot on the command line is not made for a ruleset.
    """
    refused: list[tuple[str, str]] = []

    def refuse(words: str, why: str) -> None:
        refused.append((sanitize(Path(words).name), sanitize(why)))  # wherever it lies on this machine
        if len(refused) <= MOST_REFUSED:
            say_refusal(words, why)

    config = replace(config, entries=expand_entries(config.entries, base, refuse, gone))
    if more := refused[MOST_REFUSED:]:
        print_progress(f"and {len(more):,} more")
        refused[MOST_REFUSED:] = [(f"and {len(more):,} more", f"only the first {MOST_REFUSED} are named")]
    if config.positions:
        rulesets: tuple[Ruleset, ...] = (config.positions[0].find_ruleset(),)
    else:
        rulesets = tuple(find_ruleset(name, base) for name in config.rulesets)
    _refuse_doubles("rulesets", [ruleset.name for ruleset in rulesets])
    lines = [line if isinstance(line, LabelledBot) else LabelledBot(line) for line in config.entries]
    found = find_and_build_bots([line.bot for line in lines], base, find)
    bots = [each.bot for each in found]
    plain = name_apart([line.bot for line in lines], bots, base) if numbered else [bot.manifest.name for bot in bots]
    # What the file says, what the league called it before, or its bot's name.
    names = [line.label or (known or {}).get(line.bot) or name for line, name in zip(lines, plain, strict=True)]
    if not numbered:
        _require_labels(names, lines, found)
    labels = assign_labels(names)
    _refuse_doubles("entries", labels)
    _refuse_long_labels(labels, lines)
    if config.anchor is not None and config.anchor not in labels:
        raise DataError(f"anchor: no entry {config.anchor!r}; entries: {', '.join(labels)}")
    entries = tuple(SetupEntry(label, each.bot, each.absence) for label, each in zip(labels, found, strict=True))
    refuse_shared_processors(config, rulesets)
    if numbered:
        for entry in entries:
            _require_fit(entry, rulesets)
    else:
        entries = tuple(_mark_unfit(entry, rulesets) for entry in entries)
    return Setup(config, rulesets, entries, refused=dict(refused))


def _require_labels(names: Sequence[str], lines: Sequence[LabelledBot], found: Sequence[FoundBot]) -> None:
    """Refuse different bots of one name: which of them bears a number would depend on their order in the file."""
    contents: dict[str, dict[str, str]] = defaultdict(dict)
    for name, line, each in zip(names, lines, found, strict=True):
        if line.label is None and not each.absence:
            contents[name].setdefault(each.bot.hash, line.bot)
    _refuse_doubles("labels", [line.label for line in lines if line.label is not None])
    for name, words in contents.items():
        if len(words) > 1:
            bots = " and ".join(map(repr, words.values()))
            raise DataError(
                f"entries: {bots} are different bots with the name {name!r}; give them labels,"
                f' such as {{ bot = "{list(words.values())[-1]}", label = "{name}-2" }},'
                ' or label = "{folder}" for those of a pattern'
            )


def _refuse_doubles(what: str, names: Sequence[str]) -> None:
    doubles = [name for name, count in Counter(names).items() if count > 1]
    if doubles:
        raise DataError(where=what, expected="distinct names", got=f"more than once: {', '.join(map(repr, doubles))}")


def _refuse_long_labels(labels: Sequence[str], lines: Sequence[LabelledBot]) -> None:
    for label, line in zip(labels, lines, strict=True):
        if len(label) > LABEL_LENGTH:
            raise DataError(
                f"entries: {line.bot!r} has a name of {len(label)} characters, expected at most {LABEL_LENGTH}; give"
                f' it a label, such as {{ bot = "...", label = "..." }}'
            )


def _mark_unfit(entry: SetupEntry, rulesets: Sequence[Ruleset]) -> SetupEntry:
    """Mark an entry as absent if it is not made for all rulesets: its author must not keep the others from playing."""
    try:
        _require_fit(entry, rulesets)
    except UnfitBot as error:
        return replace(entry, absence=Absence("bot", str(error).removeprefix(f"{entry.label}: "), ""))
    return entry


def _require_fit(entry: SetupEntry, rulesets: Sequence[Ruleset]) -> None:
    """Make sure that a bot is made for every game and ruleset, because every entry plays all of them.

    Raises:
        UnfitBot: it is not.
    """
    require_games(entry.bot, entry.label, [ruleset.family for ruleset in rulesets])
    made_for = entry.bot.made_for
    unfit = [ruleset.name for ruleset in rulesets if made_for and ruleset.name not in made_for]
    if unfit:
        sentence = (
            f"{entry.label}: is made for {', '.join(made_for)} (rulesets in its bot.toml), not for {', '.join(unfit)}"
        )
        raise UnfitBot(sentence, entry.bot)


def refuse_shared_processors(config: Config, rulesets: Sequence[Ruleset]) -> None:
    """Make sure that wall clocks do not charge a bot for the time in which another one has its processor.

    Raises:
        DataError: they would; the message says what to set.
    """
    clock = config.clock
    if clock.kind == "cpu" or (clock.move_ms is None and clock.bank_ms is None):
        return
    processors = min(config.cpus_per_game, len(os.sched_getaffinity(0)) // max(1, config.jobs))
    for ruleset in rulesets:
        seats = find_seats(config, ruleset)
        if ruleset.match.simultaneous and processors < seats:
            raise DataError(
                f"asks up to {seats} seats at the same time, so clocks of wall time need a processor for each",
                where=ruleset.name,
                expected=f"cpus_per_game = {seats}, and as many processors for every game",
                got=processors,
                hint='or set kind = "cpu" in [clock]',
            )


def ask_about_moved(setup: Setup, league: Tournaments, gone: Collection[str], path: Path) -> Setup:
    """Leave out a folder that may be that of an entry whose folder is gone: its content is known under that label.

    Args:
        setup: what the file says now.
        league: as it is.
        gone: the labels of entries whose folders are gone.
        path: the file of the league.

    Raises:
        LeagueError: an entry is gone from the file, and another one there has its content.
    """
    if (begun := league.tournaments.get(setup.config.name)) is None:
        return setup
    here = {each.label for each in setup.entries}
    old = {entry.label for entry in begun.file_entries if begun.state(entry.label).state == "playing"}
    lost = {label for label in old if label in gone or label not in here}
    contents = {version.hash: label for label in lost for version in league.versions.get(label, ())}
    moved: set[str] = set()
    for each in setup.entries:
        label = contents.get(each.bot.hash)
        if label is None or each.absence or each.label in old:
            continue
        rename, withdraw = (
            shlex.join(["malice", "entry", *words])
            for words in (("rename", str(path), label, each.label), ("withdraw", str(path), label))
        )
        question = f"if it is the same entry: {rename}; if not: {withdraw}"
        if label not in here:
            what = f"{label!r} is gone from the file, and {each.label!r} has its content"
            raise LeagueError(f"entries: {what}; {question}")
        print_progress(f"{each.label}: left out: it has the content of {label}, whose folder is gone; {question}")
        moved.add(each.label)
    return setup.drop(moved)


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
            raise LeagueError(where=f"{path}: line 1", expected=f"the columns {', '.join(HEAD)}", got=", ".join(head))
        lines: list[Listed] = []
        for number, row in enumerate(rows, 2):
            if len(row) != len(HEAD) or not _NAME.fullmatch(row[0]):
                raise LeagueError(
                    where=f"{path}: line {number}", expected="a name such as 'bot 7' and 3 columns", got=row
                )
            lines.append(Listed(*row))
        for column in ("name", "label"):
            if len({getattr(line, column) for line in lines}) < len(lines):
                raise LeagueError(where=path, expected=f"each {column} once")
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

    def add(self, labels: Sequence[str], words: Sequence[str], bots: Sequence[Bot]) -> None:
        """Name those that have no name yet, with the next numbers, in an order drawn by lot.

        The order must follow from nothing that is ever published, such as the tournament's seed.
        """
        known = {line.label for line in self.lines}
        new = [entry for entry in zip(labels, words, bots, strict=True) if defuse(entry[0]) not in known]
        last = max((_get_number(line.name) for line in self.lines), default=0)
        for number, (label, word, bot) in enumerate(secrets.SystemRandom().sample(new, len(new)), last + 1):
            self.lines.append(Listed(f"bot {number}", defuse(label), defuse(word), defuse(bot.manifest.author)))

    def recall_labels(self) -> dict[str, str]:
        """The labels by what the tournament file called their bots; twins are left out."""
        words = [line.bot for line in self.lines]
        return {line.bot: line.label for line in self.lines if line.bot and words.count(line.bot) == 1}

    def translate(self) -> Mapping[str, str]:
        """The neutral names by label, as `defuse` writes it."""
        return {line.label: line.name for line in self.lines}


def find_names(path: Path, *, begun: bool) -> NameList:
    """Find the list of names of a league; an empty one if its tournament is only beginning.

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


def anonymize(setup: Setup, names: NameList) -> Setup:
    """The same setup under the neutral names of its league, in the order of these.

    The new setup says neither where the bots are nor whose they are. Entries that the list lacked are added to it; the
    caller writes it.
    """
    words = [entry if isinstance(entry, str) else entry.bot for entry in setup.config.entries]
    names.add([each.label for each in setup.entries], words, [each.bot for each in setup.entries])
    neutral = {label: names.translate()[defuse(label)] for label in (each.label for each in setup.entries)}
    entries = sorted(
        (
            SetupEntry(neutral[each.label], hide_maker(each.bot, neutral[each.label]), each.absence)
            for each in setup.entries
        ),
        key=lambda each: _get_number(each.label),
    )
    anchor = None if setup.config.anchor is None else neutral[setup.config.anchor]
    lines = tuple(LabelledBot("", each.label) for each in entries)
    return Setup(replace(setup.config, entries=lines, anchor=anchor), setup.rulesets, tuple(entries), names)


def _get_number(name: str) -> int:
    return int(name.removeprefix("bot "))


def hide_maker(bot: Bot, name: str) -> Bot:
    """A bot whose bot.toml says only how to build it; its command, folder, hash and the values of parameters stay."""
    said = bot.manifest
    kept = {field: getattr(said, field) for field in ("build", "build_s", "python", "needs", "games", "ignore")}
    return replace(bot, manifest=Manifest(name, (), **kept))
