"""Drawn tables: everybody sits equally often, all are connected if the tables suffice, and meetings are even."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malice.tournaments.league.formats.draw import Spread, draw_tables, measure_spread


@st.composite
def draws(draw: st.DrawFn) -> tuple[int, int, int]:
    """Entries, seats, tables."""
    entries = draw(st.integers(2, 20))
    return entries, draw(st.integers(2, min(entries, 6))), draw(st.integers(1, 40))


def count_groups(tables: Iterable[tuple[int, ...]], entries: int) -> int:
    """Walk from entry to entry, table by table."""
    met: dict[int, set[int]] = defaultdict(set)
    for table in tables:
        for entry in table:
            met[entry] |= set(table)
    unseen, groups = set(range(entries)), 0
    while unseen:
        groups += 1
        found = [unseen.pop()]
        while found:
            near = met[found.pop()] & unseen
            unseen -= near
            found += near
    return groups


@given(draws())
@settings(max_examples=60, deadline=None)
def test_all_sit_equally_often_and_are_connected_whenever_the_tables_suffice(case: tuple[int, int, int]) -> None:
    entries, seats, tables = case

    drawn = draw_tables(range(entries), seats, tables)

    sat = Counter(entry for table in drawn for entry in table)
    assert [len(set(table)) for table in drawn] == [seats] * tables
    assert max(sat.values()) - min(sat[entry] for entry in range(entries)) <= 1
    # A table joins as many groups as it has seats: with fewer groups than this no draw could do.
    assert count_groups(drawn, entries) == max(1, entries - tables * (seats - 1))


@given(st.integers(2, 16), st.integers(1, 150))
@settings(max_examples=60, deadline=None)
def test_with_two_seats_any_two_entries_meet_as_often_as_any_others_give_or_take_one(entries: int, tables: int) -> None:
    spread = measure_spread(draw_tables(range(entries), 2, tables), entries)

    assert spread.most - spread.fewest <= 1


@pytest.mark.parametrize(
    ("entries", "seats", "tables", "fewest", "most"),
    [
        (9, 3, 12, 1, 1),
        (16, 4, 20, 1, 1),
        (10, 4, 30, 4, 4),
        (5, 4, 10, 6, 6),
        (32, 3, 80, 0, 1),
        (32, 4, 80, 0, 2),
        (30, 6, 100, 2, 5),
    ],
)
def test_with_more_seats_meetings_are_nearly_even(
    entries: int, seats: int, tables: int, fewest: int, most: int
) -> None:
    spread = measure_spread(draw_tables(range(entries), seats, tables), entries)

    assert fewest <= spread.fewest
    assert spread.most <= most
    assert spread.groups == 1


def test_the_entries_are_drawn_in_the_given_order() -> None:
    places = draw_tables(range(6), 3, 7)

    drawn = draw_tables([5, 0, 3, 1, 4, 2], 3, 7)

    assert drawn == tuple(tuple([5, 0, 3, 1, 4, 2][place] for place in table) for table in places)


def test_the_spread_counts_meetings_and_groups() -> None:
    assert measure_spread([(0, 1, 2), (0, 1, 2), (3, 0, 1)], 5) == Spread(fewest=0, most=3, groups=2)
    assert measure_spread([(0, 1), (2, 1), (0, 2)], 3) == Spread(fewest=1, most=1, groups=1)
    assert measure_spread(list(combinations(range(6), 2)), 6).groups == 1
