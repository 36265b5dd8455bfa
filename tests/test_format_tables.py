"""The tables of formats that do not rank by ratings: shared places, who takes a rank, and what they were earlier."""

from __future__ import annotations

from typing import Literal

import pytest

from malice.tournaments.league.formats.decisions import make_table, make_table_before
from malice.tournaments.league.ranking import compute_league_standings
from tests.houses import House
from tests.rounds import draw, make_swiss, win_by_name
from tests.site_league import LABELS, League


@pytest.mark.parametrize("name", ["swiss", "knockout"])
def test_the_table_before_a_round_is_what_it_was(name: Literal["swiss", "knockout"]) -> None:
    settings = {"rounds": 3} if name == "swiss" else {}
    house = House("abcd", format=name, deals=1, **settings)
    before = []
    for _ in range(2):
        before.append(make_table(house.look()))
        house.finish(house.create(), places=win_by_name)

    assert make_table_before(house.look(), 1) == before[1] != make_table(house.look())
    assert make_table_before(house.look(), 0) == (), "nobody had played"


def test_equal_points_and_buchholz_share_a_place_in_a_swiss() -> None:
    house = House("abcd", format="swiss", rounds=3, deals=1)
    house.finish(house.create(), places=draw)

    assert [(place.label, place.place) for place in make_table(house.look())] == [(each, 1) for each in "abcd"]


def test_who_does_not_play_keeps_its_points_and_takes_no_rank() -> None:
    house = make_swiss(LABELS[:4], rounds=1)
    house.finish(house.create())
    league = League(LABELS[:4], deals=1)
    league.follow(house.look())
    first = league.read().table[0]
    league.decide(first.label, "withdrawn")

    (found,) = compute_league_standings(league.read())

    *active, last = found.rows
    assert (last.label, last.rank, last.points) == (first.label, None, first.points)
    assert [row.rank for row in active] == sorted(
        1 + sum((row.points, row.buchholz) < (other.points, other.buchholz) for other in active) for row in active
    )
    assert [row.tied for row in active] == [[other.rank for other in active].count(row.rank) > 1 for row in active]
