"""The plan of a run, read from its file, its bots and its league: what is to be played, all of it or a share.

Reading starts no process and writes nothing; `opening.open_plan` does both.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from msgspec import convert, to_builtins
from msgspec.structs import replace

from malice.protocol.messages import ClockRules
from malice.referee.errors import BotError, DataError
from malice.referee.records import Batch, Isolation, Key, Player, Record
from malice.tournaments.entries.bots import Bot, find_bot
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.entries.lookup import Find, make_unknown_bot, run_concurrently
from malice.tournaments.entries.names import Names
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.config import Config, LabelledBot
from malice.tournaments.league.contents import Entry, Finished, GameSummary, summarize_record
from malice.tournaments.league.counting import find_counted_games
from malice.tournaments.league.file import find_name_list, list_league_files
from malice.tournaments.league.journal import PERSON, Absence, AnyEvent, PartCreated
from malice.tournaments.league.parts import BatchPlan, Part, Schedule, Share
from malice.tournaments.league.people import describe_company, is_of_people
from malice.tournaments.league.store import Store
from malice.tournaments.league.tournament import Tournament
from malice.tournaments.running.registration import (
    NO_OPTIONS,
    KnownLeague,
    NextSteps,
    PendingEvents,
    PlanOptions,
    read_known_league,
    refuse_differences,
    refuse_old_parts,
    register,
)
from malice.tournaments.running.setup import (
    Setup,
    SetupEntry,
    anonymize,
    ask_about_moved,
    find_names,
    hide_maker,
    read_setup,
    refuse_shared_processors,
)


def list_certain(tournament: Tournament, finished: Iterable[Finished]) -> Iterator[Finished]:
    """Yield the games before which none is missing, whatever other copies of the league play.

    Of an open part these are the games before the first gap in playing order; of a closed part, all. What follows from
    them, such as a suspension, stays true when the other copies are merged.

    Args:
        tournament: the tournament.
        finished: its finished games, in playing order.
    """
    following = {each.part.number: each.part.first for each in tournament.open_parts}
    for game in finished:
        part = game.key.part
        if part not in following:
            yield game
        elif following[part] == game.number:
            following[part] += 1
            yield game


@dataclass(frozen=True, eq=False)
class Plan:
    """What a run is to play, a value."""

    setup: Setup
    known: KnownLeague
    options: PlanOptions
    tournament: Tournament
    """As the events leave it; once they are written, as the league has it, which goes on changing."""
    events: Sequence[AnyEvent]
    """What must be written before the first game."""
    bots: Mapping[str, Bot]
    """By label, the bot of each version that plays."""
    share: Share | None = None
    """The only games that are played; None for all."""

    @classmethod
    def prepare(cls, config: Config, base: Path, find: Find = find_bot) -> Plan:
        """Find and build the bots of a configuration, and plan its games outside of any league.

        Raises:
            DataError: as `setup.read_setup` and `registration.register`.
        """
        return make_plan(read_setup(config, base, find), KnownLeague(), NO_OPTIONS)

    @property
    def config(self) -> Config:
        return self.setup.config

    @property
    def finished(self) -> Sequence[Finished]:
        """The games that the tournament played before, in playing order."""
        return self.known.finished

    @property
    def parts(self) -> list[Part]:
        """The parts that the events create."""
        return [event.part for event in self.events if isinstance(event, PartCreated)]

    @cached_property
    def players(self) -> dict[str, Player]:
        """By label, what the referee needs of every entry that can play."""
        anonymous = self.config.anonymous
        return {label: replace(bot.make_player(label), anonymous=anonymous) for label, bot in self.bots.items()}

    @cached_property
    def guests(self) -> tuple[str, ...]:
        return tuple(label for label, bot in self.bots.items() if bot.guest)

    @cached_property
    def isolation(self) -> Isolation:
        """What surrounds each bot; it hides the league from all of them, wherever it lies: it holds the seeds."""
        config = self.config
        hidden = list_league_files(self.known.path) if self.known.path else ()
        return Isolation(config.isolation, config.memory_mb, config.freeze, hidden, self.options.required)

    def list_postponed(self) -> list[str]:
        """The labels of those whose new version plays only from the next round on."""
        entries = self.tournament.list_entries()
        playing = {entry.label: entry.version.hash for entry in entries if entry.state == "playing"}
        return [
            each.label
            for each in self.setup.entries
            if not each.absence and playing.get(each.label) != each.bot.hash and each.label in playing
        ]

    def list_broken(self) -> dict[str, Absence]:
        """Why entries that did not leave cannot play, by label."""
        state = self.tournament.state
        return {label: why for label, why in self.setup.absences.items() if state(label).state == "playing"}

    def list_suspended(self) -> dict[str, int]:
        """Whom the games of before suspend, each with the game that did; in a share only those who are certain."""
        finished = list_certain(self.tournament, self.finished) if self.share else self.finished
        return find_counted_games(self.tournament, finished).suspended

    def place(self, bots: Mapping[str, Bot]) -> Plan:
        """Let bots play from other places, by label."""
        setup = self.setup.place(bots)
        return dataclasses.replace(self, setup=setup, bots=_choose_bots(setup, self.tournament, self.known.kept))

    def mark(self, absences: Mapping[str, Absence]) -> Plan:
        """Plan without further entries that cannot play.

        Raises:
            BotError: no older version of one can be started either.
        """
        if self.known.kept and (broken := [label for label in absences if label in self.setup.absences]):
            raise BotError(f"{', '.join(broken)}: not even the last good version can be started")
        return make_plan(self.setup.mark(absences), self.known, self.options, self.share) if absences else self

    def write(self, store: Store, *, shared: bool = False) -> Plan:
        """Write the events into the league, and follow it from now on.

        Args:
            store: the league.
            shared: whether copies of the league will play the new parts.

        Raises:
            OSError: the list of names cannot be written.
            Stopped: the disk is full or fails.
        """
        if self.setup.names:
            self.setup.names.write(find_name_list(store.path))
        if self.events:
            events = (replace(each, shared=True) if isinstance(each, PartCreated) else each for each in self.events)
            store.append(self.config.name, events if shared else self.events)
        store.select(self.config.name)
        return dataclasses.replace(self, tournament=store.tournament())

    def catch_up(self, store: Store) -> Plan:
        """The same after decisions about entries: under the labels of today, with the games that were played since."""
        known = read_known_league(store, self.config.name)
        names = known.league.names
        bots = {names.get(label, label): bot for label, bot in self.bots.items()}
        tournament = store.tournament()
        return dataclasses.replace(self, setup=self.setup.rename(names), known=known, tournament=tournament, bots=bots)

    # Which games are open

    def open_batches(self, done: Collection[Key], wanted: Callable[[Key], bool] | None = None) -> Iterator[Batch]:
        """Yield the batches of all open parts, without the games that are done or not wanted.

        Parts are played together: next comes the batch of the entry with the fewest games.

        Args:
            done: finished games.
            wanted: whether a game must be played; by default `is_playable`.
        """
        wanted = wanted or self.is_playable
        schedules = self.tournament.open_parts
        if len(schedules) == 1:
            yield from self._list_batches(schedules[0], done, wanted)
            return
        played = self._count_games(done)
        queues = [self._list_batches(schedule, done, wanted) for schedule in schedules]
        heads = [(batch, queue) for queue in queues if (batch := next(queue, None))]
        while heads:
            at = min(range(len(heads)), key=lambda each: min(played[p.label] for p in heads[each][0].players))
            batch, queue = heads[at]
            played.update({player.label: len(batch.games) for player in batch.players})
            yield batch
            if following := next(queue, None):
                heads[at] = following, queue
            else:
                del heads[at]

    def _list_batches(
        self, schedule: Schedule, done: Collection[Key], wanted: Callable[[Key], bool]
    ) -> Iterator[Batch]:
        for plan in schedule.batches():
            if keys := [key for key in plan.games() if key not in done and wanted(key)]:
                yield self.make_batch(plan, keys)

    def _count_games(self, done: Collection[Key]) -> Counter[str]:
        played: Counter[str] = Counter()
        for key in done:
            played.update(self.list_labels(key))
        return played

    def is_playable(self, key: Key) -> bool:
        """Whether all entries of a game still play, none is absent, and the plan's share has the game."""
        return (self.share is None or self.share.has(key)) and self.is_table_playable(key.part, key.table)

    def is_table_playable(self, part: int, table: int) -> bool:
        """Whether all entries of a table still play, and none of them is absent."""
        versions = self.tournament.parts[part].tables[table].versions
        return all(each.label in self.players and not self.tournament.excuses(each) for each in versions)

    def count_open(self, done: Collection[Key]) -> int:
        """How many games are open; a suspension may leave out some of them."""
        return sum(self.count_open_tables(done).values())

    def count_open_tables(self, done: Collection[Key]) -> Counter[tuple[int, int]]:
        """Count the open games by part and table."""
        share = self.share
        tables = Counter(
            {
                (part, table): rotations * (share.count_deals(part, table, schedule.deals) if share else schedule.deals)
                for schedule in self.tournament.open_parts
                for part in (schedule.part.number,)
                for table, rotations in enumerate(schedule.rotations)
                if self.is_table_playable(part, table)
            }
        )
        mine = (key for key in done if share is None or share.has(key))
        tables.subtract((key.part, key.table) for key in mine if (key.part, key.table) in tables)
        return tables

    def count_waiting(self, done: Collection[Key], part: int | None = None) -> int:
        """Count the games of a part, or of all open parts, that wait for absent entries."""
        tournament, waiting = self.tournament, self.tournament.waiting()
        if not waiting:
            return 0
        tables = {
            (schedule.part.number, number): schedule.deals * len(labels)
            for schedule in tournament.open_parts
            if part is None or part == schedule.part.number
            for number, labels in enumerate(schedule.labels)
            if not waiting.isdisjoint(labels)
            and not any(map(tournament.excuses, schedule.part.tables[number].versions))
        }
        return sum(tables.values()) - sum((key.part, key.table) in tables for key in done)

    def list_labels(self, key: Key) -> tuple[str, ...]:
        """The labels of the entries that meet in a game, in the order of the table."""
        return self.tournament.schedules[key.part].labels[key.table]

    def number(self, key: Key) -> int:
        """The place of a game in playing order, counted through the whole league."""
        return self.tournament.schedules[key.part].number(key)

    # What a referee process needs

    def make_batch(self, plan: BatchPlan, keys: list[Key]) -> Batch:
        table, seeds = self.tournament.parts[plan.part].tables[plan.table], self.tournament.seeds(plan.part)
        ruleset = self.tournament.rulesets[table.ruleset]
        return Batch(
            family=ruleset.family,
            ruleset=ruleset.name,
            rules=ruleset.rules,
            players=tuple(self.players[each.label] for each in table.versions),
            clock=self.make_clock(),
            init_ms=self.config.init_ms,
            commit=seeds.commit,
            games=tuple(
                replace(seeds.order(key, len(table.versions)), position=self.tournament.find_position(key))
                for key in keys
            ),
            isolation=self.isolation,
            stderr=self.options.stderr,
            tournament=self.tournament.name,
        )

    def make_clock(self) -> ClockRules:
        return convert(to_builtins(self.config.clock), ClockRules)

    def make_game(self, record: Record) -> GameSummary:
        """Summarise a record to what standings need."""
        key = record.key
        numbers = {each.label: each.number for each in self.tournament.parts[key.part].tables[key.table].versions}
        versions = tuple(numbers[label] for label, _ in record.entries)
        teams = self.tournament.teams(record.ruleset, len(versions))
        once = self.tournament.schedules[key.part].plays_once(key.table)
        return summarize_record(record, self.number(key), teams, versions, once=once)

    # How long it takes

    def compute_game_ms(self, ruleset: str) -> int | None:
        """The longest time that the clocks allow for one game under a ruleset; None if they set no limit."""
        clock, config = self.config.clock, self.config
        match = self.tournament.rulesets[ruleset].match
        if clock.bank_ms is None or clock.kind == "cpu" or self.guests or match.max_turns is None:
            return None
        seat = clock.bank_ms + clock.increment_ms * match.max_turns + 3 * config.init_ms + clock.margin_ms
        return seat * (config.seats or match.players[0])


