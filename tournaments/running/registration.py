"""Compares the setup of a tournament with what its league holds: which versions play, and which parts that adds."""

from __future__ import annotations

import hashlib
import secrets
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from malice.referee.nouns import format_count
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.config import Config, describe_differences, forget_machine, require_seats
from malice.tournaments.league.contents import Finished, GameSummary
from malice.tournaments.league.counting import find_counted_games, measure_progress
from malice.tournaments.league.formats import load_format
from malice.tournaments.league.formats.decisions import (
    FormatInput,
    OpenGame,
    create_part,
    decide,
    describe_changes,
    find_absent,
    list_changes,
    make_format_input,
    refuse_misfit,
)
from malice.tournaments.league.journal import (
    AnyEvent,
    Begun,
    FileEntry,
    FileRead,
    PartClosed,
    PartCreated,
    Seeded,
    Version,
    store_ruleset,
)
from malice.tournaments.league.merge import Taken
from malice.tournaments.league.parts import Draft, Part, VersionKey
from malice.tournaments.league.store import Store
from malice.tournaments.league.tournament import ListGames, Tournament, Tournaments
from malice.tournaments.running.setup import Setup, SetupEntry


class NextSteps(NamedTuple):
    """How to go on, in words for messages."""

    league: Path | None = None
    """The file of the league; None if nothing is kept."""
    by_file: bool = True
    """Whether a file describes the tournament; otherwise the words of a command line do."""

    def begin_anew(self, name: str) -> str:
        """How to play the tournament of this name under other terms."""
        database = "another --db" if self.league is None else f"another --db than {self.league}"
        if self.by_file:
            return f"give the tournament another name than {name!r}, or keep it in {database}"
        return f"keep these games in {database}"

    def explain_absence(self, league: Tournaments, name: str, label: str) -> str:
        """What to do about an entry that is missing in the file or on the command line of its tournament."""
        if not self.by_file:
            return f"{label!r}, who played before, is not among these bots: {self.begin_anew(name)}"
        words = ["malice", "entry", "withdraw", str(self.league), label]
        command = shlex.join([*words, *league.choose(name)])
        return f"{label!r} is gone from the file; to end its games, run: {command}; or {self.begin_anew(name)}"

    def allow_new_versions(self, cost: str) -> str:
        """How a bot that has changed can play.

        Args:
            cost: what it takes.
        """
        if self.by_file:
            return f"--new-versions lets the new version play, {cost}; the games of the old one stay"
        return f"keep the games of the new version in another --db than {self.league}"


@dataclass(frozen=True)
class KnownLeague:
    """What a league holds before a run; by default nothing, and it is kept nowhere."""

    league: Tournaments = field(default_factory=Tournaments)
    """It stays as it is."""
    finished: Sequence[Finished] = ()
    """The finished games of the tournament, in playing order."""
    list_games: Callable[[], Iterable[GameSummary]] = tuple
    """Lists the same games with their results."""
    list_others: ListGames = lambda name: ()
    """Lists the games of another tournament of the league."""
    path: Path | None = None
    kept: KeptBots | None = None
    """The bots of versions that can play again."""


def read_known_league(store: Store, name: str) -> KnownLeague:
    """Read what is known of a tournament, and choose it if it has begun."""

    def list_others(name: str) -> Iterable[GameSummary]:
        return store.view(name).stored_games()

    known = KnownLeague(store.league(), list_others=list_others, path=store.path, kept=KeptBots(store.path))
    if name not in known.league.tournaments:
        return known
    store.select(name)
    return replace(known, finished=store.finished(), list_games=store.stored_games)


class PlanOptions(Struct, frozen=True):
    """What whoever runs a tournament allows."""

    numbered: bool = False
    """Whether a command line names the bots, and not a file: it has no labels, and other options."""
    new_versions: bool = False
    """Whether changed bots play; otherwise they stop the run."""
    keep_going: bool = False
    """Whether the others play if entries are absent, also those whose folders are gone."""
    required: bool = False
    """Whether a game without the isolation of the tournament is refused."""
    stderr: bool = False
    """Whether the bots' stderr is reported line by line."""


NO_OPTIONS = PlanOptions()


