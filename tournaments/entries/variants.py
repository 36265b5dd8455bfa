"""Variants of bots: names with `?`, such as `mybot?weight=300`, give a bot other values than its bot.toml."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec.structs import replace

from malice.referee.isolation.folders import MANIFEST
from malice.referee.toml_files import suggest_name
from malice.tournaments.entries.bots import Bot, find_folder, list_shipped_bots, names_program
from malice.tournaments.entries.manifests import ParameterError, format_query, format_value, parse_query, parse_value

_MARK = re.compile(r"\?(?=\w+=)")
"""Where parameters begin; any other `?` belongs to a pattern of folders."""


def list_splits(words: str) -> list[tuple[str, str]]:
    """The ways to split a name into a bot and its parameters, the shortest name of a bot first."""
    return [(words[: mark.start()], words[mark.end() :]) for mark in _MARK.finditer(words) if mark.start()]


def split_words(words: str, base: Path) -> tuple[str, str]:
    """Split the words into those that name a bot, and its parameters; these are empty if the words name none.

    A folder, a bot that ships or a command line that has this very name, with its `?`, comes first.

    Args:
        words: as the user wrote them.
        base: the folder that paths are relative to.
    """
    splits = list_splits(words)
    if not splits or find_folder(words, base) or words in list_shipped_bots() or names_program(words, base):
        return words, ""
    return splits[0]


def find_variant(words: str, base: Path, find: Callable[[str, Path], Bot]) -> Bot:
    """Find the bot that words name, also with parameters.

    Args:
        words: as the user wrote them.
        base: the folder that paths are relative to.
        find: returns the bot that words without parameters name.

    Raises:
        ParameterError: the bot has no such parameter, or a value does not fit.
        BotError, DataError: as `find`.
    """
    name, query = split_words(words, base)
    bot = find(name, base)
    return give_query(bot, query, words) if query else bot


def give_query(bot: Bot, query: str, words: str) -> Bot:
    """Give a bot the parameters of a name.

    Args:
        bot: the bot.
        query: what stands behind the `?`.
        words: the whole name, for the message.

    Raises:
        ParameterError: the bot has no such parameter, or a value does not fit.
    """
    try:
        return give_parameters(bot, parse_query(query))
    except ParameterError as error:
        raise error.within(words) from None


def give_parameters(bot: Bot, given: Mapping[str, str]) -> Bot:
    """Give a bot other values of some parameters; what has these values already is the same bot.

    Args:
        bot: the bot.
        given: values as users write them, by name.

    Raises:
        ParameterError: the bot has no such parameter, or a value does not fit.
    """
    defaults = bot.manifest.parameters
    values = bot.parameters | {name: _parse(bot, name, text) for name, text in given.items()}
    changed = {name: value for name, value in values.items() if value != bot.parameters[name]}
    if not changed:
        return bot
    return replace(
        bot,
        manifest=replace(bot.manifest, name=f"{bot.manifest.name}?{format_query(changed)}"),
        parameters=values,
        given={name: value for name, value in values.items() if value != format_value(defaults[name])},
    )


def _parse(bot: Bot, name: str, text: str) -> str:
    defaults, who = bot.manifest.parameters, bot.manifest.name
    if name not in defaults:
        if not bot.owns_folder or bot.folder is None:
            raise ParameterError(f"{who} has no parameters: only a folder with {MANIFEST} can list some")
        if not defaults:
            raise ParameterError(f"{who} has no parameters: its {MANIFEST} has no table [parameters]")
        known = ", ".join(defaults)
        raise ParameterError(f"no parameter {name!r}{suggest_name(name, defaults)}; {who} has {known}")
    default = defaults[name]
    try:
        return parse_value(text, default)
    except ParameterError as error:
        _, at, selector = text.rpartition("@")
        order = f"; a version or a revision stands before the parameters: {who}@{selector}?{name}=..." if at else ""
        raise error.within(name).advise(f"its default in {MANIFEST} is {format_value(default)}{order}") from None
