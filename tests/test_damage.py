"""A damaged league: the right answer, or one sentence with a place and exit code 5, whatever bit it is."""

from __future__ import annotations

import contextlib
import random
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

import pytest

from malice.protocol.errors import MaliceError
from malice.referee.records import Key
from malice.site_pages import render
from malice.tournaments.commands.exit_codes import EXIT_CODES
from malice.tournaments.errors import DamagedLeague, LeagueError
from malice.tournaments.league.ranking import compute_league_standings
from malice.tournaments.league.replays import encode_game
from malice.tournaments.league.series import score_league_series
from malice.tournaments.league.store import Store
from malice.tournaments.league.verify import verify_league
from malice.tournaments.terminal.dialogue import rebuild_dialogue
from malice.tournaments.terminal.results import format_standings
from malice.tournaments.terminal.transcript import format_transcript
from tests.command_line import malice
from tests.leagues import change, play_small_league, replace_in_journal
from tests.processes import PATIENCE_S
from tests.runs import MALICE

FLIPS = 500
HEADER_BITS = 800
KEY = Key(0, 0, 0, 1)


def print_standings(store: Store) -> None:
    assert list(format_standings(compute_league_standings(store.read())))
    assert store.tournament().complete


def export(store: Store) -> None:
    series = score_league_series(store.read())
    assert [encode_game(record, series.get(record.key)) for record in store.records()]


def replay(store: Store) -> None:
    assert list(format_transcript(store.record(KEY)))


def log(store: Store) -> None:
    record = store.record(KEY)
    rngs = store.tournament().seeds(KEY.part).order(KEY, len(record.entries)).rngs
    assert store.config().init_ms
    assert list(rebuild_dialogue(record, rngs, 0))


READERS: tuple[Callable[[Store], object], ...] = (print_standings, export, replay, log)


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return play_small_league(tmp_path_factory.mktemp("league")).read_bytes()


def flipped(data: bytes, bit: int) -> bytes:
    damaged = bytearray(data)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def write(path: Path, data: bytes) -> None:
    """Write a league without what SQLite may have left beside an earlier one."""
    for end in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    path.write_bytes(data)


def read(path: Path, *readers: Callable[[Store], object]) -> int:
    """Return the exit code of a command that reads this: -1 for a message without a place, or of several lines."""
    for reader in readers:
        try:
            with Store(path) as store:
                if store.is_empty():
                    return 2
                reader(store)
        except MaliceError as error:
            placed = str(path) in str(error) or "game " in str(error)
            return exit_code(error) if placed and "\n" not in str(error) else -1
    return 0


def exit_code(error: MaliceError) -> int:
    return next(code for kind, code in EXIT_CODES if isinstance(error, kind))


def read_everything(path: Path, reader: Callable[[Store], object]) -> None:
    with Store(path) as store:
        assert not store.is_empty()
        list(store.games())
        reader(store)


def bits(data: bytes, seed: int) -> Iterator[int]:
    """Draw bits from the whole file; every fifth lies in SQLite's header."""
    rng = random.Random(seed)
    for place in range(FLIPS):
        yield rng.randrange(HEADER_BITS if place % 5 == 0 else 8 * len(data))


def test_any_flipped_bit_is_harmless_or_ends_with_5(league: bytes, tmp_path: Path) -> None:
    path = tmp_path / "flipped.db"
    codes: Counter[int] = Counter()
    for bit, reader in zip(bits(league, 1), cycle(READERS)):
        write(path, flipped(league, bit))
        codes[code := read(path, reader, verify_league)] += 1
        assert code in (0, 5), f"bit {bit}, {reader.__name__}"

    assert codes[5] > FLIPS / 4, codes


def test_verify_finds_any_flipped_bit_of_a_game(league: bytes, tmp_path: Path) -> None:
    path = tmp_path / "flipped.db"
    start, end = league.index(b'"labels":["greedy","uniform"]'), league.index(b'"reason"')  # within one page
    rng = random.Random(2)
    for _ in range(50):
        path.write_bytes(flipped(league, bit := rng.randrange(8 * start, 8 * end)))

        assert read(path, verify_league) == 5, f"bit {bit}"


