"""Opens a tournament on its league: reads its file and bots, and plans what that adds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from malice.tournaments.entries.bots import find_bot
from malice.tournaments.entries.enrolment import Find, make_unknown_bot
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.league.config import Config
from malice.tournaments.league.file import find_name_list
from malice.tournaments.league.journal import Absence
from malice.tournaments.league.store import Store
from malice.tournaments.league.tournament import Tournament
from malice.tournaments.running.advice import NextSteps
from malice.tournaments.running.anonymity import anonymize, find_names
from malice.tournaments.running.field import Setup, SetupEntry, read_setup
from malice.tournaments.running.pending import KnownGames, PendingEvents, make_lister, read_known_games
from malice.tournaments.running.plan import Plan
from malice.tournaments.running.registration import recall_labels, refuse_differences, register


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
    """Return the plan of a tournament that begins in a league, or goes on there; the league stays as it is.

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
    advice = NextSteps(store.path, by_file=not numbered)
    begun = config.name in store.league().tournaments
    if begun:
        store.select(config.name)
    if begun and store.config().anonymous != config.anonymous:
        refuse_differences(store.tournament(), config, advice)
    names = find_names(find_name_list(store.path), begun=begun) if config.anonymous else None
    known = names.recall_labels() if names else recall_labels(store.tournament()) if begun else {}
    field = read_setup(config, base, find, known, numbered=numbered)
    if begun and keep_going:
        field = field.add(_list_gone(store.tournament(), field, base))
    if names:
        field = anonymize(field, names)
    games = read_known_games(store) if begun else KnownGames(list_others=make_lister(store))
    kept = KeptBots(store.path)

    def settle(field: Setup) -> PendingEvents:
        league = store.league()
        return register(league, field, games, new_versions=new_versions, is_kept=kept.has, advice=advice)

    plan = Plan(field, settle, kept.load, games.finished)
    plan.advice = advice
    plan.keep_going = keep_going
    plan.hide(store.path)
    plan.names = names
    return plan


def _list_gone(tournament: Tournament, field: Setup, base: Path) -> Iterator[SetupEntry]:
    """Yield the entries that a pattern no longer finds because their folders are gone: they are absent."""
    here = {each.label for each in field.entries}
    for words, label in recall_labels(tournament).items():
        if label not in here and "/" in words and not (base / words).expanduser().exists():
            yield SetupEntry(label, make_unknown_bot(words), Absence("bot", f"the folder {words} is gone", ""))
