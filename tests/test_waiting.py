"""A lock of somebody else is waited for, announced once, and ends with 3 when it stays."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.referee.records import Key
from malice.tournaments.errors import LeagueError, LockedLeague
from malice.tournaments.league.file import WAIT_S, Waiting
from malice.tournaments.league.store import Store
from tests.command_line import malice
from tests.leagues import play_small_league


class Time:
    """A clock that only sleeping moves, and that tells somebody each time."""

    def __init__(self, on_sleep: Callable[[float], None] = lambda now: None) -> None:
        self.now = 100.0
        self.out = io.StringIO()
        self._on_sleep = on_sleep

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self._on_sleep(self.now - 100.0)

    def waiting(self) -> Waiting:
        return Waiting(out=self.out, now=lambda: self.now, sleep=self.sleep)


@pytest.fixture
def league(tmp_path: Path) -> Path:
    return play_small_league(tmp_path)


@contextmanager
def locked(path: Path, how: str) -> Iterator[sqlite3.Connection]:
    """Hold a lock as another program would."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute(f"BEGIN {how}")
        yield other


def unlock(other: sqlite3.Connection, after: float) -> Callable[[float], None]:
    def on_sleep(waited: float) -> None:
        if waited > after and other.in_transaction:
            other.execute("ROLLBACK")

    return on_sleep


def test_a_reader_waits_half_a_minute_for_a_lock_and_says_so_once(league: Path) -> None:
    time = Time()

    with locked(league, "EXCLUSIVE"), pytest.raises(LockedLeague, match="after 30 s"):
        Store(league, waiting=time.waiting())

    assert time.now == pytest.approx(100 + WAIT_S, abs=0.2)
    assert time.out.getvalue() == f"{league}: another program has locked it; waiting for up to 30 s\n"


def test_a_reader_goes_on_when_the_lock_is_gone(league: Path) -> None:
    with locked(league, "EXCLUSIVE") as other:
        time = Time(unlock(other, after=7))
        with Store(league, waiting=time.waiting()) as store:
            assert len(store.keys()) == 2

    assert time.now < 108
    assert time.out.getvalue().count("waiting") == 1


def test_a_short_lock_is_not_worth_a_word(league: Path) -> None:
    with locked(league, "EXCLUSIVE") as other:
        time = Time(unlock(other, after=0))
        Store(league, waiting=time.waiting()).close()

    assert time.out.getvalue() == ""


def test_a_second_writer_waits_for_the_first(league: Path) -> None:
    first = Store(league, create=True)
    time = Time()
    with pytest.raises(LeagueError, match="another malice run is writing to it"):
        Store(league, create=True, waiting=time.waiting())

    time = Time(lambda waited: first.close() if waited > 7 else None)
    Store(league, create=True, waiting=time.waiting()).close()

    assert 107 < time.now < 108
    assert "another malice run is writing to it; waiting" in time.out.getvalue()


def test_a_game_that_cannot_be_stored_for_a_lock_leaves_the_league_as_it_was(league: Path) -> None:
    time = Time()
    with Store(league, create=True, waiting=time.waiting()) as store:
        record = store.record(Key(0, 0, 0, 0))
        game = replace(next(store.games()), number=5)
        with locked(league, "IMMEDIATE"), pytest.raises(LockedLeague):
            store.add(game, replace(record, key=Key(0, 0, 5, 0)))

        assert len(store.keys()) == 2


@pytest.mark.parametrize("words", [["standings"], ["verify"], ["export"], ["replay", "0.0.0"]])
def test_a_locked_league_ends_a_command_with_3_and_one_line(
    words: list[str], league: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = Time()
    monkeypatch.setattr(
        "malice.tournaments.league.store.Waiting", partial(Waiting, now=lambda: time.now, sleep=time.sleep)
    )

    with locked(league, "EXCLUSIVE"):
        result = malice(words[0], league, *words[1:])

    assert (result.exit_code, result.stdout) == (3, "")
    assert [line.partition(": ")[0] for line in result.stderr.splitlines()] == [str(league), "Error"]
