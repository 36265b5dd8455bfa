"""The plan of a run: a tournament with the bots that play it, and the batches that are open, all or a share of them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct, convert, to_builtins
from msgspec.structs import replace

from malice.protocol.messages import ClockRules
from malice.referee.errors import BotError, DataError
from malice.referee.records import Batch, Isolation, Key, Player, Record
from malice.tournaments.entries.bots import Bot, find_bot
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.entries.lookup import Find, describe_trouble, run_concurrently
from malice.tournaments.league.config import Config
from malice.tournaments.league.contents import Finished, GameSummary, summarize_record
from malice.tournaments.league.file import find_name_list, list_league_files
from malice.tournaments.league.journal import Absence, AnyEvent, PartCreated
from malice.tournaments.league.parts import BatchPlan, Schedule
from malice.tournaments.league.store import Store
from malice.tournaments.league.tournament import Tournament, Tournaments
from malice.tournaments.running.registration import KnownGames, NextSteps, PendingEvents, register
from malice.tournaments.running.setup import NameList, Setup, read_setup


def keep_bots(bots: Mapping[str, Bot], kept: KeptBots) -> tuple[dict[str, Bot], dict[str, Absence]]:
    """Keep bots, as many at a time as there are processors; twins and variants in turn, since they share a copy.

    Args:
        bots: by label.
        kept: where they are kept.

    Returns:
        By label, the bots that play from their copies, and why others cannot be kept.
    """
    groups: defaultdict[str, dict[str, Bot]] = defaultdict(dict)
    for label, bot in bots.items():
        groups[bot.content][label] = bot
    results = run_concurrently([partial(_keep_group, kept, group) for group in groups.values()])
    found = {label: result for group in results for label, result in group.items()}
    return (
        {label: result for label, result in found.items() if isinstance(result, Bot)},
        {label: result for label, result in found.items() if isinstance(result, Absence)},
    )


def _keep_group(kept: KeptBots, bots: Mapping[str, Bot], guard: int) -> dict[str, Bot | Absence]:
    return {label: _keep(kept, bot) for label, bot in bots.items()}


def _keep(kept: KeptBots, bot: Bot) -> Bot | Absence:
    try:
        return kept.keep(bot)
    except Exception as error:  # strangers wrote what is copied
        return Absence("bot", describe_trouble(error), "")


class Share(Struct, frozen=True):
    """Every `of`-th deal of each table, with all its rotations: a pair is never torn apart."""

    number: int
    """From 1."""
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, key: Key) -> bool:
        """Whether a game belongs to the share; it belongs to exactly one of them."""
        return (key.part + key.table + key.deal) % self.of == self.number - 1

    def count_deals(self, part: int, table: int, deals: int) -> int:
        """How many of the first deals of a table belong to the share."""
        first = (self.number - 1 - part - table) % self.of
        return len(range(first, deals, self.of))


def parse_share(text: str) -> Share:
    """Parse a share such as `2/3`.

    Raises:
        DataError: `text` is no share.
    """
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise DataError(f"--shard: expected a share such as 2/3, the second of three, got: {text!r}")
    return Share(int(found[1]), int(found[2]))


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


Register = Callable[[Setup], PendingEvents]


class Plan:
    """Everything that a run needs before its first game; making a plan starts no process and writes nothing.

    Args:
        setup: the entries with their bots.
        register: returns the events that bring the tournament up to a setup.
        load: returns the bot of an older version, by its content hash.
        finished: the games that the tournament played before, in playing order.

    Raises:
        DataError, LeagueError: as `registration.register`.
    """

    def __init__(
        self,
        setup: Setup,
        register: Register,
        load: Callable[[str], Bot] | None = None,
        finished: Sequence[Finished] = (),
    ) -> None:
        self.finished = finished
        """The games that the tournament played before."""
        self.next_steps = NextSteps()
        """How to go on if the plan cannot be played."""
        self.keep_going = False
        """Whether the others play if entries are absent."""
        self.stderr = False
        """Whether the bots' stderr is reported line by line."""
        self.names: NameList | None = None
        """The neutral names of an anonymous tournament."""
        self.share: Share | None = None
        """The only games that are played; None for all."""
        config = setup.config
        self.isolation = Isolation(config.isolation, config.memory_mb, config.freeze)
        self._register = register
        self._load = load
        self._take(setup)

    @classmethod
    def prepare(cls, config: Config, base: Path, find: Find = find_bot) -> Plan:
        """Find and build the bots of a configuration, and plan its games outside of any league.

        Args:
            config: the content of the tournament file.
            base: the folder that the paths of its bots and rulesets are relative to.
            find: returns the bot that an entry names.

        Raises:
            DataError: as `setup.read_setup` and `registration.register`.
        """
        return cls(read_setup(config, base, find), lambda setup: register(Tournaments(), setup, KnownGames()))

    def _take(self, setup: Setup) -> None:
        pending = self._register(setup)
        self.setup, self.config = setup, setup.config
        self.tournament: Tournament = pending.tournament
        self.events: list[AnyEvent] = pending.events
        """What must be written before the first game."""
        self.parts = pending.parts
        """The parts that these events create."""
        self._choose_players()

    def _choose_players(self) -> None:
        self.bots = self._choose_bots()
        self.players: dict[str, Player] = {label: self._make_player(label, bot) for label, bot in self.bots.items()}
        """By label, what the referee needs of every entry that can play."""
        self.guests = tuple(label for label, bot in self.bots.items() if bot.guest)

    def _choose_bots(self) -> dict[str, Bot]:
        """The bot of each version that plays, by label."""
        entries = {entry.label: entry for entry in self.tournament.list_entries()}
        bots = {}
        for each in self.setup.entries:
            entry = entries[each.label]
            if not each.absence and entry.version.hash in ("", each.bot.hash):
                bots[each.label] = each.bot
            elif entry.version.number and not entry.waits and self._load:
                bots[each.label] = self._load(entry.version.hash)
        return bots

    def list_postponed(self) -> list[str]:
        """The labels of those whose new version plays only from the next round on."""
        entries = self.tournament.list_entries()
        playing = {entry.label: entry.version.hash for entry in entries if entry.state == "playing"}
        return [
            each.label
            for each in self.setup.entries
            if not each.absence and playing.get(each.label) != each.bot.hash and each.label in playing
        ]

    def _make_player(self, label: str, bot: Bot) -> Player:
        return replace(bot.make_player(label), anonymous=self.config.anonymous)

    def keep_bots(self, kept: KeptBots) -> None:
        """Keep every bot that plays, and let it play from its copy; those that cannot be kept are absent."""
        found, absences = keep_bots({label: bot for label, bot in self.bots.items() if label not in self.guests}, kept)
        self.setup = self.setup.place(found)
        self.note_absences(absences)
        self._choose_players()

    def list_broken(self) -> dict[str, Absence]:
        """Why entries that did not leave cannot play, by label."""
        state = self.tournament.state
        return {label: why for label, why in self.setup.absences.items() if state(label).state == "playing"}

    def note_absences(self, absences: Mapping[str, Absence]) -> None:
        """Note further entries that cannot play.

        Raises:
            BotError: no older version of one can be started either.
        """
        if self._load and (broken := [label for label in absences if label in self.setup.absences]):
            raise BotError(f"{', '.join(broken)}: not even the last good version can be started")
        if absences:
            self._take(self.setup.mark(absences))

    def write(self, store: Store, *, shared: bool = False) -> None:
        """Write what the plan adds to the league; from now on the plan follows the league.

        Args:
            store: the league.
            shared: whether copies of the league will play the new parts.

        Raises:
            OSError: the list of names cannot be written.
            Stopped: the disk is full or fails.
        """
        if self.names:
            self.names.write(find_name_list(store.path))
        if self.events:
            events = (replace(each, shared=True) if isinstance(each, PartCreated) else each for each in self.events)
            store.append(self.config.name, events if shared else self.events)
        self.events, self.parts = [], []
        store.select(self.config.name)
        self.tournament = store.tournament()

    def hide(self, league: Path) -> None:
        """Hide the league from all bots, wherever it lies: it holds the seeds."""
        self.isolation = replace(self.isolation, hidden=list_league_files(league))

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
            stderr=self.stderr,
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