def test_a_league_that_was_cut_off_anywhere_ends_with_5(league: bytes, tmp_path: Path) -> None:
    path = tmp_path / "cut.db"
    rng = random.Random(3)
    for length in (1, 15, 16, 50, 99, 100, 511, 512, *(rng.randrange(512, len(league)) for _ in range(60))):
        path.write_bytes(league[:length])

        assert read(path, verify_league) == 5, f"{length} bytes"


@pytest.mark.parametrize("reader", [*READERS, verify_league])
@pytest.mark.parametrize(
    ("statements", "place"),
    [
        *((f"DROP TABLE {table}", f"table {table}") for table in ("journal", "games", "records")),
        ("DROP TABLE _sqlite_migrations", "table _sqlite_migrations"),
        (
            "UPDATE _sqlite_migrations SET name = 'm007_league' WHERE name = 'm006_league'",
            "table _sqlite_migrations: expected",
        ),
        ("PRAGMA application_id = 7", "the header: expected the application id"),
        ("DELETE FROM games", "table games: expected a game for each record"),
        ("DELETE FROM records", "table games: expected a game for each record"),
        ("DELETE FROM journal", "table journal: expected a tournament, since games are stored"),
        ("DELETE FROM journal WHERE number = 2", "table journal, number 3: expected number 2"),
        ("DELETE FROM journal WHERE number > 3", "table games: expected games below number 0"),
        ("UPDATE journal SET event = replace(event, 'greedy', 'x')", "table journal, number 1: the digest does not"),
        ("UPDATE journal SET event = CAST(x'ff' AS TEXT)", "column event: text that is not UTF-8"),
        ("UPDATE journal SET digest = 'x'", "table journal, number 0, column digest"),
        ("UPDATE journal SET at = 9e999", "table journal, number 0, column at: expected"),
        ("UPDATE journal SET at = at + 1 WHERE number = 4", "table journal, number 4: the digest does not match"),
        ("UPDATE journal SET tournament = 'x' WHERE number = 5", "table journal, number 5: the digest does not match"),
        ("UPDATE games SET deal = 7 WHERE number = 1", "number 1: the tournament has no game 0.0.7.1"),
        ("UPDATE games SET digest = 'x'", "table games, number 0, column digest"),
        ("UPDATE games SET summary = replace(summary, '\"places\":[', '\"places\":[9,')", "each list of seats"),
        ("UPDATE games SET summary = replace(summary, '\"used_ms\":[', '\"used_ms\":[-')", "expected `float` >= 0.0"),
        ("UPDATE games SET summary = replace(summary, '\"asked\":[', '\"asked\":[1e999,')", "column summary"),
        (
            'UPDATE games SET summary = replace(summary, \'"thinking":"\', \'"thinking":"9\')',
            "column summary: thinking",
        ),
        ("UPDATE games SET summary = replace(summary, 'greedy', 'nobody')", "column summary: labels"),
        ("UPDATE games SET summary = replace(summary, 'short', 'shirt')", "column summary: ruleset"),
    ],
)
def test_damage_is_named_with_its_place(
    league: bytes, tmp_path: Path, statements: str, place: str, reader: Callable[[Store], object]
) -> None:
    path = tmp_path / "damaged.db"
    path.write_bytes(league)
    change(path, statements)

    with pytest.raises(DamagedLeague) as caught:
        read_everything(path, reader)

    assert str(caught.value).startswith(f"{path}: ")
    assert place.lower() in str(caught.value).lower()


