"""Reads a league: typed rows, decoded JSON, and an error where stored values contradict each other."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec

from protocol.errors import MaliceError
from referee.errors import DataError, FamilyError
from referee.families import has_family, parse_parameters
from referee.nouns import format_count
from referee.records import Key, Record
from referee.rulesets import Ruleset
from tournaments.errors import LeagueError
from tournaments.league.config import Config, check_config
from tournaments.league.contents import Absence, Entry, Game, Readmission, Tournament
from tournaments.league.damage import Common, find_teams, refuse_entries, refuse_game, refuse_record
from tournaments.league.file import LeagueFile, Row
from tournaments.league.packing import unpack_record
from tournaments.league.rows import (
    AbsenceRow,
    EntryRow,
    GameRow,
    OneRow,
    ReadmissionRow,
    RecordedRow,
    RulesetRow,
    TournamentRow,
)
from tournaments.league.schedule import Seeds

T = TypeVar("T")
G = TypeVar("G", bound=GameRow)

_summaries = msgspec.json.Decoder(Game)
_configs = msgspec.json.Decoder(Config)
_rules = msgspec.json.Decoder(dict[str, Any])
_words = msgspec.json.Decoder(tuple[str, ...])


class LeagueReader:
    """A league that is open for reading.

    Every method raises `DamagedLeague` if a value cannot be read or contradicts another, and `LockedLeague` if
    another program keeps the file locked.

    Args:
        file: the league's file.
    """

    def __init__(self, file: LeagueFile) -> None:
        self.path = file.path
        self._file = file
        self._tables: frozenset[str] = frozenset()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one consistent state: games that a run adds meanwhile stay invisible."""
        with self._file.transaction(write=False):
            yield

    def integrity(self) -> str:
        """Return the first problem that SQLite finds in the whole file, or an empty string."""
        return self._file.integrity()

    def is_empty(self) -> bool:
        """Return whether no game is stored yet, so that another tournament may be created here."""
        if not self._tables:
            return True
        # Check the index and the records too: damage that hides games must not look like their absence.
        filled = [
            self._file.number(f"SELECT EXISTS (SELECT 1 FROM {rows})", f"table {rows.split()[0]}")
            for rows in ("games NOT INDEXED", "games", "records")
        ]
        if len(set(filled)) > 1:
            raise self._file.damage("table games", "expected a game for each record, and each in the index of keys")
        return not filled[0]

    def config(self) -> Config:
        """Return the configuration with which the tournament was created."""
        row = self._load_tournament()
        config = self._decode(_configs, row, "config", row.config)
        try:
            check_config(config, "config")
            if config.name != row.name:
                raise ValueError(f"name: the column name has {row.name!r}, the configuration {config.name!r}")
        except (DataError, ValueError) as error:
            raise self._file.damage(f"{row.place()}, column config", str(error)) from None
        return config

    def seed(self) -> bytes:
        """Return the seed, which is secret until the tournament is complete."""
        return self._load_tournament().seed

    def _load_tournament(self) -> TournamentRow:
        rows = list(self._file.rows(TournamentRow)) if self._tables else []
        if not rows and self.is_empty():
            raise LeagueError(f"{self.path}: holds no tournament")
        if len(rows) != 1:
            raise self._file.damage("table tournament", f"expected one row, got {len(rows)}")
        (row,) = rows
        if (commit := Seeds(row.seed).commit) != row.commit:
            raise self._file.damage(row.place(), f"the seed's commit is {commit}, the tournament says {row.commit}")
        return row

    def _decode(self, decoder: msgspec.json.Decoder[T], row: Row, column: str, text: str) -> T:
        try:
            return decoder.decode(text)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise self._file.damage(f"{row.place()}, column {column}", str(error)) from None

    def tournament(self) -> Tournament:
        """Return the tournament."""
        row = self._load_tournament()
        return Tournament(
            name=row.name,
            commit=row.commit,
            seed=row.seed.hex() if row.complete else None,
            complete=bool(row.complete),
            planned=row.planned,
            created=row.created,
            rulesets={ruleset.name: ruleset for ruleset in self.rulesets()},
        )

    def rulesets(self) -> tuple[Ruleset, ...]:
        """Return the rulesets that are played."""
        rows = list(self._file.rows(RulesetRow, "ORDER BY rulesets.rowid"))
        rulesets = tuple(map(self._decode_ruleset, rows))
        self._find_teams(rulesets)
        return rulesets

    def _decode_ruleset(self, row: RulesetRow) -> Ruleset:
        if row.package and not has_family(row.family):
            raise LeagueError(
                f"{self.path}: the game {row.family!r} comes from the package {row.package!r}, which is not installed"
            )
        where = f"{row.place()}, column rules"
        try:
            rules = parse_parameters(row.family, self._decode(_rules, row, "rules", row.rules))
        except (FamilyError, msgspec.ValidationError) as error:
            if row.package and isinstance(error, FamilyError):
                raise LeagueError(f"{self.path}: {error}") from None
            raise self._file.damage(where, str(error)) from None
        return Ruleset(row.name, row.family, row.about, row.source, rules)

    def _find_teams(self, rulesets: tuple[Ruleset, ...]) -> dict[str, tuple[int, ...]]:
        try:
            return find_teams({ruleset.name: ruleset for ruleset in rulesets}, self.config())
        except ValueError as error:
            raise self._file.damage("table rulesets", str(error)) from None

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries in the order of the tournament file."""
        rows = list(self._file.rows(EntryRow, "ORDER BY entries.position"))
        absences = self._absences()
        entries = tuple(
            Entry(
                *(row.label, row.hash, row.name, row.version, row.author, row.language),
                self._decode(_words, row, "command", row.command),
                self._decode(_words, row, "rulesets", row.rulesets),
                absences.pop(row.label, None),
            )
            for row in rows
        )
        try:
            refuse_entries(entries, [row.position for row in rows], self.config())
        except ValueError as error:
            raise self._file.damage("table entries", str(error)) from None
        if absences:
            raise self._file.damage("table absences", f"expected labels of entries, got {min(absences)!r}")
        return entries

    def _absences(self) -> dict[str, Absence]:
        if "absences" not in self._tables:
            return {}
        return {row.label: Absence(row.code, row.sentence, row.output) for row in self._file.rows(AbsenceRow)}

    def readmissions(self) -> set[Readmission]:
        """Return the suspensions that were lifted."""
        if "readmissions" not in self._tables:
            return set()
        return {(row.label, row.number) for row in self._file.rows(ReadmissionRow)}

    def keys(self) -> set[Key]:
        """Return the keys of all finished games."""
        return {game.key for game in self.games()} if self._tables else set()

    def games(self) -> Iterator[Game]:
        """Return every finished game without its actions, in the order of the schedule."""
        common = self._load_common()
        return (self._decode_game(row, common) for row in self._list_in_order(GameRow))

    def records(self) -> Iterator[Record]:
        """Return the record of every finished game, in the order of the schedule."""
        return (record for _, record in self.rows())

    def rows(self) -> Iterator[tuple[Game, Record]]:
        """Return every finished game with its record, in the order of the schedule."""
        common = self._load_common()
        for count, row in enumerate(self._list_in_order(RecordedRow), 1):
            yield self._unpack_row(row, common)
            if count == row.games != row.records:
                raise self._file.damage("table records", f"expected {row.games} records, got {row.records}")

    def record(self, key: Key) -> Record:
        """Return the record of one game.

        Raises:
            LeagueError: the league does not hold it.
        """
        place = (key.table, key.deal, key.rotation)
        where = 'WHERE games."table" = ? AND games.deal = ? AND games.rotation = ?'
        row = next(self._file.rows(OneRow, where, place), None)
        if row is None:
            # A damaged index must not look like the absence of a game: read every row.
            if key in self.keys():
                raise self._file.damage("table games", f"game {key} is not in the index of keys")
            raise LeagueError(f"{self.path}: no game {key}")
        return self._unpack_row(row, self._load_common())[1]

    def _load_common(self) -> Common:
        rulesets = self.rulesets()
        return Common(
            rulesets={ruleset.name: ruleset for ruleset in rulesets},
            teams=self._find_teams(rulesets),
            labels=frozenset(entry.label for entry in self.entries()),
            commit=self._load_tournament().commit,
        )

    def _list_in_order(self, kind: type[G]) -> Iterator[G]:
        """Return the games by number; refuse a B-tree in which a branch is missing or occurs twice."""
        last, count, expected = -1, 0, 0
        for row in self._file.rows(kind, "ORDER BY games.number"):
            if row.number <= last:
                raise self._file.damage(row.place(), f"expected a number above {last}")
            last, count, expected = row.number, count + 1, row.games
            yield row
        if count != expected:
            indexed = format_count(expected, "game")
            raise self._file.damage("table games", f"expected {indexed}, as in the index of keys, got {count}")

    def _decode_game(self, row: GameRow, common: Common) -> Game:
        game = self._decode(_summaries, row, "summary", row.summary)
        try:
            refuse_game(game, row, common)
        except ValueError as error:
            raise self._file.damage(f"{row.place()}, column summary", str(error)) from None
        return game

    def _unpack_row(self, row: RecordedRow | OneRow, common: Common) -> tuple[Game, Record]:
        game = self._decode_game(row, common)
        where = f"table records, number {row.number}, column record"
        if row.record is None:
            raise self._file.damage(where, f"game {game.key} has no record")
        try:
            record = unpack_record(row.record, game, common.rulesets[game.ruleset], common.commit)
            refuse_record(record, game)
        except (msgspec.MsgspecError, zlib.error, ValueError, RecursionError, MaliceError) as error:
            raise self._file.damage(where, f"game {game.key}: cannot be read: {error}") from None
        return game, record
