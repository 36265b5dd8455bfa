"""A comparison on the command line: its configuration, and its name in a league."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from malice.tournaments.entries.enrolment import Find
from malice.tournaments.league.config import Config, LabelledBot, describe_differences
from malice.tournaments.league.store import Store
from malice.tournaments.league.tournament import Tournament
from malice.tournaments.running.field import Setup, read_setup


def list_compared_entries(bots: Sequence[str], base: Path, find: Find) -> tuple[LabelledBot, ...]:
    """Return the entries of a comparison: two different bots of one name get labels of their own.

    Args:
        bots: the words that name them, the new one first.
        base: the folder that paths are relative to.
        find: returns the bot that words name.

    Raises:
        BotError, DataError: there is no such bot.
    """
    lines: list[LabelledBot] = []
    contents: dict[str, str] = {}
    for words in bots:
        bot = find(words, base)
        label = name = bot.manifest.name
        plain, mark, parameters = name.partition("?")
        number = 2
        while contents.get(label, bot.hash) != bot.hash:
            label, number = f"{plain}-{number}{mark}{parameters}", number + 1
        contents[label] = bot.hash
        lines.append(LabelledBot(words, label if label != name else None))
    return tuple(lines)


def name_comparison(store: Store, config: Config, base: Path, find: Find) -> Config:
    """Return a comparison under the name with which it goes on in its league, or under a new one.

    A comparison goes on only with the same bots, rulesets, deals and test; otherwise it is a new one.

    Args:
        store: the league.
        config: the comparison.
        base: the folder that paths are relative to.
        find: returns the bot that words name.

    Raises:
        BotError, DataError: as `read_setup`.
    """
    field = read_setup(config, base, find)
    one, other, *others = (entry.label for entry in field.entries)
    first = f"{one} v {other}" + (f" against {', '.join(others)}" if others else "")
    tournaments = store.league().tournaments
    name, number = first, 1
    while name in tournaments and not _is_same(tournaments[name], field, name):
        number += 1
        name = f"{first} #{number}"
    return replace(config, name=name)


def _is_same(tournament: Tournament, field: Setup, name: str) -> bool:
    config = replace(field.config, name=name)
    entries = tournament.list_entries()
    return (
        not describe_differences(tournament.config, config)
        and tournament.config.deals == config.deals
        and tuple(tournament.rulesets.values()) == field.rulesets
        and [(each.label, each.hash) for each in entries] == [(each.label, each.bot.hash) for each in field.entries]
    )
