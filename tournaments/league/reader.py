"""Reads a league: its journal, checked rows of games, and an error where stored values contradict each other."""

from __future__ import annotations

import copy
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from malice.protocol.errors import MaliceError
from malice.referee.errors import DataError
from malice.referee.nouns import format_count
from malice.referee.records import Key, Record
from malice.referee.rulesets import Ruleset
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.config import Config
from malice.tournaments.league.contents import Contents, Entry, Finished, FinishedGames, GameStream, GameSummary
from malice.tournaments.league.counting import CountedGames, find_counted_games
from malice.tournaments.league.file import LeagueFile, StoredRow
from malice.tournaments.league.formats.decisions import make_format_input, make_table
from malice.tournaments.league.journal import (
    ROOT,
    AnyEvent,
    JournalRow,
    PartCreated,
    chain_event,
    collect_names,
    decode_event,
)
from malice.tournaments.league.notes import Ruling, RulingRow, RunningRun, RunRow, decode_ruling, decode_run
from malice.tournaments.league.parts import Part
from malice.tournaments.league.stored_games import (
    NOBODY,
    OF_TOURNAMENT,
    DigestRow,
    FailedRow,
    OneRow,
    PlacedRow,
    RecordedRow,
    SummaryRow,
    pick_games,
    refuse_game,
    refuse_record,
    unpack_record,
)
from malice.tournaments.league.tournament import Tournament, Tournaments

T = TypeVar("T")

ROWS = ("games NOT INDEXED", "games", "records")
"""What a league with games has rows in."""


