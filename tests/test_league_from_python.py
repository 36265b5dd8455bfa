"""`malice.League` reads what the commands print, and goes on from stored games."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

import malice
from malice.protocol.messages import Out
from malice.referee.errors import DataError
from malice.referee.records import Key
from malice.referee.replay import find_rules, replay_asks
from malice.referee.rules import Result
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.store import Store
from tests.command_line import malice as command
from tests.leagues import play_small_league, write_events


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play_small_league(tmp_path_factory.mktemp("league"), deals=3)


def test_standings_and_games_are_those_of_the_commands(db: Path) -> None:
    with malice.League(db) as league:
        (standings,) = json.loads(msgspec.json.encode(league.standings()))
        games = list(map(msgspec.json.encode, league.games()))

        assert json.loads(command("standings", db, "--json").stdout) == [
            {name: value for name, value in standings.items() if name != "history"}
        ]
        assert games == command("export", db).stdout_bytes.splitlines()
        assert league.tournaments == ("small",)
        assert league.standings(together=True)[0].tournament is msgspec.UNSET


def test_games_are_chosen_by_ruleset_entries_and_time(db: Path) -> None:
    with malice.League(db) as league:
        times = [game.started for game in league.games()]

        def count(ruleset: str | None = None, entries: Sequence[str] = (), since: datetime | None = None) -> int:
            return len(list(league.games("small", ruleset=ruleset, entries=entries, since=since)))

        assert count(ruleset="short", entries=["greedy", "uniform"]) == len(times) == 6
        assert count(ruleset="standard") == count(entries=["nobody"]) == count(since=datetime(2999, 1, 1)) == 0
        assert count(since=max(times)) == times.count(max(times))
        assert all(time.tzinfo is UTC for time in times)


def test_a_stored_game_goes_on_from_every_action(db: Path) -> None:
    with malice.League(db) as league, Store(db) as store:
        record = store.record(Key(0, 0, 1, 1))
        stored, rules = league.game("small:0.0.1.1"), find_rules(record)
        for ask in replay_asks(record):
            game = stored.at(ask.first + len(ask.moves))
            assert game.actions == ask.first + len(ask.moves)
            assert [game.view(seat) for seat in (0, 1)] == [rules.view(ask.after, seat) for seat in (0, 1)]
        assert game.result == Result(record.places, record.scores, record.reason, record.figures)
        last = len(record.actions)
        with pytest.raises(DataError, match=rf"game 0\.0\.1\.1: expected 0 to {last} actions, got {last + 1}"):
            stored.at(last + 1)


def test_a_stored_game_goes_on_after_a_verdict(tmp_path: Path) -> None:
    with malice.League(play_small_league(tmp_path, crash=True)) as league:
        stored = league.game("0.0.0.0")
        played = [(each.seat, each.action) for each in stored.exported.actions]
        (out,) = (seat for seat, action in played if action == "!crash")
        game = stored.at(len(played))

        assert stored.at(0).to_act == (out,)
        assert Out(out, "crash") in game.events(1 - out)
        assert game.result
        assert game.result.scores == stored.exported.scores


def test_no_game_of_an_open_part_shows_its_cards(tmp_path: Path) -> None:
    db = play_small_league(tmp_path)
    write_events(db, lambda events: [event for event in events if '"close"' not in event])

    with malice.League(db) as league, pytest.raises(LeagueError, match="of a closed part, got one of part 0"):
        league.game("0.0.0.0").at(0)
