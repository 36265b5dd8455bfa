"""The plan of a tournament: its bots, rulesets, seed and schedule, before anything is played."""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from msgspec import convert, to_builtins
from msgspec.structs import replace

from protocol.messages import ClockRules
from referee.errors import DataError
from referee.families import make_rules
from referee.records import Batch, Isolation, Key, Record
from referee.rulesets import Ruleset, find_ruleset
from tournaments.entries.bots import PERSON, BotSpec, find_bot
from tournaments.entries.enrolment import Enrolled, Find, enroll
from tournaments.errors import LeagueError
from tournaments.league import series
from tournaments.league.config import Config, EntryLine, assign_labels, describe_differences
from tournaments.league.contents import Entry, Game, Tournament, summarize_record
from tournaments.league.file import find_name_list, list_league_files
from tournaments.league.schedule import (
    BLOCK_DEALS,
    SERIES_BLOCKS,
    BatchPlan,
    Seeds,
    list_seated_rulesets,
    make_schedule,
)
from tournaments.league.store import Store
from tournaments.running.anonymity import anonymize


class UnfitBot(DataError):
    """A bot is not made for a ruleset that is played."""

    def __init__(self, sentence: str, bot: BotSpec) -> None:
        super().__init__(sentence)
        self.bot = bot


class Plan:
    """Everything that a run needs before its first game; constructing a plan starts no process.

    Args:
        config: the content of the tournament file.
        entrants: the bots of its entries, in that order.
        rulesets: its rulesets, in that order.
        seed: 32 bytes.
        labels: those of the entries; by default, what the configuration and the bots say.

    Raises:
        DataError: two entries or rulesets share a name, a bot is not made for a ruleset, the anchor is not an entry,
            there are too few entries, or bots that think at the same time share a processor under wall clocks.
    """

    def __init__(
        self,
        config: Config,
        entrants: Sequence[Enrolled],
        rulesets: Sequence[Ruleset],
        seed: bytes,
        labels: Sequence[str] = (),
    ) -> None:
        self.config = config
        bots = [each.bot for each in entrants]
        labels = labels or _choose_labels(config, bots)
        _refuse_doubles("entries", labels)
        if config.anchor is not None and config.anchor not in labels:
            raise DataError(f"anchor: no entry {config.anchor!r}; entries: {', '.join(labels)}")
        _refuse_doubles("rulesets", [ruleset.name for ruleset in rulesets])
        _refuse_unfit_bots(labels, bots, rulesets)
        self.bots = tuple(bots)
        self.players = tuple(
            replace(bot.make_player(label), anonymous=config.anonymous) for bot, label in zip(bots, labels, strict=True)
        )
        self.people = tuple(label for bot, label in zip(bots, labels, strict=True) if bot == PERSON)
        self.absences = {label: each.absence for label, each in zip(labels, entrants, strict=True) if each.absence}
        """By label, why entries cannot play; the roll call adds those that cannot be greeted."""
        self.keep_going = False
        """Whether the others play if entries are absent."""
        self.rulesets = tuple(rulesets)
        self.seeds = Seeds(seed)
        seated = list(list_seated_rulesets(config, self.rulesets))
        _refuse_shared_processors(config, seated)
        self.schedule = make_schedule(config, self.rulesets, labels, self.seeds)
        self.teams = {ruleset.name: make_rules(ruleset.family, ruleset.rules, seats).teams for ruleset, seats in seated}
        self._turns = {ruleset.name: ruleset.match.max_turns for ruleset in self.rulesets}
        self.isolation = Isolation(config.isolation, config.memory_mb, config.freeze)
        self.stderr = False
        """Whether the bots' stderr is reported line by line."""

    @classmethod
    def prepare(
        cls,
        config: Config,
        base: Path,
        seed: bytes | None = None,
        find: Find = find_bot,
        labels: Sequence[str] = (),
    ) -> Plan:
        """Find and build the bots of a configuration, load its rulesets, and plan its games.

        Args:
            config: the content of the tournament file.
            base: the folder that the paths of its bots and rulesets are relative to.
            seed: 32 bytes; by default the digest of the configured seed, or drawn.
            find: returns the bot that an entry names.
            labels: as in `Plan`.

        Entries that cannot be found or built are absent.

        Raises:
            DataError: a ruleset is unknown or does not fit, or as in `Plan`.
        """
        words = [entry if isinstance(entry, str) else entry.bot for entry in config.entries]
        rulesets = [find_ruleset(name, base) for name in config.rulesets]
        entrants = enroll(words, base, find)
        if seed is None:
            seed = secrets.token_bytes(32) if config.seed is None else hashlib.sha256(config.seed.encode()).digest()
        return cls(config, entrants, rulesets, seed, labels)

    def hide(self, league: Path) -> None:
        """Hide the league from all bots, wherever it lies: it holds the seed."""
        self.isolation = replace(self.isolation, hidden=list_league_files(league))

    def list_entries(self) -> tuple[Entry, ...]:
        """Return the entries as the league stores them."""
        return tuple(
            Entry(
                player.label,
                bot.hash,
                bot.manifest.name,
                bot.manifest.version,
                bot.manifest.author,
                bot.manifest.language,
                bot.manifest.run,
                bot.made_for,
                self.absences.get(player.label),
            )
            for player, bot in zip(self.players, self.bots, strict=True)
        )

    def make_tournament(self) -> Tournament:
        """Return the tournament as the league stores it."""
        return Tournament(
            name=self.config.name,
            commit=self.seeds.commit,
            seed=None,
            complete=False,
            planned=self.schedule.total,
            created=time.time(),
            rulesets={ruleset.name: ruleset for ruleset in self.rulesets},
        )

    def open_batches(self, done: set[Key], wanted: Callable[[Key], bool] = lambda key: True) -> Iterator[Batch]:
        """Yield the batches that must still be played, without the games that are done or no longer wanted."""
        return self._make_batches(done, self.schedule.batches(), wanted)

    def is_playable(self, key: Key) -> bool:
        """Return whether no entry of a game is absent."""
        return not self.absences or self.absences.keys().isdisjoint(self.list_labels(key))

    def list_labels(self, key: Key) -> tuple[str, ...]:
        """Return the labels of the entries that meet in a game, in the order of the table."""
        return tuple(self.players[entry].label for entry in self.schedule.tables[key.table].entries)

    def more_batches(self, games: Sequence[Game], suspended: Collection[str] = ()) -> list[Batch]:
        """Return the batches beyond the schedule that open series need next; empty when all series are decided.

        A pure function of the finished games: the next block of deals of each table that has an open series and no
        suspended entry. Empty if the configuration has no series.
        """
        if not self.config.series:
            return []
        targets = {ruleset.name: ruleset.match.target for ruleset in self.rulesets}
        decided = {key for key, score in series.score_series(games, targets) if score.won}
        done = {game.key for game in games}
        batches: list[Batch] = []
        for number, table in enumerate(self.schedule.tables):
            if not targets[table.ruleset.name] or any(self.players[each].label in suspended for each in table.entries):
                continue
            for block in range(SERIES_BLOCKS):
                if self._are_all_decided(number, self.schedule.deals + block * BLOCK_DEALS, decided):
                    break
                if missing := list(self._make_batches(done, self.schedule.more(number, block))):
                    batches += missing
                    break
        return batches

    def _are_all_decided(self, table: int, deals: int, decided: set[Key]) -> bool:
        """Return whether in every rotation the series that was open at the end of the schedule is decided."""
        last = self.schedule.deals - 1
        return all(
            any(Key(table, deal, rotation) in decided for deal in range(last, deals))
            for rotation in range(len(self.schedule.tables[table].entries))
        )

    def _make_batches(
        self, done: set[Key], plans: Iterator[BatchPlan], wanted: Callable[[Key], bool] = lambda key: True
    ) -> Iterator[Batch]:
        for plan in plans:
            keys = [key for key in plan.games() if key not in done and wanted(key)]
            if keys:
                yield self.make_batch(plan, keys)

    def make_batch(self, plan: BatchPlan, keys: list[Key]) -> Batch:
        """Return a batch as a referee process reads it."""
        table = self.schedule.tables[plan.table]
        return Batch(
            family=table.ruleset.family,
            ruleset=table.ruleset.name,
            rules=table.ruleset.rules,
            players=tuple(self.players[entry] for entry in table.entries),
            clock=self.make_clock(),
            init_ms=self.config.init_ms,
            commit=self.seeds.commit,
            games=tuple(self.seeds.order(key, len(table.entries)) for key in keys),
            isolation=self.isolation,
            stderr=self.stderr,
        )

    def make_clock(self) -> ClockRules:
        """Return the clock as a referee process reads it."""
        return convert(to_builtins(self.config.clock), ClockRules)

    def make_game(self, record: Record) -> Game:
        """Return the part of a record that standings need."""
        return summarize_record(record, self.schedule.number(record.key), self.teams[record.ruleset])

    def compute_longest_ms(self) -> int | None:
        """Return the longest time that the clocks allow for all games, played one by one; None if they set no limit."""
        total = 0
        for table in self.schedule.tables:
            longest = self.compute_game_ms(table.ruleset.name)
            if longest is None:
                return None
            total += longest * len(table.entries) * self.schedule.deals
        return total

    def compute_game_ms(self, ruleset: str) -> int | None:
        """Return the longest time that the clocks allow for one game under a ruleset; None if they set no limit."""
        clock, config, turns = self.config.clock, self.config, self._turns[ruleset]
        if clock.bank_ms is None or clock.kind == "cpu" or self.people or turns is None:
            return None
        seat = clock.bank_ms + clock.increment_ms * turns + 3 * config.init_ms + clock.margin_ms
        return seat * len(self.teams[ruleset])


