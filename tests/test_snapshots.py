"""What commands print while a run goes on is one state of its league."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from malice.tournaments.league import store
from malice.tournaments.league.reader import LeagueReader
from tests.command_line import malice
from tests.growing_leagues import GrowingLeague


@pytest.mark.parametrize(("words", "first"), [(("standings", "--json"), "tournament"), (("export",), "counted_games")])
def test_games_of_a_version_that_comes_between_two_reads_are_not_taken_for_those_of_the_old_one(
    words: tuple[str, ...], first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    league = GrowingLeague(tmp_path / "t.db", monkeypatch)
    league.play({"ann": 1, "ben": 1})
    before = malice(*words, league.path).stdout
    read = getattr(LeagueReader, first)
    played: list[bool] = []

    def read_and_play(reader: LeagueReader) -> Any:
        found = read(reader)
        if not played:
            played.append(True)
            league.play({"ann": 2, "ben": 1})
        return found

    monkeypatch.setattr(LeagueReader, first, read_and_play)
    monkeypatch.setattr(store, "CLOSING_WAIT_MS", 0)
    with closing(sqlite3.connect(league.path)) as run:  # it keeps a log beside its league
        run.execute("PRAGMA journal_mode = WAL")

        found = malice(*words, league.path)

    assert played
    assert (found.exit_code, found.stdout) == (0, before)
    assert malice(*words, league.path).stdout != before
