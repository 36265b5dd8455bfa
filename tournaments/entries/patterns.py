"""Entries that are patterns, such as "submissions/*": every bot's folder that matches is an entry."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from malice.referee.errors import DataError
from malice.referee.isolation.folders import MANIFEST, is_hidden
from malice.tournaments.entries.bots import find_folder, list_shipped_bots, names_program
from malice.tournaments.entries.builds import Say, print_progress
from malice.tournaments.entries.variants import split_words
from malice.tournaments.league.config import LABEL_LENGTH, LabelledBot

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
        """Return the entry of a bot that the pattern matches."""
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


def expand_entries(
    entries: Sequence[str | LabelledBot], base: Path, say: Say = print_progress
) -> tuple[str | LabelledBot, ...]:
    """Return the entries with each pattern replaced by the folders with a bot.toml that match it, sorted by name.

    A folder that is also named by itself, or matches an earlier pattern, counts once with the same parameters.
    Dot-folders do not match. The label "{folder}" becomes the name of the folder.

    Args:
        entries: as in the tournament file.
        base: the folder that their paths are relative to.
        say: receives a line on each folder that matches and is no bot's.

    Raises:
        DataError: no bot's folder matches a pattern, several get the same label, or a symlink that matches leads out of
            the folder that the pattern searches; the message names the pattern.
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
        matches, others = _list_matches(line.name, base)
        bare |= others
        fresh = [match for match in matches if (match.real, line.query) not in named | seen]
        _refuse_leaving(line.name, base, fresh)
        _refuse_one_label(line.entry, matches)
        seen |= {(match.real, line.query) for match in fresh}
        expanded += map(line.expand, fresh)
    _refuse_same_folder_names(entries, expanded)
    for real, words in bare.items():
        if not any(Path(bot).is_relative_to(real) for bot, _ in named | seen):
            say(f"{words} does not play: it {_describe_lack(words, base)}")
    return tuple(expanded)


def _words(entry: str | LabelledBot) -> str:
    return entry if isinstance(entry, str) else entry.bot


def _find_named(words: str, base: Path) -> Path | None:
    """Return the folder that an entry names by itself, or None."""
    folder = find_folder(words, base)
    return folder if folder and (folder / MANIFEST).is_file() else None


def _describe_lack(words: str, base: Path) -> str:
    """Say that a folder has no bot.toml, and which folders in it have one."""
    below = sorted(each.parent.name for each in (base / words).glob(f"*/{MANIFEST}") if not is_hidden(each.parent.name))
    return f"has no {MANIFEST}" + (f"; found one in {', '.join(f'{words}/{name}' for name in below)}" if below else "")


def _list_matches(pattern: str, base: Path) -> tuple[list[_Match], dict[str, str]]:
    """Return the bots' folders that match, each once, by its own name rather than that of a symlink to it.

    Returns:
        Besides, the other folders that match: their words, by where they lie.

    Raises:
        DataError: there is none.
    """
    start = Path(os.path.abspath(base / _find_start(pattern)))
    found = sorted(words.rstrip("/") for words in glob.glob(os.path.expanduser(pattern), root_dir=base))
    folders = [words for words in found if (base / words).is_dir() and not _is_hidden_below(start, base / words)]
    bots = [words for words in folders if (base / words / MANIFEST).is_file()]
    if not bots:
        more = f"; the first folder that matches, {folders[0]}, {_describe_lack(folders[0], base)}" if folders else ""
        name, mark, _ = pattern.partition("?")
        if mark and (_find_named(name, base) or name in list_shipped_bots()):
            more += f"; a parameter is written {name}?name=value"
        raise DataError(f"entries: expected bots' folders that match {pattern!r} in {base.resolve()}, got none{more}")
    matches: dict[str, _Match] = {}
    for match in (_make_match(words, base, start) for words in bots):
        if match.real not in matches or (matches[match.real].linked and not match.linked):
            matches[match.real] = match
    bare = {os.path.realpath(base / words): words for words in folders if words not in bots}
    return sorted(matches.values(), key=lambda match: match.words), bare


def _make_match(words: str, base: Path, start: Path) -> _Match:
    real = os.path.realpath(base / words)
    below = Path(os.path.abspath(base / words)).relative_to(start)
    return _Match(words, real, linked=str(start.resolve() / below) != real)


def _is_hidden_below(start: Path, folder: Path) -> bool:
    return any(map(is_hidden, Path(os.path.abspath(folder)).relative_to(start).parts))


def _find_start(pattern: str) -> str:
    """Return the folder that a pattern searches: what is before its first part with a wildcard."""
    parts = os.path.expanduser(pattern).split("/")
    plain = next(number for number, part in enumerate(parts) if _WILD.search(part))
    return "/".join(parts[:plain]) or ("/" if pattern.startswith("/") else ".")


def _refuse_leaving(pattern: str, base: Path, matches: Sequence[_Match]) -> None:
    start = os.path.realpath(base / _find_start(pattern))
    for match in matches:
        if not Path(match.real).is_relative_to(start):
            raise DataError(
                f"entries: {match.words}, which matches {pattern!r}, is a symlink that leads out of {start},"
                f" to {match.real}; name it in `entries` if it may play"
            )


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
        raise DataError(f"entries: {entry.bot}: label: expected at most {LABEL_LENGTH} characters, got {len(name)}")
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