class PendingEvents:
    """Events that are about to happen to a tournament, tried on a copy of its league.

    Args:
        known: what the league holds.
        name: the tournament.
    """

    def __init__(self, known: KnownLeague, name: str) -> None:
        self.events: list[AnyEvent] = []
        self.league = known.league.fork()
        self._name = name
        self._known = known

    @property
    def tournament(self) -> Tournament:
        """The tournament as the events leave it."""
        return self.league.tournaments[self._name]

    @property
    def parts(self) -> list[Part]:
        """The parts that the events create."""
        return [event.part for event in self.events if isinstance(event, PartCreated)]

    def apply(self, event: AnyEvent) -> None:
        """Let an event happen."""
        self.league.apply(self._name, event, time.time())
        self.events.append(event)

    def seed(self) -> None:
        """Fix the seeds of a tournament that begins and is seeded by rating.

        Raises:
            LeagueError: no entry has a rating.
        """
        tournament = self.tournament
        if tournament.config.seeding != "rating" or tournament.parts or tournament.seeding:
            return
        from malice.tournaments.league.seeding import rank_by_rating  # it needs numpy, and few tournaments need it

        labels = rank_by_rating(self.league, self._name, self._known.list_others)
        if not labels:
            raise LeagueError(
                'seeding = "rating": no entry has a rating; expected finished games of theirs in another tournament of'
                " this league, by the same rules"
            )
        self.apply(Seeded(labels))

    def create_parts(self) -> None:
        """Ask the format for parts until it waits or is done.

        Raises:
            DataError: the file asks for tables that cannot be formed.
        """
        suspended = tuple(sorted(find_counted_games(self.tournament, self._known.finished).suspended))
        while isinstance(decision := decide(self._make_format_input(suspended)), Draft):
            self.apply(create_part(self.tournament, decision, self.league.games, suspended))

    def _make_format_input(self, suspended: tuple[str, ...]) -> FormatInput:
        return make_format_input(self.tournament, self._known.finished, suspended, self._known.list_games)


def register(setup: Setup, known: KnownLeague, options: PlanOptions) -> PendingEvents:
    """Draft the events that bring a tournament up to date with its setup.

    Raises:
        DataError: the entries do not form a table.
        LeagueError: it contradicts what the tournament began with; the message says how to go on.
    """
    next_steps = NextSteps(known.path, by_file=not options.numbered)
    new_versions = options.new_versions or setup.config.new_versions == "play"
    pending = PendingEvents(known, setup.config.name)
    if setup.config.name not in known.league.tournaments:
        pending.apply(Begun(_draw_seed(setup.config).hex()))
    _refuse_changes(pending, setup, next_steps)
    refuse_misfit(setup.config, [each.label for each in setup.entries], setup.rulesets)
    for ruleset in setup.rulesets:
        require_seats(setup.config, ruleset, len(setup.entries))
    changed = {each.label: _describe_new_values(pending, each) for each in setup.entries if _is_changed(pending, each)}
    _read_file(pending, setup, lambda hash: new_versions and known.kept is not None and known.kept.has(hash))
    refuse_old_parts(pending.tournament, known.finished, next_steps)
    pending.seed()
    pending.create_parts()
    if changed and not new_versions:
        more = sum(pending.tournament.schedule(part).total for part in pending.parts)
        cost = f"which takes {format_count(more, 'more game')}"
        cost = cost if pending.tournament.format.grows else "from the next round on"
        raise LeagueError(_describe_changed(changed, cost, next_steps))
    return pending


def _is_changed(pending: PendingEvents, entry: SetupEntry) -> bool:
    if pending.tournament.state(entry.label).state != "playing":
        return False  # it does not matter what its author changes now
    version = pending.tournament.current().get(entry.label)
    return bool(version) and not entry.absence and version != pending.league.find_version(entry.label, entry.bot.hash)


def _read_file(pending: PendingEvents, setup: Setup, can_play: Callable[[str], bool]) -> None:
    entries = [_make_file_entry(pending, each, can_play) for each in setup.entries]
    here = {each.label for each in entries}
    # Those that left may be missing in the file.
    entries += [each for each in pending.tournament.file_entries if each.label not in here]
    rulesets = tuple(map(store_ruleset, setup.rulesets))
    event = FileRead(forget_machine(setup.config), rulesets, tuple(entries), dict(setup.refused))
    if not pending.tournament.has_file(event):
        pending.apply(event)