@pytest.mark.parametrize("reader", [*READERS, verify_league])
@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('"event":"close"', '"event":"end"', "number 5, column event: Invalid value 'end'"),
        ('"event":"close","part":0', '"event":"close","part":1', "number 5, column event: part 1 cannot close"),
        (
            '"event":"tournament"',
            '"event":"close","part":0',
            "number 0, column event: tournament 'small' has not begun",
        ),
        ('"seed":"small"', '"sead":"small"', "number 3, column event: Object contains unknown field"),
        ('"init_ms":5000', '"init_ms":-1', "number 3, column event: config: init_ms"),
        ('"rules":{', '"rules":{"decks":0},"x":{', "number 4, column event: short: decks = 0"),
        ('"command":["', '"command":[1,"', "number 1, column event: expected `str`"),
        ('"number":0,', '"number":1,', "number 4, column event: number: expected 0, got 1"),
        ('"first":0', '"first":2', "number 4, column event: first: expected 0, got 2"),
        ('"commit":"sha256:', '"commit":"sha256:0', "number 4, column event: expected `str` matching regex"),
    ],
)
def test_a_wrong_event_is_named_with_its_place(
    league: bytes, tmp_path: Path, old: str, new: str, place: str, reader: Callable[[Store], object]
) -> None:
    path = tmp_path / "damaged.db"
    path.write_bytes(league)
    replace_in_journal(path, old, new)

    with pytest.raises(DamagedLeague) as caught:
        read_everything(path, reader)

    assert str(caught.value).startswith(f"{path}: table journal, ")
    assert place.lower() in str(caught.value).lower()


@pytest.mark.parametrize(
    ("statements", "place"),
    [
        ("UPDATE records SET record = zeroblob(9) WHERE number = 1", "table records, number 1, column record"),
        ("UPDATE records SET record = x'' WHERE number = 1", "table records, number 1, column record"),
        ("UPDATE records SET record = CAST(record || x'00' AS BLOB)", "nothing after it"),
        ("DELETE FROM records WHERE number = 1", "game 0.0.0.1 has no record|table records: expected 2 rows, got 1"),
        ("UPDATE games SET summary = replace(summary, '\"scores\":[', '\"scores\":[1')", "the digest does not match"),
    ],
)
def test_a_damaged_record_is_named_with_its_place(league: bytes, tmp_path: Path, statements: str, place: str) -> None:
    path = tmp_path / "damaged.db"
    path.write_bytes(league)
    change(path, statements)

    for reader in (export, replay, log, verify_league):
        with pytest.raises(DamagedLeague, match=place), Store(path) as store:
            reader(store)


def test_verify_finds_a_record_without_its_game(league: bytes, tmp_path: Path) -> None:
    path = tmp_path / "damaged.db"
    path.write_bytes(league)
    change(path, "INSERT INTO records SELECT 7, record, events FROM records WHERE number = 1")

    with pytest.raises(DamagedLeague, match="expected 2 rows, got 3"), Store(path) as store:
        verify_league(store)


@pytest.mark.parametrize("statements", ["DROP TABLE games", "DELETE FROM games", "UPDATE journal SET event = ''"])
def test_a_run_does_not_found_a_tournament_in_place_of_a_damaged_one(
    league: bytes, tmp_path: Path, statements: str
) -> None:
    path = tmp_path / "damaged.db"
    path.write_bytes(league)
    change(path, statements)
    (tmp_path / "t.toml").write_text('entries = ["first", "uniform"]\ndeals = 1\nname = "another"')

    result = malice("run", tmp_path / "t.toml", "--db", path)

    assert result.exit_code == 5, result.output
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT DISTINCT tournament FROM journal").fetchall() == [("small",)]


def test_the_site_of_a_damaged_league_is_not_written_in_silence(league: bytes, tmp_path: Path) -> None:
    path = tmp_path / "damaged.db"
    path.write_bytes(flipped(league, 8 * (league.index(b'"scores":[') + 10)))

    with pytest.raises(DamagedLeague), Store(path) as store:
        render(store, tmp_path / "site")


def test_a_file_of_somebody_else_is_no_damaged_league(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    change(path, "CREATE TABLE games (name TEXT)")
    for damaged in (path.read_bytes(), flipped(path.read_bytes(), 3), b"x" * 5000, b"x"):
        path.write_bytes(damaged)
        with pytest.raises(LeagueError):
            Store(path)


def test_the_command_line_ends_with_5_and_one_line(league: bytes, tmp_path: Path) -> None:
    path = tmp_path / "damaged.db"
    path.write_bytes(flipped(league, 5))

    done = subprocess.run([*MALICE, "standings", path], capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr == f"Error: {path}: not a malice league, or one with a damaged header\n"
