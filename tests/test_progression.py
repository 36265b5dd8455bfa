"""`malice standings --changes-since`: moves in rank and Elo, against those who did not change."""

from __future__ import annotations

import csv
import io
import json
import shutil
from datetime import datetime
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from malice.tournaments.league.desk import decide
from malice.tournaments.league.notes import Ruling
from malice.tournaments.league.store import Store
from tests.command_line import malice
from tests.growing_leagues import DAY, MONDAY, GrowingLeague

FIRST = {"ann": 1, "bob": 1, "cem": 1, "dora": 1}
SECOND = {"ann": 1, "bob": 1, "cem": 1, "dora": 2, "eve": 1}


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GrowingLeague:
    slips = {"ann": 0.0, "bob": 0.2, "cem": 0.4, "dora": 0.8}
    return GrowingLeague(tmp_path / "course.db", monkeypatch, slips=slips)


@pytest.fixture
def last(league: GrowingLeague, tmp_path: Path) -> Path:
    """A copy of the league as it was before a late entry, a new version and a disqualification."""
    league.play(FIRST, 4)
    path = Path(shutil.copy(league.path, tmp_path / "last.db"))
    league.play(SECOND, 4, MONDAY + 2 * DAY)
    with Store(league.path, create=True) as store:
        decide(store, Ruling("disqualify", "cem"))
    return path


def read_json(*words: str | Path) -> Any:
    result = malice("standings", *words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def list_elos(path: Path) -> dict[str, float]:
    (standings,) = read_json(path)
    return {row["label"]: row["rating"]["elo"] for row in standings["rows"]}


def test_the_moves_tell_who_is_new_gone_or_changed(league: GrowingLeague, last: Path) -> None:
    (found,) = read_json(league.path, "--changes-since", last)

    moves = {move["label"]: move for move in found["moves"]}
    assert {label: move["news"] for label, move in moves.items()} == {
        "ann": "",
        "bob": "",
        "cem": "gone",
        "dora": "new version",
        "eve": "new",
    }
    assert found["moves"][-1]["label"] == "cem"
    assert (moves["cem"]["rank"], moves["cem"]["elo"], moves["cem"]["gain"]) == (None, None, None)
    assert (moves["eve"]["rank_before"], moves["eve"]["elo_before"], moves["eve"]["gain"]) == (None, None, None)
    assert sorted(move["rank"] for move in found["moves"][:-1]) == [1, 2, 3, 4]


def test_the_drift_of_those_that_did_not_change_is_taken_out(league: GrowingLeague, last: Path) -> None:
    before, after = list_elos(last), list_elos(league.path)

    (found,) = read_json(league.path, "--changes-since", last)

    gains = {move["label"]: move["gain"] for move in found["moves"]}
    rises = {label: after[label] - before[label] for label in ("ann", "bob", "dora")}
    drift = mean((rises["ann"], rises["bob"]))
    assert abs(drift) > 1
    assert found["drift"] == pytest.approx(drift)
    assert gains["ann"] + gains["bob"] == pytest.approx(0)
    assert all(gains[label] == pytest.approx(rises[label] - drift) for label in rises)


def test_a_new_version_that_has_not_played_is_not_gone(league: GrowingLeague, tmp_path: Path) -> None:
    league.play(FIRST, 2)
    last = shutil.copy(league.path, tmp_path / "last.db")
    league.play({**FIRST, "dora": 2}, 2, MONDAY + DAY, finish=False)

    (found,) = read_json(league.path, "--changes-since", last)

    dora = next(move for move in found["moves"] if move["label"] == "dora")
    assert (dora["news"], dora["rank"], dora["elo"]) == ("new version", None, None)


def test_a_day_stands_for_the_league_as_it_was_then(league: GrowingLeague, last: Path) -> None:
    day = datetime.fromtimestamp(MONDAY + DAY).isoformat(timespec="minutes")

    assert read_json(league.path, "--changes-since", day) == read_json(league.path, "--changes-since", last)


def test_csv_has_a_row_for_each_move(league: GrowingLeague, last: Path) -> None:
    (found,) = read_json(league.path, "--changes-since", last)

    result = malice("standings", league.path, "--changes-since", last, "--csv")

    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["ruleset"], row["seats"]) for row in rows] == [("short", "2")] * 5
    for row, move in zip(rows, found["moves"], strict=True):
        assert row.keys() - {"tournament", "ruleset", "seats"} == move.keys()
        assert (row["label"], row["news"]) == (move["label"], move["news"])
        for name in ("rank", "rank_before", "elo", "elo_before", "gain"):
            assert (float(row[name]) if row[name] else None) == move[name]


def test_text_has_a_line_for_each_move(league: GrowingLeague, last: Path) -> None:
    result = malice("standings", league.path, "--changes-since", last)

    assert [line.split()[2] for line in result.stdout.splitlines()[2:]] == [
        move["label"] for move in read_json(league.path, "--changes-since", last)[0]["moves"]
    ]


@pytest.mark.parametrize("since", ["2001-01-31", "no-such.db", "someday"])
def test_a_day_before_the_tournament_and_what_is_no_day_are_usage(league: GrowingLeague, since: str) -> None:
    league.play(FIRST)

    result = malice("standings", league.path, "--changes-since", since)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1


def test_a_league_without_this_tournament_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other, summer = tmp_path / "other.db", tmp_path / "summer.db"
    for path, name in ((other, "winter"), (summer, "summer")):
        GrowingLeague(path, monkeypatch, name).play({"ann": 1, "bob": 1}, 2)

    result = malice("standings", summer, "--changes-since", other)

    assert (result.exit_code, "other.db: no tournament 'summer'; it has winter" in result.output) == (2, True)


def test_the_changes_of_all_tournaments_together_are_not_told(league: GrowingLeague, last: Path) -> None:
    assert malice("standings", league.path, "--all", "--changes-since", last).exit_code == 2