def _make_file_entry(pending: PendingEvents, entry: SetupEntry, can_play: Callable[[str], bool]) -> FileEntry:
    """How an entry takes part; note its version if the league does not know it.

    If its bot is broken, the last good version plays or waits.
    """
    before = pending.tournament.current().get(entry.label, 0)
    if pending.tournament.state(entry.label).state != "playing":
        return FileEntry(entry.label, before)
    playing = VersionKey(entry.label, before) if before else None
    if (
        playing
        and not entry.absence
        and _is_in_open_round(pending.tournament, playing)
        and can_play(pending.tournament.version(playing).hash)
    ):
        return FileEntry(entry.label, before)
    if entry.absence:
        waits = playing is not None and not can_play(pending.tournament.version(playing).hash)
        return FileEntry(entry.label, before, entry.absence, waits)
    number = pending.league.find_version(entry.label, entry.bot.hash)
    if number > len(pending.league.versions.get(entry.label, ())):
        pending.apply(_describe_version(entry, number))
    return FileEntry(entry.label, number)


def _is_in_open_round(tournament: Tournament, version: VersionKey) -> bool:
    """Whether a version plays in a round that is not over, and which it should finish."""
    if tournament.format.grows:
        return False
    opened = (table for schedule in tournament.open_parts for table in schedule.part.tables)
    return any(version in table.versions for table in opened)


def _describe_new_values(pending: PendingEvents, entry: SetupEntry) -> str:
    """Say which parameters of a changed bot have other values than in the version that plays."""
    playing = VersionKey(entry.label, pending.tournament.current()[entry.label])
    old, new = pending.tournament.version(playing).parameters, _list_parameters(entry)
    return "; ".join(
        f"{name} = {value}, was {old[name]}" for name, value in new.items() if old.get(name, value) != value
    )


def _describe_changed(changed: Mapping[str, str], cost: str, next_steps: NextSteps) -> str:
    """Say which bots changed, and how the new versions can play.

    Args:
        changed: by label, which of their parameters have new values, in words.
        cost: what it takes.
        next_steps: how to go on.
    """
    what = "the bot has" if len(changed) == 1 else "these bots have"
    names = ", ".join(f"{label} ({words})" if words else label for label, words in changed.items())
    return f"{names}: {what} changed since the last run; {next_steps.allow_new_versions(cost)}"


def close_parts(store: Store, finished: Sequence[Finished], over: Iterable[int], *, create: bool = True) -> list[Part]:
    """Close parts of the chosen tournament, and create and return those that the format asks for then.

    Args:
        store: the league.
        finished: all finished games of the tournament, in playing order.
        over: the parts without an open game.
        create: whether to create further parts.
    """
    name = store.tournament().name
    pending = PendingEvents(KnownLeague(store.league(), finished, store.stored_games), name)
    for part in over:
        pending.apply(PartClosed(part, find_absent(pending.tournament, part, finished)))
    if create:
        pending.create_parts()
    store.append(name, pending.events)
    return pending.parts


def close_complete_parts(store: Store) -> Iterator[tuple[str, list[int], list[Part]]]:
    """Close the parts of a league that have no open game, and create those that follow, as a run does.

    A tournament with a game that is open stays as it is.

    Yields:
        Each tournament of which parts were closed, with their numbers and the parts that were created.
    """
    for name in list(store.league().tournaments):
        store.select(name)
        finished = store.finished()
        while over := _list_complete_parts(store.tournament(), finished):
            yield name, over, close_parts(store, finished, over)


def _list_complete_parts(tournament: Tournament, finished: Sequence[Finished]) -> list[int]:
    """List the open parts if no game of any of them is open; else none."""
    numbers = [schedule.part.number for schedule in tournament.open_parts]
    try:
        for number in numbers:
            find_absent(tournament, number, finished)
    except OpenGame:
        return []
    return numbers


def _draw_seed(config: Config) -> bytes:
    return secrets.token_bytes(32) if config.seed is None else hashlib.sha256(config.seed.encode()).digest()


def _describe_version(entry: SetupEntry, number: int) -> Version:
    """What the league keeps of a version: of its bot.toml, the fields that `Version` has too."""
    bot = entry.bot
    said = {name: getattr(bot.manifest, name) for name in Version.__struct_fields__ if hasattr(bot.manifest, name)}
    said |= {"command": bot.manifest.run, "rulesets": bot.made_for, "parameters": _list_parameters(entry)}
    return Version(**said | {"label": entry.label, "number": number, "hash": bot.hash})