def make_plan(setup: Setup, known: KnownLeague, options: PlanOptions, share: Share | None = None) -> Plan:
    """Plan what a setup adds to what is known; a share adds nothing.

    Raises:
        DataError, LeagueError: as `registration.register`.
    """
    pending = PendingEvents(known, setup.config.name) if share else register(setup, known, options)
    bots = _choose_bots(setup, pending.tournament, known.kept)
    return Plan(setup, known, options, pending.tournament, pending.events, bots, share)


def _choose_bots(setup: Setup, tournament: Tournament, kept: KeptBots | None) -> dict[str, Bot]:
    entries = {entry.label: entry for entry in tournament.list_entries()}
    bots = {}
    for each in setup.entries:
        entry = entries[each.label]
        if not each.absence and entry.version.hash in ("", each.bot.hash):
            bots[each.label] = each.bot
        elif entry.version.number and not entry.waits and kept:
            bots[each.label] = kept.load(entry.version.hash)
    return bots


def read_plan(
    store: Store, config: Config, base: Path, find: Find = find_bot, options: PlanOptions = NO_OPTIONS
) -> Plan:
    """Plan a tournament that begins in a league or continues there; the league itself stays as it is.

    A tournament that never played a game begins anew.

    Args:
        store: the league.
        config: the content of the tournament file.
        base: the folder that the paths of bots and rulesets are relative to.
        find: returns the bot that an entry names.
        options: what is allowed.

    Raises:
        LeagueError: the file or a bot has changed in a way that the tournament does not allow.
        DataError: as `Plan.prepare`.
    """
    known = read_known_league(store, config.name)
    begun = known.league.tournaments.get(config.name)
    if begun and begun.config.anonymous != config.anonymous:
        refuse_differences(begun, config, NextSteps(store.path, by_file=not options.numbered))
    names = find_names(find_name_list(store.path), begun=begun is not None) if config.anonymous else None
    labels = names.recall_labels() if names else _recall_labels(begun) if begun else {}
    gone = {words: labels[words] for words in labels if options.keep_going and _is_gone(words, base)}
    setup = read_setup(config, base, find, labels, numbered=options.numbered, gone=gone)
    setup = setup.add(_list_gone(gone, setup, anonymous=config.anonymous))
    if not names:
        setup = ask_about_moved(setup.rename(known.league.names), known.league, set(gone.values()), store.path)
    people = any(each.bot.hash == PERSON for each in setup.entries)
    if known.league.tournaments and is_of_people(known.league) != people:
        steps = NextSteps(store.path, by_file=not options.numbered)
        raise LeagueError(f"{describe_company(store.path, people=people)}: {steps.begin_anew(config.name)}")
    return make_plan(anonymize(setup, names) if names else setup, known, options)


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


def _recall_labels(tournament: Tournament) -> dict[str, str]:
    """The labels that entries got, by what the file called their bots; twins are left out."""
    words = [line if isinstance(line, str) else line.bot for line in tournament.config.entries]
    named = zip(words, tournament.file_entries, strict=False)
    return {bot: entry.label for bot, entry in named if bot and words.count(bot) == 1}


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
    tournament = store.tournament()
    known = KnownLeague(store.league(), store.finished(), path=store.path)
    if tournament.share not in ("", str(share)):
        raise LeagueError(
            where=store.path,
            expected=f"--shard {tournament.share}, which this copy plays",
            got=share,
            hint=f"play {share} on a fresh copy of the league",
        )
    refuse_old_parts(tournament, known.finished, NextSteps(store.path, by_file=False))
    refuse_shared_processors(config, tuple(tournament.rulesets.values()))
    setup = Setup(config, tuple(tournament.rulesets.values()), _recall_entries(store, config))
    return make_plan(setup, known, PlanOptions(numbered=True, required=required), share)


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
