"""Finds the bots of all entries of a tournament, builds them side by side, and says which are missing, unfit or
twins.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path, PurePath
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from malice.protocol.errors import MaliceError
from malice.referee.errors import Abandoned, BotError, DataError
from malice.referee.families import list_folders
from malice.referee.isolation.folders import MANIFEST, is_hidden
from malice.referee.rulesets import find_ruleset
from malice.referee.toml_files import suggest_name
from malice.tournaments.entries.bots import KIT, Bot, find_folder, list_shipped_bots, load_bot_folder, names_program
from malice.tournaments.entries.builds import Say, build, print_progress
from malice.tournaments.entries.manifests import Manifest, ParameterError
from malice.tournaments.entries.variants import split_words
from malice.tournaments.league.config import LABEL_LENGTH, LabelledBot
from malice.tournaments.league.journal import Absence

T = TypeVar("T")

_WAIT_S = 0.2
"""How long a signal may go unheard."""


def run_concurrently(tasks: Sequence[Callable[[int], T]]) -> list[T]:
    """Run all tasks, as many at a time as there are processors, and return their results in order.

    Args:
        tasks: each receives a descriptor whose hang-up means that nobody waits for it any more: it then ends its
            processes and returns or raises at once.

    Raises:
        KeyboardInterrupt: a signal came; all tasks have ended.
        Exception: the first task in order that raised, after all have ended.
    """
    guard, held = os.pipe()
    try:
        # A bot dies with the thread that started it, so a thread must outlive what its task starts: it does here.
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            try:
                futures = [pool.submit(task, guard) for task in tasks]
                return [_take_result(future) for future in futures]
            except BaseException:
                os.close(held)
                held = -1
                pool.shutdown(wait=True, cancel_futures=True)
                raise
    finally:
        if held >= 0:
            os.close(held)
        os.close(guard)


def _take_result(future: Future[T]) -> T:
    """Wait in short pieces: a signal that comes just before a wait, or to another thread, does not end that wait."""
    while not wait((future,), _WAIT_S).done:
        pass
    return future.result()


class UnfitBot(DataError):
    """A bot does not play a game, or is not made for a ruleset that is played."""

    def __init__(self, sentence: str, bot: Bot) -> None:
        super().__init__(sentence)
        self.bot = bot


def list_games(bot: Bot) -> tuple[str, ...]:
    """The games that a bot plays; none where its bot.toml leaves that open, as a command line does.

    Raises:
        BotError: bot.toml names an unknown game, or a ruleset of a game that it does not name.
        DataError: a ruleset in its folder is invalid.
    """
    manifest = bot.manifest
    where = bot.folder / MANIFEST if bot.folder else Path(MANIFEST)
    _require_games(manifest, where)
    base = bot.folder or Path()
    own = dict.fromkeys(find_ruleset(name, base).family for name in manifest.rulesets)
    if strange := [family for family in own if manifest.games and family not in manifest.games]:
        raise BotError(f"{where}: rulesets: {strange[0]} is not among its games, {', '.join(manifest.games)}")
    return tuple(own) or manifest.games


def _require_games(manifest: Manifest, where: Path) -> None:
    known = [name for name, _ in list_folders()]
    for name in manifest.games:
        if name not in known:
            raise BotError(f"{where}: games: no game {name!r}{suggest_name(name, known)}; known: {', '.join(known)}")


def require_games(bot: Bot, label: str, wanted: Iterable[str]) -> None:
    """Make sure that a bot plays all games that it will be asked to play.

    Raises:
        UnfitBot: it does not; the sentence names the bot, its games, and the other one.
        BotError, DataError: its bot.toml is invalid.
    """
    games = list_games(bot)
    others = [family for family in dict.fromkeys(wanted) if games and family not in games]
    if others:
        sentence = f"{label}: plays {', '.join(games)} (games or rulesets in its bot.toml), not {others[0]}"
        raise UnfitBot(sentence, bot)


def list_players(family: str) -> list[str]:
    """The names of the bots that ship and play a game, those made for it first; none that must be built."""
    shipped = {name: load_bot_folder(folder) for name, folder in list_shipped_bots().items() if "/" not in name}
    fitting = {name: bot for name, bot in shipped.items() if name != KIT and not bot.manifest.build}
    games = {name: list_games(bot) for name, bot in fitting.items()}
    own = [name for name in games if family in games[name]]
    return [*own, *(name for name in games if not games[name])]


def find_twins(labels: Sequence[str], hashes: Sequence[str]) -> list[tuple[str, ...]]:
    """Group the labels that share one content, all in the order of the labels.

    Args:
        labels: of the entries.
        hashes: their content hashes, in the same order.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for label, hash in zip(labels, hashes, strict=True):
        groups[hash].append(label)
    return [tuple(group) for group in groups.values() if len(group) > 1]