def _list_parameters(entry: SetupEntry) -> dict[str, str]:
    """The values of the parameters that bot.toml lists; of an anonymous bot nobody may know them."""
    return {name: entry.bot.parameters[name] for name in entry.bot.manifest.parameters}


def refuse_differences(tournament: Tournament, config: Config, next_steps: NextSteps) -> None:
    """Make sure that a file does not change the terms of a tournament.

    Raises:
        LeagueError: it does; the message names the fields.
    """
    if differences := describe_differences(tournament.config, config):
        raise LeagueError(
            f"a tournament goes on under the terms with which it began, {differences}: put them back, or"
            f" {next_steps.begin_anew(tournament.name)}"
        )


def _refuse_changes(pending: PendingEvents, setup: Setup, next_steps: NextSteps) -> None:
    """Make sure that a file only adds to what its tournament began with."""
    tournament = pending.tournament
    if not tournament.file_entries:
        return
    old, new = tournament.config, setup.config
    way_out = next_steps.begin_anew(tournament.name)
    refuse_differences(tournament, new, next_steps)
    if new.deals != old.deals and not load_format(new.format).grows:
        raise LeagueError(where="deals", expected=f"{old.deals}, as in the rounds before", got=new.deals, hint=way_out)
    if new.deals < old.deals:
        raise LeagueError(where="deals", expected=f"at least {old.deals}, as before", got=new.deals, hint=way_out)
    now = {ruleset.name: ruleset for ruleset in setup.rulesets}
    for name, ruleset in tournament.rulesets.items():
        if now.get(name) != ruleset:
            state = "has changed" if name in now else "is gone"
            raise LeagueError(f"rulesets: {name!r} {state} since the tournament began: {way_out}")
    if new.rounds < old.rounds:
        raise LeagueError(where="rounds", expected=f"at least {old.rounds}, as before", got=new.rounds, hint=way_out)
    labels = {each.label for each in setup.entries}
    late = labels - {entry.label for entry in tournament.file_entries}
    if late and not load_format(new.format).takes_late_entries:
        raise LeagueError(f"entries: {min(late)!r} comes too late for a {new.format} that has begun: {way_out}")
    for entry in tournament.file_entries:
        if entry.label not in labels and tournament.state(entry.label).state == "playing":
            raise LeagueError(f"entries: {next_steps.explain_absence(pending.league, tournament.name, entry.label)}")


def refuse_old_parts(tournament: Tournament, finished: Sequence[Finished], next_steps: NextSteps) -> None:
    """Make sure that no open game belongs to a part that began by other rules than today's.

    Raises:
        LeagueError: one does; the message says how to go on.
    """
    for schedule in tournament.open_parts:
        part = schedule.part
        changes = list_changes(tournament, tournament.revisions[part.number], part)
        try:
            if changes:
                find_absent(tournament, part.number, finished)
        except OpenGame:
            raise LeagueError(
                f"part {part.number} ({part.title}) has open games, and other rules than those it began by:"
                f" {describe_changes(changes)}; finish it with the malice that began it, or"
                f" {next_steps.begin_anew(tournament.name)}"
            ) from None


class MergedTournament(Struct, frozen=True):
    """A tournament after a merge."""

    tournament: str
    games: int
    """Finished games that count."""
    planned: int
    closed: tuple[str, ...]
    """The titles of the parts that the merge closed."""
    created: tuple[str, ...]
    """The titles of the parts that follow."""


class Merged(Struct, frozen=True):
    """The outcome of a merge."""

    copies: tuple[Taken, ...]
    tournaments: tuple[MergedTournament, ...]


def finish_merge(store: Store, taken: Sequence[Taken]) -> Merged:
    """Close the parts of a league that have no open game any more, and return the outcome of the merge.

    Args:
        store: the league.
        taken: what was taken from each copy.

    Raises:
        Stopped: the disk is full or fails.
    """
    closed: dict[str, list[str]] = {}
    created: dict[str, list[str]] = {}
    for name, numbers, parts in close_complete_parts(store):
        closed.setdefault(name, []).extend(store.tournament().parts[number].title for number in numbers)
        created.setdefault(name, []).extend(part.title for part in parts)
    found = []
    for name in store.league().tournaments:
        store.select(name)
        games, planned = measure_progress(store.tournament(), store.finished())
        ended, begun = tuple(closed.get(name, ())), tuple(created.get(name, ()))
        found.append(MergedTournament(name, games, planned, ended, begun))
    return Merged(tuple(taken), tuple(found))
