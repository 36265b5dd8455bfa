"""The league's file: absent or complete, and read back as it was written."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from malice.referee.records import Key, Record, compute_digest
from malice.referee.replay import check_record
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.config import Config
from malice.tournaments.league.store import Store
from malice.tournaments.running.plan import Plan, read_plan
from tests.leagues import CONFIG, forfeited


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return Plan.prepare(CONFIG, tmp_path)


def founded(path: Path, plan: Plan) -> Store:
    store = Store(path, create=True)
    plan.write(store)
    return store


def test_a_game_is_read_back_as_it_was_written(tmp_path: Path, plan: Plan) -> None:
    record = forfeited(plan, Key(0, 0, 1, 1))
    with founded(tmp_path / "t.db", plan) as store:
        store.add(plan.make_game(record), record)

        assert store.record(record.key) == record
        assert list(store.records()) == [record]
        assert store.keys() == {record.key}


def test_games_come_in_the_order_of_the_schedule_whatever_came_first(tmp_path: Path, plan: Plan) -> None:
    keys = [Key(0, 0, deal, rotation) for deal in range(2) for rotation in range(2)]
    with founded(tmp_path / "t.db", plan) as store:
        for key in reversed(keys):
            record = forfeited(plan, key)
            store.add(plan.make_game(record), record)

        assert [game.key for game in store.games()] == keys
        assert [game.number for game in store.games()] == [0, 1, 2, 3]


def test_a_game_cannot_be_stored_twice(tmp_path: Path, plan: Plan) -> None:
    record = forfeited(plan, Key(0, 0, 0, 0))
    with founded(tmp_path / "t.db", plan) as store:
        store.add(plan.make_game(record), record)

        with pytest.raises(sqlite3.IntegrityError):
            store.add(plan.make_game(record), record)
        other = forfeited(plan, Key(0, 0, 1, 0))
        store.add(plan.make_game(other), other)
        assert store.keys() == {record.key, other.key}


def test_games_that_come_together_are_stored_together_or_not_at_all(tmp_path: Path, plan: Plan) -> None:
    records = [forfeited(plan, Key(0, 0, deal, rotation)) for deal in range(2) for rotation in range(2)]
    games = [(plan.make_game(record), record) for record in records]
    with founded(tmp_path / "t.db", plan) as store:
        commits: list[str] = []
        store._file.connection.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)

        with pytest.raises(sqlite3.IntegrityError):
            store.add_all([*games[:3], games[0]])
        assert (store.keys(), commits) == (set(), [])
        store.add_all(games)

        assert (list(store.records()), commits) == (records, ["COMMIT"])


def test_a_missing_game_is_an_error_that_names_it(tmp_path: Path, plan: Plan) -> None:
    with founded(tmp_path / "t.db", plan) as store, pytest.raises(LeagueError, match=r"no game 0\.0\.1\.0"):
        store.record(Key(0, 0, 1, 0))


def test_a_league_that_was_opened_for_writing_only_has_no_tournament(tmp_path: Path) -> None:
    with Store(tmp_path / "t.db", create=True) as store:
        assert store.is_empty()
        with pytest.raises(LeagueError, match="holds no tournament"):
            store.tournament()


def test_a_game_that_is_stored_meanwhile_is_no_damage(tmp_path: Path, plan: Plan) -> None:
    record = forfeited(plan, Key(0, 0, 0, 0))

    def store_game(sql: str) -> None:
        if "FROM records" in sql:
            reader._file.connection.set_trace_callback(None)
            store.add(plan.make_game(record), record)

    with founded(tmp_path / "t.db", plan) as store, Store(tmp_path / "t.db") as reader:
        reader._file.connection.set_trace_callback(store_game)

        assert not reader.is_empty()
        assert reader.keys() == {record.key}


def test_opening_a_league_again_gives_the_same_cards(tmp_path: Path) -> None:
    config = Config(entries=("greedy", "uniform"), deals=2)
    with Store(tmp_path / "t.db", create=True) as store:
        first = read_plan(store, config, tmp_path)
        first.write(store)
        again = read_plan(store, config, tmp_path)

    assert again.events == []
    assert first.tournament.secret == again.tournament.secret
    assert first.tournament.secret != Plan.prepare(config, tmp_path).tournament.secret


def test_a_stored_game_replays(tmp_path: Path, plan: Plan) -> None:
    record = forfeited(plan, Key(0, 0, 0, 1))
    record = replace(record, scores=_scores(record))
    record = replace(record, digest=compute_digest(record))
    with founded(tmp_path / "t.db", plan) as store:
        store.add(plan.make_game(record), record)

        check_record(store.record(record.key))


@pytest.mark.parametrize(("speed", "foreign"), [(None, False), (0.04, True), (1.25, True)])
def test_a_game_is_foreign_if_another_machine_measured_its_speed(
    speed: float | None, foreign: bool, tmp_path: Path, plan: Plan
) -> None:
    told = msgspec.json.encode(replace(forfeited(plan, Key(0, 0, 0, 1)), speed=speed))
    record = msgspec.json.decode(told, type=Record)
    with founded(tmp_path / "t.db", plan) as store:
        store.add(plan.make_game(record), record)

        assert store.list_foreign(0) == [record.key] * foreign


def _scores(record: Record) -> tuple[int, ...]:
    """What the winner of a forfeited game gets: by the rules, not by this test."""
    from malice.referee.replay import start_recorded_course
    from malice.referee.rules import Result

    course = start_recorded_course(record)
    course.withdraw({0: "crash"})
    result = course.step
    assert isinstance(result, Result)
    return result.scores