def _choose_labels(config: Config, bots: Sequence[BotSpec]) -> list[str]:
    lines = [EntryLine(entry) if isinstance(entry, str) else entry for entry in config.entries]
    return assign_labels(line.label or bot.manifest.name for line, bot in zip(lines, bots, strict=True))


def _refuse_doubles(what: str, names: Sequence[str]) -> None:
    doubles = [name for name, count in Counter(names).items() if count > 1]
    if doubles:
        raise DataError(f"{what}: expected distinct names, got more than once: {', '.join(map(repr, doubles))}")


def _refuse_unfit_bots(labels: Sequence[str], entrants: Sequence[BotSpec], rulesets: Sequence[Ruleset]) -> None:
    """Make sure that every bot is made for every ruleset, because every entry plays all of them."""
    for label, bot in zip(labels, entrants, strict=True):
        unfit = [ruleset.name for ruleset in rulesets if bot.made_for and ruleset.name not in bot.made_for]
        if unfit:
            made_for = ", ".join(bot.made_for)
            sentence = f"{label}: is made for {made_for} (rulesets in its bot.toml), not for {', '.join(unfit)}"
            raise UnfitBot(sentence, bot)


def _refuse_shared_processors(config: Config, seated: Sequence[tuple[Ruleset, int]]) -> None:
    """Make sure that wall clocks do not charge a bot for the time in which another one has its processor."""
    clock = config.clock
    if clock.kind == "cpu" or (clock.move_ms is None and clock.bank_ms is None):
        return
    processors = min(config.cpus_per_game, len(os.sched_getaffinity(0)) // max(1, config.jobs))
    for ruleset, seats in seated:
        if ruleset.match.simultaneous and processors < seats:
            raise DataError(
                f"{ruleset.name}: asks up to {seats} seats at the same time, so clocks of wall time need a processor"
                f" for each: expected cpus_per_game = {seats}, and as many processors for every game, got {processors};"
                ' or set kind = "cpu" in [clock]'
            )


def open_league(store: Store, config: Config, base: Path, find: Find = find_bot) -> Plan:
    """Create the tournament in an empty league, or resume the one that the league holds if it is the same.

    Raises:
        LeagueError: the league holds another tournament, or a bot or a ruleset has changed since it began.
        DataError: as in `Plan.prepare`.
    """
    if store.is_empty():
        plan = Plan.prepare(config, base, find=find)
        if config.anonymous:
            plan = anonymize(plan, find_name_list(store.path), new=True)
        plan.hide(store.path)
        store.create_tournament(
            plan.config, plan.seeds.seed, plan.make_tournament(), plan.list_entries(), plan.rulesets
        )
        return plan
    if not config.anonymous:
        _refuse_differences(store, config)
    entries = store.entries()
    # The labels of an anonymous league say nothing about its bots.
    labels = () if config.anonymous else tuple(entry.label for entry in entries)
    plan = Plan.prepare(config, base, store.seed(), find, labels)
    if config.anonymous:
        plan = anonymize(plan, find_name_list(store.path), new=False)
        _refuse_differences(store, plan.config)
    plan.hide(store.path)
    absent = {entry.label for entry in entries if entry.absence}
    unplayed = absent - {label for game in store.games() for label in game.labels} if absent else absent
    for old, new in zip(entries, plan.list_entries(), strict=True):
        if old.hash != new.hash and old.label not in unplayed and not new.absence:
            raise LeagueError(
                f"{old.label}: the bot has changed since the tournament began (its hash was {old.hash[:12]},"
                f" is {new.hash[:12]}); start a new tournament with another --db"
            )
    if plan.rulesets != store.rulesets():
        raise LeagueError(f"{store.path}: a ruleset has changed since the tournament began")
    return plan


def _refuse_differences(store: Store, config: Config) -> None:
    if differences := describe_differences(store.config(), config):
        raise LeagueError(
            f"{store.path}: holds another tournament, with {differences}; a tournament cannot change once it has begun:"
            " use another --db for a new one"
        )