MOST_BELOW = 3
"""How many bots in a folder that is none are named."""
FOLDER = "{folder}"
"""The label that names every bot of a pattern after its folder."""
_WILD = re.compile(r"[*?\[]")


class _Match(Struct, frozen=True):
    """A bot's folder that a pattern matches."""

    words: str
    """As an entry names it: the pattern, with what stands in its place."""
    real: str
    """Where it lies, without symlinks."""
    linked: bool
    """Whether a symlink leads there."""


class _Named(Struct, frozen=True):
    """An entry, and the two parts of the words that name it."""

    entry: str | LabelledBot
    name: str
    """A bot or a pattern."""
    query: str
    """The parameters; empty without."""

    def expand(self, match: _Match) -> str | LabelledBot:
        words = f"{match.words}?{self.query}" if self.query else match.words
        if isinstance(self.entry, str):
            return words
        entry = replace(self.entry, bot=words)
        return _name_after_folder(entry, Path(match.words)) if entry.label == FOLDER else entry


def is_pattern(words: str, base: Path) -> bool:
    """Tell whether an entry stands for all folders that match it.

    A command, or a folder's git revision of this name comes first, but no folder: a stranger's could else have the name
    of the pattern that it matches, and take the place of all others. The parameters do not matter.
    """
    words, _ = split_words(words, base)
    before, at, _ = words.partition("@")
    return bool(
        _WILD.search(words)
        and not (at and find_folder(before, base))
        and words not in list_shipped_bots()
        and not names_program(words, base)
    )


def say_refusal(words: str, why: str) -> None:
    """Tell people that a folder which matches a pattern does not play."""
    print_progress(f"{words} does not play: {why}")


def expand_entries(
    entries: Sequence[str | LabelledBot],
    base: Path,
    refuse: Callable[[str, str], None] = say_refusal,
    gone: Collection[str] = (),
) -> tuple[str | LabelledBot, ...]:
    """Replace each pattern by the folders with a bot.toml that match it, sorted by name.

    A folder that is also named by itself, or matches an earlier pattern, counts once with the same parameters.
    Dot-folders do not match. The label "{folder}" becomes the name of the folder.

    Args:
        entries: as in the tournament file.
        base: the folder that their paths are relative to.
        refuse: receives each folder that matches and does not play, and why: strangers choose its name, and where a
            symlink leads, and nobody else may suffer from that.
        gone: folders that are no more; a pattern that they alone match stands for none.

    Raises:
        DataError: no bot's folder matches a pattern, although there are folders, or several get the same label; the
            message names the pattern.
    """
    lines = [_Named(entry, *split_words(_words(entry), base)) for entry in entries]
    folders = [None if is_pattern(line.name, base) else _find_named(line.name, base) for line in lines]
    named = {
        (os.path.realpath(folder), line.query)
        for folder, line in zip(folders, lines, strict=True)
        if folder is not None
    }
    seen: set[tuple[str, str]] = set()
    bare: dict[str, str] = {}
    expanded: list[str | LabelledBot] = []
    for line, folder in zip(lines, folders, strict=True):
        if not is_pattern(line.name, base):
            expanded.append(_name_after_folder(line.entry, folder))
            continue
        matches, others = _list_matches(line.name, base, gone)
        bare |= others
        if not matches and not gone:
            print_progress(f"{line.name}: no bot is there yet")
        fresh = [match for match in matches if (match.real, line.query) not in named | seen]
        reasons = {match: _explain_refusal(line, match, base) for match in fresh}
        for match, why in reasons.items():
            if why:
                refuse(match.words, why)
        _refuse_one_label(line.entry, matches)
        seen |= {(match.real, line.query) for match in fresh}
        expanded += [line.expand(match) for match, why in reasons.items() if not why]
    _refuse_same_folder_names(entries, expanded)
    above = {str(folder) for bot, _ in named | seen for folder in (Path(bot), *Path(bot).parents)}
    for real, words in bare.items():
        if real not in above:
            refuse(words, f"it {_describe_lack(words, base)}")
    return tuple(expanded)


