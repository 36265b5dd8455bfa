"""Tournaments, and the league that they form: a pure function of the events of its journal."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict

from malice.referee.errors import DataError
from malice.referee.families import load_family, make_rules
from malice.referee.game import Position
from malice.referee.records import Key, OldRules
from malice.referee.rulesets import Ruleset
from malice.tournaments.league.config import Config, check_config
from malice.tournaments.league.contents import NO_VERSION, Entry, GameSummary, Readmission
from malice.tournaments.league.formats import Format, load_format
from malice.tournaments.league.journal import (
    AnyEvent,
    Begun,
    FileEntry,
    FileRead,
    Overrun,
    PartClosed,
    PartCreated,
    Readmitted,
    Renamed,
    Revisions,
    Seeded,
    ShareChosen,
    State,
    StateChanged,
    Version,
    relabel_event,
    restore_ruleset,
)
from malice.tournaments.league.parts import Draft, Part, PartTable, Schedule, Seeds, VersionKey, derive_part_seed


class OrganiserDecision(Struct, frozen=True):
    """What the organiser decided about an entry."""

    state: State = "playing"
    reason: str = ""


class Tournament:
    """A tournament: its file, its parts, and the states of its entries.

    Args:
        name: its name.
        seed: 32 bytes, secret for ever.
        created: seconds since 1970, UTC.
        league: knows the versions and the labels of the entries.
    """

    def __init__(self, name: str, seed: bytes, created: float, league: Tournaments) -> None:
        self.name = name
        self.secret = seed
        self.created = created
        self.parts: list[Part] = []
        self.schedules: list[Schedule] = []
        self.revisions: list[Revisions] = []
        """By part, what decided about it."""
        self.closed: set[int] = set()
        self.barred: list[frozenset[str]] = []
        """By part, the labels of those that it leaves out because they were suspended when it was created."""
        self.absent: dict[int, frozenset[str]] = {}
        """By closed part, the labels of those whose games in it were left unplayed."""
        self.states: dict[str, OrganiserDecision] = {}
        self.share = ""
        """The share of the open parts that this file plays, such as `2/3`; empty if it plays all of them."""
        self.overruns: list[Overrun] = []
        """The games that were given up because the time of a run was over."""
        self.readmissions: set[Readmission] = set()
        """All lifted suspensions."""
        self.lifted: set[Readmission] = set()
        """Those that were lifted while their part was open: only there the games after them count."""
        self.config = Config(entries=())
        self.rulesets: dict[str, Ruleset] = {}
        self.file_entries: tuple[FileEntry, ...] = ()
        self.seeding: tuple[str, ...] = ()
        """The labels in the order of their ratings when a knockout began; empty if it is seeded by the file."""
        self._file: FileRead | None = None
        self._files: list[FileRead | None] = []
        """By part, the file that it was created from."""
        self._old_rules: dict[tuple[int, str], OldRules | UnsetType] = {}
        self._current: dict[str, int] = {}
        self._teams: dict[tuple[str, int], tuple[int, ...]] = {}
        self._league = league

    def fork(self, league: Tournaments) -> Tournament:
        """A copy that changes independently."""
        other = copy.copy(self)
        other._league = league
        other.parts, other.schedules = self.parts.copy(), self.schedules.copy()
        other.revisions, other._files = self.revisions.copy(), self._files.copy()
        other._old_rules = self._old_rules.copy()
        other.closed, other.states = self.closed.copy(), self.states.copy()
        other.barred, other.absent = self.barred.copy(), self.absent.copy()
        other.overruns = self.overruns.copy()
        other.readmissions, other.lifted = self.readmissions.copy(), self.lifted.copy()
        return other

    # What follows from the events

    @property
    def format(self) -> Format:
        return load_format(self.config.format)

    @property
    def complete(self) -> bool:
        """Whether no part is open."""
        return bool(self.parts) and len(self.closed) == len(self.parts)

    @property
    def planned(self) -> int:
        """How many games all parts have together."""
        return sum(schedule.total for schedule in self.schedules)

    @property
    def open_parts(self) -> list[Schedule]:
        """The parts that are played."""
        return [schedule for schedule in self.schedules if schedule.part.number not in self.closed]

    @property
    def names(self) -> Mapping[str, str]:
        """By labels that entries bore, those that they bear today."""
        return self._league.names

    def identify(self, label: str) -> str:
        """The label of today of an entry that bore this one."""
        return self.names.get(label, label)

    def call(self, label: str) -> str:
        """The label that an entry bears at this point of the journal: what is drawn by labels is drawn by this one."""
        return self._league.called.get(label, label)

    def schedule(self, part: Part) -> Schedule:
        """The games of a part, by the rulesets as the newest file has them."""
        return Schedule(part, [name for name, ruleset in self.rulesets.items() if ruleset.match.same_deal])

    def seeds(self, part: int) -> Seeds:
        """The seeds of a part, which are secret until it is closed."""
        seed = derive_part_seed(self.secret, self.name, part)
        return Seeds(seed, common=self.parts[part].common_deals, seated=bool(self.config.positions))

    def teams(self, ruleset: str, seats: int) -> tuple[int, ...]:
        """The team of each seat under a ruleset.

        Raises:
            DataError: it does not allow this number of seats.
        """
        if (ruleset, seats) not in self._teams:
            found = self.rulesets[ruleset]
            self._teams[ruleset, seats] = make_rules(found.family, found.rules, seats).teams
        return self._teams[ruleset, seats]

    def find_old_rules(self, part: int, ruleset: str) -> OldRules | UnsetType:
        """Find the rules of a ruleset in a part if those of its family have changed since; else UNSET."""
        if (part, ruleset) not in self._old_rules:
            family = self.rulesets[ruleset].family
            revision, file = self.revisions[part].families.get(family, 1), self._files[part]
            old: OldRules | UnsetType = UNSET
            if revision != load_family(family).revision and file:
                stored = next(each for each in file.rulesets if each.name == ruleset)
                old = OldRules(revision, stored.rules)
            self._old_rules[part, ruleset] = old
        return self._old_rules[part, ruleset]

    def find_position(self, key: Key) -> Position | UnsetType:
        """Where a game begins; UNSET if with its deal."""
        return self.config.positions[key.deal] if self.config.positions else UNSET

    def version(self, key: VersionKey) -> Version:
        """What the league knows of a version.

        Raises:
            ValueError: it knows no such version.
        """
        known = self._league.versions.get(key.label, ())
        if key.number > len(known):
            raise ValueError(f"expected a version of {key.label!r} up to {len(known)}, got {key.number}")
        return known[key.number - 1]

    def current(self) -> Mapping[str, int]:
        """The version that plays, by label; entries of which none could be started are left out."""
        return self._current

    def waiting(self) -> set[str]:
        """The labels of the entries whose games wait until their bots are mended."""
        return {entry.label for entry in self.file_entries if entry.waits}

    def state(self, label: str) -> OrganiserDecision:
        return self.states.get(label, OrganiserDecision())

    def excuses(self, version: VersionKey) -> bool:
        """Whether a version plays no more: its entry left, or a newer version plays."""
        return self.state(version.label).state != "playing" or self._current.get(version.label) != version.number

    def list_entries(self) -> tuple[Entry, ...]:
        """The entries in the order of the file."""
        return tuple(map(self._make_entry, self.file_entries))

    def _make_entry(self, entry: FileEntry) -> Entry:
        label, decision = entry.label, self.state(entry.label)
        version = self.version(VersionKey(label, entry.version)) if entry.version else NO_VERSION
        overruns = sum(each.label == label for each in self.overruns)
        return Entry(label, version, entry.absence, decision.state, decision.reason, entry.waits, overruns)

    # Events

    def apply(self, event: AnyEvent, next_game: int) -> None:
        """Let an event happen.

        Args:
            event: anything but a beginning or a version.
            next_game: the number of the first game of a new part.

        Raises:
            ValueError: it contradicts what happened before.
            DataError: a stored ruleset cannot be played.
        """
        match event:
            case FileRead():
                self._read_file(event)
            case Seeded(labels):
                self._seed(labels)
            case PartCreated():
                self._create(event, next_game)
                self.barred.append(frozenset(event.suspended))
            case PartClosed(part, absent):
                if part in self.closed or part >= len(self.parts):
                    raise ValueError(f"part {part} cannot close: expected an open part")
                self.closed.add(part)
                self.absent[part] = frozenset(absent)
                self.share = ""
            case ShareChosen(share):
                if self.share or not self.open_parts:
                    raise ValueError(f"share {share}: expected an open part, and no share chosen before")
                self.share = share
            case Overrun(key, label):
                if key.part >= len(self.parts) or not self.schedules[key.part].has(key):
                    raise ValueError(f"overrun: there is no game {key}")
                if label not in self.schedules[key.part].labels[key.table]:
                    raise ValueError(f"overrun: {label!r} does not play in game {key}")
                self.overruns.append(event)
            case StateChanged(label, state, reason):
                self._require_label(label)
                self.states[label] = OrganiserDecision(state, reason)
            case Readmitted(label, number):
                self._readmit(label, number)
            case Begun() | Version() | Renamed():
                raise ValueError(f"unexpected event {event}")

    def _read_file(self, event: FileRead) -> None:
        config = check_config(event.config, "config")
        if config.name != self.name:
            raise ValueError(f"name: the tournament is {self.name!r}, the file says {config.name!r}")
        if config.seed is not None and sha256(config.seed.encode()).digest() != self.secret:
            raise ValueError("the seed is not the one that the file gives")
        expected = [Path(name).stem if name.endswith(".toml") else name for name in config.rulesets]
        if expected != [ruleset.name for ruleset in event.rulesets]:
            raise ValueError(f"rulesets: expected {', '.join(expected)}")
        labels = [entry.label for entry in event.entries]
        _refuse_doubles(labels)
        gone = {version.label for part in self.parts for table in part.tables for version in table.versions} - {*labels}
        if gone:
            raise ValueError(f"entries: expected {min(gone)!r} among them, which has played")
        if config.anchor is not None and config.anchor not in labels:
            raise ValueError(f"expected the anchor {config.anchor!r} among the labels")
        for entry in event.entries:
            if entry.version:
                self.version(VersionKey(entry.label, entry.version))
        self.rulesets = {stored.name: restore_ruleset(stored) for stored in event.rulesets}
        self._current = {entry.label: entry.version for entry in event.entries if entry.version}
        self.config, self.file_entries, self._file = config, event.entries, event

    def has_file(self, event: FileRead) -> bool:
        """Whether the newest file says the same."""
        return self._file == event

    def make_part(self, draft: Draft, first: int) -> Part:
        """The part that a draft becomes if it is created now."""
        number = len(self.parts)
        commit = Seeds(derive_part_seed(self.secret, self.name, number)).commit
        return Part(**asdict(draft), number=number, first=first, commit=commit)

    def _seed(self, labels: tuple[str, ...]) -> None:
        if self.parts or self.config.seeding != "rating":
            raise ValueError('seeds: expected them before the first part, with seeding = "rating"')
        if sorted(labels) != sorted(entry.label for entry in self.file_entries):
            raise ValueError("seeds: expected every entry once")
        self.seeding = labels

    def _create(self, event: PartCreated, next_game: int) -> None:
        part = event.part
        if self.config.seeding == "rating" and not self.seeding:
            raise ValueError('expected seeds before the first part, since seeding = "rating"')
        draft = Draft(**{name: getattr(part, name) for name in Draft.__struct_fields__})
        expected = self.make_part(draft, next_game)
        if part != expected:
            wrong = next(name for name in Part.__struct_fields__ if getattr(part, name) != getattr(expected, name))
            raise ValueError(f"{wrong}: expected {getattr(expected, wrong)!r}, got {getattr(part, wrong)!r}")
        for table in part.tables:
            self._refuse_table(table, event.revisions)
        self._refuse_versions(part.byes)
        self.revisions.append(event.revisions)
        self._files.append(self._file)
        self.parts.append(part)
        self.schedules.append(self.schedule(part))

    def _refuse_versions(self, versions: Sequence[VersionKey]) -> None:
        for version in versions:
            if self._current.get(version.label) != version.number:
                raise ValueError(f"versions: expected versions that play, got {version.label!r} {version.number}")

    def _refuse_table(self, table: PartTable, revisions: Revisions) -> None:
        if table.ruleset not in self.rulesets:
            raise ValueError(f"ruleset: expected one of {', '.join(self.rulesets)}, got {table.ruleset!r}")
        self._refuse_versions(table.versions)
        _refuse_doubles([version.label for version in table.versions])
        try:
            self.teams(table.ruleset, len(table.versions))
        except DataError as error:
            family = self.rulesets[table.ruleset].family
            if revisions.families.get(family, 1) == load_family(family).revision:
                raise ValueError(f"{table.ruleset}: {error}") from None
        if table.after is not None:
            part, number = table.after
            if part >= len(self.parts) or number >= len(self.parts[part].tables):
                raise ValueError(f"after: there is no table {part}.{number}")
            before = self.parts[part].tables[number]
            if before.ruleset != table.ruleset or before.versions != table.versions:
                raise ValueError(f"after: expected the entries of table {part}.{number}, got others")

    def _readmit(self, label: str, number: int) -> None:
        self._require_label(label)
        part = next((each.part.number for each in self.schedules if 0 <= number - each.part.first < each.total), None)
        if part is None or (label, number) in self.readmissions:
            raise ValueError(f"{label!r} cannot be readmitted after game number {number}")
        self.readmissions.add((label, number))
        if part not in self.closed:
            self.lifted.add((label, number))

    def _require_label(self, label: str) -> None:
        if label not in {entry.label for entry in self.file_entries}:
            raise ValueError(f"{label!r} is no entry")


def _refuse_doubles(labels: Sequence[str]) -> None:
    doubles = [label for label, count in Counter(labels).items() if count > 1]
    if doubles:
        raise ValueError(f"expected distinct labels, got more than once: {', '.join(map(repr, doubles))}")


ListGames = Callable[[str], Iterable[GameSummary]]
"""Returns the stored games of a tournament of a league, in playing order."""


class Tournaments:
    """All tournaments of a league, in the order in which they began, all of it under the labels of today.

    Args:
        names: by labels that entries bore, those that they bear today.
    """

    def __init__(self, names: Mapping[str, str] = MappingProxyType({})) -> None:
        self.names = names
        self.called = {new: next(old for old in names if names[old] == new) for new in names.values()}
        """By labels of today, those at this point of the journal."""
        self.tournaments: dict[str, Tournament] = {}
        self.versions: dict[str, list[Version]] = {}
        self.games = 0
        """How many games all parts have together; the number of the next part's first game."""

    def fork(self) -> Tournaments:
        """A copy that changes independently."""
        other = Tournaments(self.names)
        other.called = dict(self.called)
        other.versions = {label: list(versions) for label, versions in self.versions.items()}
        other.tournaments = {name: each.fork(other) for name, each in self.tournaments.items()}
        other.games = self.games
        return other

    def list_meant(self) -> list[str]:
        """List the tournaments that a command means which names none: all but comparisons, if there are others."""
        plain = [name for name, each in self.tournaments.items() if not each.format.compares]
        return plain or list(self.tournaments)

    def choose(self, name: str) -> list[str]:
        """Spell how a command chooses a tournament; no words if no other can be meant."""
        return [] if self.list_meant() == [name] else ["--tournament", name]

    def apply(self, name: str, event: AnyEvent, at: float) -> None:
        """Let an event of a tournament happen.

        Raises:
            ValueError: it contradicts what happened before.
            DataError: a stored ruleset cannot be played.
        """
        if isinstance(event, Renamed):
            self._rename(event)
            return
        event = relabel_event(event, self.names) if self.names else event
        if isinstance(event, Begun):
            if name in self.tournaments:
                raise ValueError(f"tournament {name!r} began before")
            self.tournaments[name] = Tournament(name, bytes.fromhex(event.seed), at, self)
            return
        if name not in self.tournaments:
            raise ValueError(f"tournament {name!r} has not begun")
        if isinstance(event, Version):
            self._add_version(event)
            return
        self.tournaments[name].apply(event, self.games)
        if isinstance(event, PartCreated):
            self.games += self.tournaments[name].schedules[-1].total

    def _rename(self, event: Renamed) -> None:
        today = self.names.get(event.new, event.new)
        if event.label not in self.names:  # it is about to happen: whoever reads the journal anew knows it
            if event.new in self.list_labels() or event.new in self.names:
                raise ValueError(f"{event.new!r} is, or was, the label of an entry")
            return
        if self.called.get(today) != event.label:
            raise ValueError(f"{event.label!r} is no entry")
        self.called[today] = event.new

    def list_labels(self) -> set[str]:
        """The labels of all entries of all tournaments, as they are today."""
        return {entry.label for each in self.tournaments.values() for entry in each.file_entries} | self.versions.keys()

    def _add_version(self, version: Version) -> None:
        known = self.versions.setdefault(version.label, [])
        if version.number != len(known) + 1:
            raise ValueError(f"number: expected version {len(known) + 1} of {version.label!r}, got {version.number}")
        if any(each.hash == version.hash for each in known):
            raise ValueError(f"hash: {version.label!r} played under it before")
        known.append(version)

    def find_version(self, label: str, hash: str) -> int:
        """The number of the version that a label has under a content hash; a new number for a new one."""
        known = self.versions.get(label, [])
        return next((each.number for each in known if each.hash == hash), len(known) + 1)