class JournalReader:
    """The journal of a league, and one of its tournaments: the one that is chosen, or the only one that can be meant.

    Every method raises `DamagedLeague` if a value cannot be read or contradicts another, and `LockedLeague` if
    another program keeps the file locked.

    Args:
        file: the league's file.
    """

    def __init__(self, file: LeagueFile) -> None:
        self.path = file.path
        self._file = file
        self._tables: frozenset[str] = frozenset()
        self._name: str | None = None
        self._league = Tournaments()
        self._read = 0
        self._digest = ROOT

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one consistent state: games that a run adds meanwhile stay invisible."""
        with self._file.transaction(write=False):
            yield

    @contextmanager
    def away(self) -> Iterator[None]:
        """Keep the file closed while this context lasts, so that a run can end meanwhile."""
        with self._file.away():
            yield

    def copy(self, target: Path) -> None:
        """Write the league as it is at one moment to a new file."""
        self._file.copy(target)

    def integrity(self) -> str:
        """The first problem that SQLite finds in the whole file; empty if it finds none."""
        return self._file.integrity()

    def league(self) -> Tournaments:
        """All tournaments, as the journal records them."""
        if self._tables:
            events = list(self._read_events(self._read))
            if names := collect_names(self._league.names, (event for _, event in events)):
                # What happened before bears the new labels, too.
                self._league, self._read, self._digest = Tournaments(names), 0, ROOT
                events = list(self._read_events(0))
            for row, event in events:
                self._apply(self._league, row, event)
                self._read, self._digest = row.number + 1, row.digest
        return self._league

    def events(self) -> Iterator[tuple[JournalRow, AnyEvent]]:
        """Yield every event of the journal, in order."""
        return self._read_events(0) if self._tables else iter(())

    def _read_events(self, first: int) -> Iterator[tuple[JournalRow, AnyEvent]]:
        digest = self._digest if first else ROOT
        for number, row in enumerate(self._file.rows(JournalRow, "WHERE number >= ? ORDER BY number", (first,)), first):
            if row.number != number:
                raise self._file.damage(row.place(), f"expected number {number}")
            if row.digest != chain_event(digest, number, row.tournament, row.at, row.event):
                raise self._file.damage(row.place(), "the digest does not match the event and those before it")
            digest = row.digest
            yield row, self._decode(decode_event, row, "event", row.event)

    def _apply(self, league: Tournaments, row: JournalRow, event: AnyEvent) -> None:
        try:
            league.apply(row.tournament, event, row.at)
        except LeagueError as error:
            raise LeagueError(f"{self.path}: {error}") from None
        except (ValueError, DataError) as error:
            raise self._file.damage(f"{row.place()}, column event", str(error)) from None

    def _decode(self, decode: Callable[[str], T], row: StoredRow, column: str, text: str) -> T:
        try:
            return decode(text)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise self._file.damage(f"{row.place()}, column {column}", str(error)) from None

    @property
    def takes_decisions(self) -> bool:
        """Whether the file has room for decisions that wait; one that an older malice writes to has none."""
        return "decisions" in self._tables

    def list_waiting(self) -> list[tuple[int, Ruling]]:
        """The decisions that no run has taken up yet, with their numbers, in order."""
        rows = self._file.rows(RulingRow, "ORDER BY number") if self.takes_decisions else ()
        return [(row.number, self._decode(decode_ruling, row, "decision", row.decision)) for row in rows]

    def find_run(self) -> RunningRun | None:
        """Who plays the league, or played it when it was killed."""
        rows = self._file.rows(RunRow) if "runs" in self._tables else iter(())
        return next((self._decode(decode_run, row, "run", row.run) for row in rows), None)

    def select(self, name: str) -> None:
        """Choose the tournament that the other methods read.

        Raises:
            LeagueError: the league has none of this name.
        """
        names = list(self.league().tournaments)
        if name not in names:
            hint = f"it has {', '.join(names) or 'none'}"
            raise LeagueError(f"no tournament {name!r}", where=self.path, got=name, hint=hint)
        self._name = name

    def tournament(self) -> Tournament:
        """The chosen tournament, or the only one that can be meant.

        Raises:
            LeagueError: none is chosen, and there is none, or there are several.
        """
        league = self.league()
        if not league.tournaments:
            if not self.is_empty():
                raise self._file.damage("table journal", "expected a tournament, since games are stored")
            raise LeagueError(f"{self.path}: holds no tournament")
        if self._name is None and len(meant := league.list_meant()) > 1:
            raise LeagueError(f"{self.path}: holds {', '.join(meant)}; choose one of them with --tournament")
        return league.tournaments[self._name or meant[0]]

    def has_shared(self, name: str) -> bool:
        """Whether a tournament has a part that copies of the league play."""
        created = (event for row, event in self.events() if row.tournament == name and isinstance(event, PartCreated))
        return any(event.shared is True for event in created)

    def is_empty(self) -> bool:
        if not self._tables:
            return True
        # Check the index and the records too: damage that hides games must not look like their absence.
        # One statement sees one state of the file, even while a run stores its first game.
        sums = " + ".join(f"EXISTS (SELECT 1 FROM {rows})" for rows in ROWS)
        filled = self._file.number(f"SELECT {sums}", "table games")
        if 0 < filled < len(ROWS):
            raise self._file.damage("table games", "expected a game for each record, and each in the index of keys")
        return not filled


P = TypeVar("P", PlacedRow, FailedRow, DigestRow, SummaryRow, RecordedRow)

_summaries = msgspec.json.Decoder(GameSummary)
_labels = msgspec.json.Decoder(tuple[str, ...])


class LeagueReader(JournalReader):
    """A league that is open for reading. Most methods read one of its tournaments, as `JournalReader` chooses it, and
    all raise its errors.
    """

    def view(self, name: str) -> LeagueReader:
        """Open a reader of another tournament of the league; raise LeagueError if it has none of this name."""
        league = self.league()
        other = copy.copy(self)
        other._league = league.fork()  # each reads on in the journal by itself
        other.select(name)
        return other

    def config(self) -> Config:
        """The newest configuration of the tournament."""
        return self.tournament().config

    def rulesets(self) -> tuple[Ruleset, ...]:
        return tuple(self.tournament().rulesets.values())

    def entries(self) -> tuple[Entry, ...]:
        """The entries in the order of the tournament file."""
        return self.tournament().list_entries()

    def parts(self) -> tuple[Part, ...]:
        """The parts in the order of their creation."""
        return tuple(self.tournament().parts)

    def finished(self) -> Sequence[Finished]:
        """What decides which games are played next: every finished game in short, in playing order."""
        tournament = self.tournament()
        if tournament.format.compares:  # where the results decide what is played next
            return [game.finish() for game in self.stored_games()]
        schedules = tournament.schedules
        found = FinishedGames(schedules)
        for row in self._list_in_order(PlacedRow):
            key = Key(row.part, row.table, row.deal, row.rotation)
            if row.part >= len(schedules) or not schedules[row.part].has(key):
                raise self._file.damage(row.place(), f"the tournament has no game {key}")
            if row.number != (number := schedules[row.part].number(key)):
                raise self._file.damage(row.place(), f"game {key} has the number {number}")
            found.append_number(number, () if row.failed == NOBODY else self._decode_failed(row, tournament))
        return found

    def counted_games(self) -> CountedGames:
        """Which of the finished games count, and who is suspended."""
        return find_counted_games(self.tournament(), self.finished())

    def suspended(self) -> dict[str, int]:
        """The suspended entries, each with the number of the game that suspended it."""
        return self.counted_games().suspended

    def has_games(self) -> bool:
        """Whether a game of the tournament is finished."""
        return next(self._list_in_order(PlacedRow), None) is not None

    def keys(self) -> set[Key]:
        """The keys of all finished games of the tournament."""
        return {game.key for game in self.finished()} if self._tables and self.league().tournaments else set()

    def read(self, before: float | None = None, *, keep: bool = True) -> Contents:
        """Read what the league holds of the tournament.

        Games that a run adds meanwhile may be among them, unless a snapshot is open.

        Args:
            before: only events and games before this time, in seconds since 1970; then there is no table.
            keep: whether its games stay in memory, two kilobytes each; else they are read whenever somebody goes
                through them, and the league must stay open. Those of formats that base parts on results always stay.

        Raises:
            LeagueError: the tournament had not begun.
        """
        tournament = self.tournament() if before is None else self._find_earlier(before)
        if keep or before is not None or tournament.format.compares or not tournament.format.grows:
            # A game whose part came later was played by a machine with another clock.
            stored = [
                game
                for game in self.stored_games()
                if before is None or (game.started < before and game.key.part < len(tournament.parts))
            ]
            finished: Sequence[Finished] = [game.finish() for game in stored]
            counted = find_counted_games(tournament, finished)
            games: Iterable[GameSummary] = [game for game in stored if game.number not in counted.left_out]
            format_input = make_format_input(tournament, finished, counted.suspended, lambda: stored)
        else:
            finished = self._list_finished(tournament)
            counted = find_counted_games(tournament, finished)
            # A run may store games between two passes, which are none of those that count here.
            numbers, view = counted.list_numbers(), self.view(tournament.name)
            games = GameStream(lambda: pick_games(view.stored_games(), numbers))
            format_input = make_format_input(tournament, finished, counted.suspended, view.stored_games)
        ended = (each.deals if before is None else each.verdict for each in counted.tests.values())
        return Contents(
            tournament=tournament,
            rulesets=tuple(tournament.rulesets.values()),
            entries=tournament.list_entries(),
            parts=tuple(tournament.parts),
            clocks=(tournament.config.clock,) * len(tournament.parts),
            games=games,
            suspended=counted.suspended,
            live=not tournament.complete,
            ended_by_test=tournament.config.sprt is not None and any(ended),
            tests=counted.tests,
            format_input=format_input,
            table=make_table(format_input) if before is None else (),
        )

    def _list_finished(self, tournament: Tournament) -> FinishedGames:
        """As `finished`, but whether numbers and keys agree is left to whoever reads the games themselves."""
        found = FinishedGames(tournament.schedules)
        for row in self._list_in_order(FailedRow):
            found.append_number(row.number, self._decode_failed(row, tournament) if row.failed else ())
        return found

    def _decode_failed(self, row: FailedRow | PlacedRow, tournament: Tournament) -> tuple[str, ...]:
        failed = self._decode(_labels.decode, row, "failed", row.failed or NOBODY)
        return tuple(map(tournament.identify, failed))

    def _find_earlier(self, before: float) -> Tournament:
        """The tournament as it was before a time."""
        earlier, name = Tournaments(self.league().names), self.tournament().name
        for row, event in self.events():
            if row.at < before:
                earlier.apply(row.tournament, event, row.at)
        if name not in earlier.tournaments or not earlier.tournaments[name].parts:
            raise LeagueError(f"{self.path}: {name!r} had not begun then")
        return earlier.tournaments[name]

    def games(self) -> Iterator[GameSummary]:
        """Yield every finished game that counts, without its actions, in playing order."""
        left_out = self.counted_games().left_out
        return (game for game in self.stored_games() if game.number not in left_out)

    def stored_games(self) -> Iterator[GameSummary]:
        """Yield every finished game without its actions, in playing order."""
        tournament = self.tournament()
        return (self._decode_game(row, tournament) for row in self._list_in_order(SummaryRow))

    def records(self) -> Iterator[Record]:
        """Yield the record of every finished game that counts, in playing order."""
        return (record for _, record in self.rows())

    def rows(self) -> Iterator[tuple[GameSummary, Record]]:
        """Yield every finished game that counts, with its record, in playing order."""
        left_out = self.counted_games().left_out
        return ((game, record) for game, record in self.stored_rows() if game.number not in left_out)

    def stored_rows(self) -> Iterator[tuple[GameSummary, Record]]:
        """Yield every finished game with its record, in playing order."""
        tournament = self.tournament()
        return (self._unpack_row(row, tournament) for row in self.list_recorded())

    def list_recorded(self) -> Iterator[RecordedRow]:
        """Yield the rows of every finished game in playing order, as they are stored."""
        return self._list_in_order(RecordedRow)

    def list_digests(self) -> Iterator[DigestRow]:
        """Yield the digest of every finished game in playing order, without a look at its summary."""
        return self._list_in_order(DigestRow)

    def count_stored(self) -> int:
        """How many games of the tournament are finished."""
        return self._file.number(f"SELECT count(*) FROM games WHERE tournament = {self._find_index()}", "table games")

    def unpack(self, row: RecordedRow) -> tuple[GameSummary, Record]:
        return self._unpack_row(row, self.tournament())

    def read_records(self, keys: Iterable[Key]) -> Iterator[Record]:
        """Yield the records of finished games of the tournament, in the order of `keys`.

        Raises:
            LeagueError: a game is not finished.
        """
        return map(self.record, keys)

    def list_foreign(self, part: int) -> list[Key]:
        """The keys of the games of a part that a worker on another machine played."""
        # Quotes in a label are escaped: only the name of the field is written so.
        where = """WHERE number >= ? AND number < ? AND instr(summary, '"speed":') ORDER BY number"""
        schedule = self.tournament().schedules[part]
        first = schedule.part.first
        rows = self._file.rows(PlacedRow, where, (first, first + schedule.total))
        return [Key(row.part, row.table, row.deal, row.rotation) for row in rows]

    def refuse_strays(self) -> None:
        """Make sure that every game belongs to a tournament and every record to a game; call it within a snapshot."""
        league = self.league()
        count = f"SELECT count(*) FROM games WHERE tournament < {len(league.tournaments)} AND number < {league.games}"
        expected = self._file.number(count, "table games")
        for table in ("games", "records"):
            if (rows := self._file.number(f"SELECT count(*) FROM {table}", f"table {table}")) != expected:
                raise self._file.damage(f"table {table}", f"expected {format_count(expected, 'row')}, got {rows}")

    def record(self, key: Key) -> Record:
        """The record of one game.

        Raises:
            LeagueError: the league does not hold it.
        """
        return self.row(key)[1]

    def row(self, key: Key) -> tuple[GameSummary, Record]:
        """One game, whether it counts or not, with its record.

        Raises:
            LeagueError: the league does not hold it.
        """
        return self.unpack(self.find_row(key))

    def choose_game(self, words: str) -> Key:
        """Parse the key of a game, such as `0.1.2.0` or `friday:0.1.2.0`, and choose its tournament.

        Raises:
            DataError: this is not a key.
            LeagueError: there is no such tournament, or none is named and several can be meant.
        """
        name, _, key = words.rpartition(":")
        meant = self.league().list_meant()
        if not name and len(meant) > 1:
            expected = f"a key with its tournament, such as {meant[0]}:{key}"
            raise LeagueError(expected=expected, hint=f"{self.path} has {', '.join(meant)}")
        if name or meant:
            self.select(name or meant[0])
        return Key.parse(key, len(self.parts()))

    def find_row(self, key: Key) -> RecordedRow:
        """The row of one game, with the errors of `row`."""
        tournament = self.tournament()
        known = key.part < len(tournament.parts) and tournament.schedules[key.part].has(key)
        number = tournament.schedules[key.part].number(key) if known else -1
        row = next(self._file.rows(OneRow, "WHERE games.number = ?", (number,)), None)
        if row is None:
            # Damage must not look like the absence of a game: ask the index of keys, and read every row.
            place = f'part = {key.part} AND "table" = {key.table} AND deal = {key.deal} AND rotation = {key.rotation}'
            where = f"WHERE tournament = {self._find_index()} AND {place}"
            if self._file.number(f"SELECT count(*) FROM games {where}", "table games") or key in self.keys():
                raise self._file.damage("table games", f"game {key} is not where its number says")
            raise LeagueError(f"{self.path}: no game {key}")
        return row

    def _list_in_order(self, kind: type[P]) -> Iterator[P]:
        """Yield the games by number; refuse a B-tree in which a branch is missing or occurs twice."""
        index, games = self._find_index(), self._count_planned()
        counted = f"SELECT count(*) FROM games WHERE tournament = {index} AND games.number < {games}"
        # Without a snapshot, further games may be stored meanwhile.
        least, last, count = self._file.number(counted, "table games"), -1, 0
        for row in self._file.rows(kind, OF_TOURNAMENT, (index, games)):
            if row.number <= last:
                raise self._file.damage(row.place(), f"expected a number above {last}")
            last, count = row.number, count + 1
            yield row
        most = self._file.number(counted, "table games")
        if not least <= count <= most:
            indexed = format_count(most, "game")
            raise self._file.damage("table games", f"expected {indexed}, as in the index of keys, got {count}")

    def _find_index(self) -> int:
        """The place of the chosen tournament, by which its games are stored."""
        return list(self.league().tournaments).index(self.tournament().name)

    def _count_planned(self) -> int:
        """How many games all parts of the league have; refuse a journal that lacks the part of a stored game."""
        games = self.league().games
        beyond = self._file.number(f"SELECT EXISTS (SELECT 1 FROM games WHERE number >= {games})", "table games")
        # A run may have created that part meanwhile: then the journal has it by now.
        if beyond and self.league().games == games:
            raise self._file.damage("table games", f"expected games below number {games}, as many as the parts have")
        return games

    def _decode_game(self, row: SummaryRow, tournament: Tournament) -> GameSummary:
        game = self._decode(_summaries.decode, row, "summary", row.summary)
        if tournament.names:
            game = replace(game, labels=tuple(map(tournament.identify, game.labels)))
            row = replace(row, failed=msgspec.json.encode(self._decode_failed(row, tournament)).decode())
        try:
            refuse_game(game, row, tournament)
        except ValueError as error:
            raise self._file.damage(f"{row.place()}, column summary", str(error)) from None
        return game

    def _unpack_row(self, row: RecordedRow, tournament: Tournament) -> tuple[GameSummary, Record]:
        game = self._decode_game(row, tournament)
        where = f"table records, number {row.number}, column record"
        if row.record is None:
            raise self._file.damage(where, f"game {game.key} has no record")
        try:
            ruleset, commit = tournament.rulesets[game.ruleset], tournament.parts[game.key.part].commit
            old_rules = tournament.find_old_rules(game.key.part, game.ruleset)
            position = tournament.find_position(game.key)
            record = unpack_record(row.record, game, ruleset, commit, tournament.name, old_rules, position)
            refuse_record(record, game, tournament.names)
            # Nobody decodes the events here: a site replays a game where they are damaged, `verify` names them.
            record = replace(record, events=row.events or b"")
        except (msgspec.MsgspecError, zlib.error, ValueError, RecursionError, MaliceError) as error:
            raise self._file.damage(where, f"game {game.key}: cannot be read: {error}") from None
        return game, record
