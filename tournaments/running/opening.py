"""Opens a tournament: from its file and bots, from its league alone, or for a comparison on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from malice.referee.errors import BotError, DataError
from malice.tournaments.entries.bots import Bot, find_bot
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.entries.lookup import Find, make_unknown_bot, run_concurrently
from malice.tournaments.entries.names import Names
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.config import Config, LabelledBot, describe_differences
from malice.tournaments.league.contents import Entry
from malice.tournaments.league.file import find_name_list
from malice.tournaments.league.journal import PERSON, Absence
from malice.tournaments.league.people import is_of_people
from malice.tournaments.league.store import Store
from malice.tournaments.league.tournament import Tournament
from malice.tournaments.running.plan import Plan, Share
from malice.tournaments.running.registration import (
    KnownGames,
    NextSteps,
    PendingEvents,
    make_lister,
    read_known_games,
    recall_labels,
    refuse_differences,
    refuse_old_parts,
    register,
)
from malice.tournaments.running.setup import (
    Setup,
    SetupEntry,
    anonymize,
    find_names,
    hide_maker,
    read_setup,
    refuse_shared_processors,
)


def open_league(
    store: Store,
    config: Config,
    base: Path,
    find: Find = find_bot,
    *,
    new_versions: bool = False,
    numbered: bool = False,
    keep_going: bool = False,
) -> Plan:
    """Plan a tournament that begins in a league or continues there; the league itself stays as it is.

    A tournament that never played a game begins anew.

    Args:
        store: the league.
        config: the content of the tournament file.
        base: the folder that the paths of bots and rulesets are relative to.
        find: returns the bot that an entry names.
        new_versions: whether changed bots play.
        numbered: whether a command line names the bots, and not a file: it has no labels, and other options.
        keep_going: whether the others play if entries are absent, also those whose folders are gone.

    Raises:
        LeagueError: the file or a bot has changed in a way that the tournament does not allow.
        DataError: as `Plan.prepare`.
    """
    next_steps = NextSteps(store.path, by_file=not numbered)
    begun = config.name in store.league().tournaments
    if begun:
        store.select(config.name)
    if begun and store.config().anonymous != config.anonymous:
        refuse_differences(store.tournament(), config, next_steps)
    names = find_names(find_name_list(store.path), begun=begun) if config.anonymous else None
    known = names.recall_labels() if names else recall_labels(store.tournament()) if begun else {}
    gone = {words: known[words] for words in known if keep_going and _is_gone(words, base)}
    setup = read_setup(config, base, find, known, numbered=numbered, gone=gone)
    setup = setup.add(_list_gone(gone, setup, anonymous=config.anonymous))
    _refuse_company(store, setup, next_steps)
    if names:
        setup = anonymize(setup, names)
    games = read_known_games(store) if begun else KnownGames(list_others=make_lister(store))
    kept = KeptBots(store.path)

    def register_setup(setup: Setup) -> PendingEvents:
        league = store.league()
        return register(league, setup, games, new_versions=new_versions, is_kept=kept.has, next_steps=next_steps)

    plan = Plan(setup, register_setup, kept.load, games.finished)
    plan.next_steps = next_steps
    plan.keep_going = keep_going
    plan.hide(store.path)
    plan.names = names
    return plan


def _refuse_company(store: Store, setup: Setup, next_steps: NextSteps) -> None:
    """Keep people apart from leagues of bots, and the other way round: each is rated among its own.

    Raises:
        LeagueError: the league holds games of the other kind.
    """
    league, name = store.league(), setup.config.name
    people = any(each.bot.hash == PERSON for each in setup.entries)
    if league.tournaments and is_of_people(league) != people:
        kind, other = ("people", "bots") if people else ("bots", "people")
        raise LeagueError(
            f"{store.path}: expected a league of {kind}, got one of {other}, whose games are kept apart:"
            f" {next_steps.begin_anew(name)}"
        )


def _is_gone(words: str, base: Path) -> bool:
    return "/" in words and not (base / words).expanduser().exists()


def _list_gone(gone: Mapping[str, str], setup: Setup, *, anonymous: bool) -> Iterator[SetupEntry]:
    """Yield the entries that a pattern no longer finds because their folders are gone: they are absent.

    The league keeps the sentence: in an anonymous one it does not name the folder.
    """
    here = {each.label for each in setup.entries}
    for words, label in gone.items():
        if label not in here:
            yield SetupEntry(
                label,
                make_unknown_bot(words),
                Absence("bot", "its folder is gone" if anonymous else f"the folder {words} is gone", ""),
            )


def recall_plan(store: Store, config: Config, share: Share, *, required: bool = False) -> Plan:
    """Plan a share of the chosen tournament; it adds nothing to the league.

    Entries that left, and those that wait for their bot, have no open game and are left out.

    Args:
        store: the league.
        config: its newest configuration, with the settings of this machine.
        share: what to play.
        required: whether a game without the isolation of the tournament is refused.

    Raises:
        BotError: a bot is neither kept nor found here with the same content.
        DataError: bots that think at the same time would share a processor under wall clocks.
        LeagueError: what is kept of a bot is damaged, the file plays another share, or the rules have changed since.
    """
    tournament, games = store.tournament(), read_known_games(store)
    if tournament.share not in ("", str(share)):
        raise LeagueError(
            f"{store.path}: expected --shard {tournament.share}, which this copy plays, got {share}:"
            f" play {share} on a fresh copy of the league"
        )
    next_steps = NextSteps(store.path, by_file=False)
    refuse_old_parts(tournament, games.finished, next_steps)
    refuse_shared_processors(config, tuple(tournament.rulesets.values()))
    setup = Setup(config, tuple(tournament.rulesets.values()), _recall_entries(store, config))

    def add_nothing(setup: Setup) -> PendingEvents:
        return PendingEvents(store.league(), config.name, KnownGames())

    plan = Plan(setup, add_nothing, finished=games.finished)
    plan.next_steps = next_steps
    plan.share = share
    plan.hide(store.path)
    plan.isolation = replace(plan.isolation, required=required)
    return plan


def _recall_entries(store: Store, config: Config) -> tuple[SetupEntry, ...]:
    """The entries that may play, each with the bot of the version that does."""
    entries = [each for each in store.entries() if each.version.number and not each.waits and each.state == "playing"]
    lines = zip(config.entries, store.tournament().file_entries, strict=False)  # those gone from the file come last
    words = {each.label: line.bot if isinstance(line, LabelledBot) else line for line, each in lines}
    find = Names(store.path, store).find
    kept = KeptBots(store.path)
    bots = run_concurrently([partial(_recall_bot, entry, words.get(entry.label, ""), kept, find) for entry in entries])
    if missing := [bot for bot in bots if isinstance(bot, str)]:
        raise BotError("\n".join(missing))
    found = {entry.label: bot for entry, bot in zip(entries, bots, strict=True) if isinstance(bot, Bot)}
    if config.anonymous:
        found = {label: hide_maker(bot, label) for label, bot in found.items()}
    return tuple(SetupEntry(label, bot) for label, bot in found.items())


def _recall_bot(entry: Entry, words: str, kept: KeptBots, find: Find, guard: int) -> Bot | str:
    """The bot of an entry, or why there is none."""
    hash = entry.version.hash
    if kept.has(hash):
        try:
            return kept.load(hash, guard=guard)
        except BotError as error:
            return f"{entry.label}: {error}"
    lack = f"{entry.label}: expected the bot with the content {hash[:12]} in {kept.folder}"
    try:
        # A command line is not kept: nobody knows which files belong to it.
        bot = find(words, kept.folder.parent)
    except (BotError, DataError):
        return f"{lack}, which goes with the league wherever it is copied"
    if bot.hash != hash or bot.manifest.build:
        return f"{lack}, or what {words!r} starts to be the same here, which has the content {bot.hash[:12]}"
    return bot


def list_machine_words(config: Config) -> list[str]:
    """The options that repeat, on another machine, the settings of a tournament file that no league keeps."""
    words = [] if config.cpus_per_game == 1 else ["--cpus-per-game", str(config.cpus_per_game)]
    return words if config.isolation == "auto" else [*words, "--isolation", config.isolation]


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
    """Return a comparison under the name by which its league knows it, or under a new one.

    A comparison continues only with the same bots, rulesets, deals and test; otherwise it is a new one.

    Args:
        store: the league.
        config: the comparison.
        base: the folder that paths are relative to.
        find: returns the bot that words name.

    Raises:
        BotError, DataError: as `read_setup`.
    """
    setup = read_setup(config, base, find)
    one, other, *others = (entry.label for entry in setup.entries)
    first = f"{one} v {other}" + (f" against {', '.join(others)}" if others else "")
    tournaments = store.league().tournaments
    name, number = first, 1
    while name in tournaments and not is_same(tournaments[name], setup):
        number += 1
        name = f"{first} #{number}"
    return replace(config, name=name)


def is_same(tournament: Tournament, setup: Setup) -> bool:
    """Whether a tournament plays what a setup asks for, whatever its name."""
    config = replace(setup.config, name=tournament.name)
    contents = [(each.label, each.version.hash) for each in tournament.list_entries()]
    return (
        not describe_differences(tournament.config, config)
        and tournament.config.deals == config.deals
        and tuple(tournament.rulesets.values()) == setup.rulesets
        and contents == [(each.label, each.bot.hash) for each in setup.entries]
    )
