"""Recalls a tournament from its league alone: the last reading of its file, and the bots that are kept beside it."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from malice.referee.errors import BotError, DataError
from malice.tournaments.entries.bots import Bot
from malice.tournaments.entries.enrolment import Find
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.entries.side_by_side import run_concurrently
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.config import Config, LabelledBot
from malice.tournaments.league.contents import Entry
from malice.tournaments.league.store import Store
from malice.tournaments.running.advice import NextSteps
from malice.tournaments.running.anonymity import hide_maker
from malice.tournaments.running.field import Setup, SetupEntry, refuse_shared_processors
from malice.tournaments.running.names import Names
from malice.tournaments.running.pending import KnownGames, PendingEvents, read_known_games
from malice.tournaments.running.plan import Plan
from malice.tournaments.running.registration import refuse_old_parts
from malice.tournaments.running.shares import Share


def recall_plan(store: Store, config: Config, share: Share, *, required: bool = False) -> Plan:
    """Return the plan of a share of the chosen tournament; it adds nothing to the league.

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
    advice = NextSteps(store.path, by_file=False)
    refuse_old_parts(tournament, games.finished, advice)
    refuse_shared_processors(config, tuple(tournament.rulesets.values()))
    field = Setup(config, tuple(tournament.rulesets.values()), _recall_entries(store, config))

    def add_nothing(field: Setup) -> PendingEvents:
        return PendingEvents(store.league(), config.name, KnownGames())

    plan = Plan(field, add_nothing, finished=games.finished)
    plan.advice = advice
    plan.share = share
    plan.hide(store.path)
    plan.isolation = replace(plan.isolation, required=required)
    return plan


def _recall_entries(store: Store, config: Config) -> tuple[SetupEntry, ...]:
    """Return the entries that may play, each with the bot of the version that does."""
    entries = [entry for entry in store.entries() if entry.number and not entry.waits and entry.state == "playing"]
    lines = zip(config.entries, store.tournament().entered, strict=False)  # those gone from the file come last
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
    """Return the bot of an entry, or why there is none."""
    if kept.has(entry.hash):
        try:
            return kept.load(entry.hash, guard=guard)
        except BotError as error:
            return f"{entry.label}: {error}"
    lack = f"{entry.label}: expected the bot with the content {entry.hash[:12]} in {kept.folder}"
    try:
        # A command line is not kept: nobody knows which files belong to it.
        bot = find(words, kept.folder.parent)
    except (BotError, DataError):
        return f"{lack}, which goes with the league wherever it is copied"
    if bot.hash != entry.hash or bot.manifest.build:
        return f"{lack}, or what {words!r} starts to be the same here, which has the content {bot.hash[:12]}"
    return bot


def list_machine_words(config: Config) -> list[str]:
    """Return the options that say on another machine what a tournament file says of its own, and no league keeps."""
    words = [] if config.cpus_per_game == 1 else ["--cpus-per-game", str(config.cpus_per_game)]
    return words if config.isolation == "auto" else [*words, "--isolation", config.isolation]