def name_apart(words: Sequence[str], bots: Sequence[Bot], base: Path) -> list[str]:
    """The names of bots; different ones of one name are called after their folders: `mybot` and `mybot-old`."""
    contents: dict[str, set[str]] = defaultdict(set)
    for bot in bots:
        contents[bot.manifest.name].add(bot.hash)
    folders = (Path(os.path.abspath(base / each)) for each in words)
    return [
        folder.name if len(contents[name]) > 1 and folder.is_dir() and re.fullmatch(r"[\w.-]+", folder.name) else name
        for folder, name in zip(folders, (bot.manifest.name for bot in bots), strict=True)
    ]


def _words(entry: str | LabelledBot) -> str:
    return entry if isinstance(entry, str) else entry.bot


def _find_named(words: str, base: Path) -> Path | None:
    folder = find_folder(words, base)
    return folder if folder and os.path.isfile(folder / MANIFEST) else None


def _describe_lack(words: str, base: Path) -> str:
    """Say that a folder has no bot.toml, and which folders in it have one."""
    found = (os.path.dirname(path) for path in glob.glob(f"*/{MANIFEST}", root_dir=base / words))
    below = sorted(name for name in found if not is_hidden(name))
    more = f" and {len(below) - MOST_BELOW:,} more" if len(below) > MOST_BELOW else ""
    named = ", ".join(f"{words}/{name}" for name in below[:MOST_BELOW])
    return f"has no {MANIFEST}" + (f"; found one in {named}{more}" if below else "")


def _holds_no_folder(start: Path) -> bool:
    """Tell whether nobody has handed in anything yet where a pattern begins."""
    return start.is_dir() and not any(each.is_dir() and not is_hidden(each.name) for each in start.iterdir())


def _list_matches(pattern: str, base: Path, gone: Collection[str]) -> tuple[list[_Match], dict[str, str]]:
    """List the bots' folders that match, each once, by its own name rather than that of a symlink to it.

    Returns:
        Besides, the other folders that match: their words, by where they lie.

    Raises:
        DataError: there is none, and was none, although there are folders.
    """
    start = Path(os.path.abspath(base / _find_start(pattern)))
    found = sorted(words.rstrip("/") for words in glob.glob(os.path.expanduser(pattern), root_dir=base))
    folders = [words for words in found if os.path.isdir(base / words) and not _is_hidden_below(start, base / words)]
    bots = [words for words in folders if os.path.isfile(base / words / MANIFEST)]
    if not bots and not any(_fits(each, pattern) for each in gone) and not _holds_no_folder(start):
        more = f"; the first folder that matches, {folders[0]}, {_describe_lack(folders[0], base)}" if folders else ""
        name, mark, _ = pattern.partition("?")
        if mark and (_find_named(name, base) or name in list_shipped_bots()):
            more += f"; a parameter is written {name}?name=value"
        raise DataError(
            where="entries", expected=f"bots' folders that match {pattern!r} in {base.resolve()}", got=f"none{more}"
        )
    matches: dict[str, _Match] = {}
    for match in (_make_match(words, base, start) for words in bots):
        if match.real not in matches or (matches[match.real].linked and not match.linked):
            matches[match.real] = match
    bare = {os.path.realpath(base / words): words for words in folders if words not in bots}
    return sorted(matches.values(), key=lambda match: match.words), bare


def _fits(words: str, pattern: str) -> bool:
    """Tell whether a folder that is no more matches a pattern."""
    folder, wanted = PurePath(split_words(words, Path())[0]), PurePath(os.path.expanduser(pattern))
    return len(folder.parts) == len(wanted.parts) and folder.match(str(wanted))


def _make_match(words: str, base: Path, start: Path) -> _Match:
    real = os.path.realpath(base / words)
    below = Path(os.path.abspath(base / words)).relative_to(start)
    return _Match(words, real, linked=str(start.resolve() / below) != real)


def _is_hidden_below(start: Path, folder: Path) -> bool:
    return any(map(is_hidden, Path(os.path.abspath(folder)).relative_to(start).parts))


def _find_start(pattern: str) -> str:
    """The folder that a pattern searches: what is before its first part with a wildcard."""
    parts = os.path.expanduser(pattern).split("/")
    plain = next(number for number, part in enumerate(parts) if _WILD.search(part))
    return "/".join(parts[:plain]) or ("/" if pattern.startswith("/") else ".")


