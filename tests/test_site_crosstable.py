"""Crosstables by group, and bars of deals."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malice.referee.records import Key
from malice.site_pages.crosstable import make_crossings, name_versions, write_crosstables
from malice.site_pages.files import Folder
from malice.site_pages.intervals import make_deal_bar
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.standings import Standings, compute_standings
from malice.tournaments.league.store import Store
from tests.growing_leagues import GrowingLeague
from tests.summaries import game


def meet(pairs: list[tuple[str, str]]) -> list[GameSummary]:
    """A deal for each pair, of which the first wins both games."""
    return [
        game(seats, (1, 2) if seats == pair else (2, 1), Key(0, table, 0, rotation))
        for table, pair in enumerate(pairs)
        for rotation, seats in enumerate((pair, pair[::-1]))
    ]


def stand(pairs: list[tuple[str, str]], entries: list[str]) -> Standings:
    (found,) = compute_standings(meet(pairs), entries)
    return found


def test_a_group_has_a_table_of_those_who_met() -> None:
    found = stand([("a", "b"), ("c", "d"), ("d", "e")], [*"abcde", "idle"])

    crossings = make_crossings(found, "standard-2", {})

    tables = [
        (table.group, {row.bot.label: [cell.score for cell in row.cells] for row in table.rows})
        for table in crossings.tables
    ]
    assert tables == [
        (1, {"c": ["", "100", "–"], "d": ["0", "", "100"], "e": ["–", "0", ""]}),
        (2, {"a": ["", "100"], "b": ["0", ""]}),
    ]
    assert crossings.filter == "ruleset=standard&seats=2"
    assert make_crossings(stand([("a", "b")], ["a", "b"]), "standard-2", {}).tables[0].group is None


def test_long_names_that_begin_alike_are_told_apart_by_their_ends() -> None:
    names = [f"planner-with-a-seed-depth-{depth}" for depth in (2, 3)]

    (table,) = make_crossings(stand([(names[0], names[1])], names), "standard-2", {}).tables

    assert [row.short for row in table.rows] == ["planner-…d-depth-2", "planner-…d-depth-3"]


def test_downloads_have_a_row_for_each_pair_and_direction(tmp_path: Path) -> None:
    found = stand([("=a", "b")], ["=a", "b", "idle"])

    write_crosstables(Folder(tmp_path), [(found, make_crossings(found, "standard-2", {}))])

    first = {"bot": "=a", "opponent": "b", "games": 2, "won": 2, "drawn": 0, "lost": 0, "score": 1.0}
    assert json.loads((tmp_path / "data/crosstable-standard-2.json").read_text()) == [
        first,
        {"bot": "b", "opponent": "=a", "games": 2, "won": 0, "drawn": 0, "lost": 2, "score": 0.0},
    ]
    with (tmp_path / "data/crosstable-standard-2.csv").open(newline="") as file:
        assert len(list(csv.reader(file))) == 3


@given(st.lists(st.integers(0, 100_000), min_size=5, max_size=5))
def test_a_bar_of_deals_is_full_and_in_proportion(counts: list[int]) -> None:
    bar = make_deal_bar(counts)

    if bar is None:
        assert not any(counts)
        return
    ends = [round(piece.left + piece.width, 1) for piece in bar.pieces]
    assert [0.0, *ends] == [piece.left for piece in bar.pieces] + [100.0]
    assert [piece.points for piece in bar.pieces] == sorted({piece.points for piece in bar.pieces}, reverse=True)
    assert all(abs(piece.width - 100 * counts[piece.points] / sum(counts)) < 0.11 for piece in bar.pieces)


def test_a_bar_of_deals_says_its_counts() -> None:
    bar = make_deal_bar((1, 0, 1200, 3, 7))

    assert bar is not None
    assert bar.summary == ("1,211 deals: won both: 7; won one, drew one: 3; one each: 1,200; lost both: 1")


def test_a_row_is_found_by_its_version_where_there_are_several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    league = GrowingLeague(tmp_path / "course.db", monkeypatch)
    found = []
    for entries in ({"ann": 1, "bob": 1}, {"ann": 2, "bob": 1}, {"ann": 1, "bob": 1}, {"ann": 1, "bob": 1, "ann@1": 1}):
        league.play(entries)
        with Store(league.path) as store:
            found.append(name_versions(store.read()))

    assert found == [{}, {"ann": "ann@2"}, {"ann": "ann@1"}, {}]
    crossings = make_crossings(stand([("a", "b")], ["a", "b"]), "standard-2", {"a": "a@2"})
    assert [row.address for row in crossings.tables[0].rows] == ["a%402", "b"]