Place = tuple[int, int]
"""A part, and a table in it."""


class Workload(NamedTuple):
    """The extent of a tournament."""

    tables: int
    """A table that goes on with another one counts once."""
    games: int
    batches: int


def count_games(keys: Iterable[Key]) -> Counter[Place]:
    return Counter((key.part, key.table) for key in keys)


def measure_workload(tournament: Tournament, played: Mapping[Place, int]) -> Workload:
    """Count what was played and what is open; of an entry that left, or of an older version, only what was played.

    Args:
        tournament: the tournament.
        played: the number of finished games by part and table.
    """
    games = {place: count for place, count in played.items() if count} | _list_open(tournament)
    befores = {tournament.parts[part].tables[table].after for part, table in games}
    batches = sum(_count_batches(tournament, place, count) for place, count in games.items())
    return Workload(len(games.keys() - befores), sum(games.values()), batches)


def _list_open(tournament: Tournament) -> dict[Place, int]:
    """How many games the tables of open parts have whose entries still play."""
    return {
        (schedule.part.number, number): schedule.deals * schedule.rotations[number]
        for schedule in tournament.open_parts
        for number, table in enumerate(schedule.part.tables)
        if not any(map(tournament.excuses, table.versions))
    }


def _count_batches(tournament: Tournament, place: Place, games: int) -> int:
    part, table = place
    schedule = tournament.schedules[part]
    rotations = schedule.rotations[table]
    if games < schedule.deals * rotations:
        return -(-games // schedule.batch_deals)
    return rotations * -(-schedule.deals // schedule.batch_deals)