def _explain_refusal(line: _Named, match: _Match, base: Path) -> str | None:
    """Say why a folder that a pattern matches cannot play; None if it can."""
    start = os.path.realpath(base / _find_start(line.name))
    if not Path(match.real).is_relative_to(start):
        return f"it is a symlink that leads out of {start}, to {match.real}; name it in `entries` if it may play"
    try:
        match.words.encode()
    except UnicodeEncodeError:
        return "expected a name in UTF-8"
    length = len(os.path.basename(match.words))
    if isinstance(line.entry, LabelledBot) and line.entry.label == FOLDER and length > LABEL_LENGTH:
        return f"its name is its label: expected at most {LABEL_LENGTH} characters, got {length}"
    return None


def _refuse_one_label(entry: str | LabelledBot, matches: Sequence[_Match]) -> None:
    if isinstance(entry, LabelledBot) and entry.label not in (None, FOLDER) and len(matches) > 1:
        raise DataError(
            f"entries: {entry.bot!r} matches {len(matches)} folders, which cannot all have the label {entry.label!r};"
            f' label = "{FOLDER}" names each after its folder'
        )


def _name_after_folder(entry: str | LabelledBot, folder: Path | None) -> str | LabelledBot:
    if isinstance(entry, str) or entry.label != FOLDER:
        return entry
    if folder is None:
        raise DataError(f'entries: label = "{FOLDER}" names a bot after its folder, and {entry.bot!r} is none')
    name = os.path.basename(os.path.abspath(folder))
    if len(name) > LABEL_LENGTH:
        raise DataError(
            where=f"entries: {entry.bot}: label", expected=f"at most {LABEL_LENGTH} characters", got=len(name)
        )
    return replace(entry, label=name)


def _refuse_same_folder_names(entries: Sequence[str | LabelledBot], expanded: Sequence[str | LabelledBot]) -> None:
    """Refuse one label for two folders of the same name, which no reader of the file could foresee."""
    if not any(isinstance(entry, LabelledBot) and entry.label == FOLDER for entry in entries):
        return
    taken: dict[str, str] = {}
    for entry in expanded:
        if isinstance(entry, LabelledBot) and entry.label is not None:
            if entry.label in taken:
                raise DataError(f"entries: {taken[entry.label]} and {entry.bot} both get the label {entry.label!r}")
            taken[entry.label] = entry.bot


Find = Callable[[str, Path], Bot]


class FoundBot(Struct, frozen=True):
    """The bot of an entry, ready to start, or else what is known of it and why it is broken."""

    bot: Bot
    absence: Absence | None = None


def find_and_build_bots(words: Sequence[str], base: Path, find: Find, say: Say = print_progress) -> list[FoundBot]:
    """Find and build the bots that entries name, as many at a time as there are processors; twins and variants in turn.

    Whatever goes wrong with one bot keeps only that one from playing: strangers wrote what is read here.

    Args:
        words: what each entry names.
        base: the folder that paths are relative to.
        find: returns the bot that an entry names.
        say: receives whole lines on the builds; what a build prints is quoted only if it fails.

    Raises:
        ParameterError: words give a bot a parameter that it does not have; whoever wrote them must mend them.
    """
    lock = threading.Lock()

    def say_alone(text: str) -> None:
        with lock:
            say(text)

    folders: dict[Path | None, threading.Lock] = {}

    def lock_folder(bot: Bot) -> threading.Lock:
        with lock:
            return folders.setdefault(bot.folder, threading.Lock())

    return run_concurrently([partial(_find_and_build, each, base, find, say_alone, lock_folder) for each in words])


def _find_and_build(
    words: str, base: Path, find: Find, say: Say, lock_folder: Callable[[Bot], threading.Lock], guard: int
) -> FoundBot:
    try:
        bot = find(words, base)
        list_games(bot)
    except (ParameterError, Abandoned):
        raise
    except Exception as error:
        return FoundBot(make_unknown_bot(words), Absence("bot", describe_trouble(error), ""))
    try:
        with lock_folder(bot):
            return FoundBot(build(bot, say, guard=guard).bot)
    except Abandoned:
        raise
    except Exception as error:
        sentence, _, output = describe_trouble(error).partition("\n")
        sentence = sentence.removeprefix(f"{bot.manifest.name}: ").removesuffix(":")
        return FoundBot(bot, Absence("build", sentence, output))


def describe_trouble(error: Exception) -> str:
    """Say what kept a bot from being read, built, copied or started."""
    if isinstance(error, MaliceError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
    return f"{type(error).__name__}: {error}"


def make_unknown_bot(words: str) -> Bot:
    """Make what stands for a bot of which nothing is known but the words that name it."""
    name = (Path(words).name or words or "unknown")[:LABEL_LENGTH]
    return Bot(Manifest(name, (words,)), (words,), None, hashlib.sha256(b"").hexdigest())
