"""The round-robin: which part it asks for, whatever was played, and whoever comes, changes or leaves."""

from __future__ import annotations

from collections import Counter

import pytest

from malice.tournaments.league.formats.decisions import Done, Wait
from malice.tournaments.league.formats.growing import BLOCK_DEALS, SERIES_BLOCKS
from malice.tournaments.league.journal import State
from malice.tournaments.league.parts import Part, VersionKey
from malice.tournaments.league.tournament import Workload, measure_workload
from tests.houses import House


def name_tables(part: Part) -> list[str]:
    """Return the labels of each table in the order of the file; a newer version has its number."""
    return ["".join(_name(version) for version in table.versions) for table in part.tables]


def _name(version: VersionKey) -> str:
    return version.label if version.number == 1 else f"{version.label}{version.number}"


def list_afters(part: Part) -> set[tuple[int, int] | None]:
    return {table.after for table in part.tables}


def test_the_whole_round_robin_comes_first_round_by_round() -> None:
    part = House("abcd").create()

    assert (part.title, part.deals, part.block, part.common_deals) == ("round-robin", 2, False, False)
    assert name_tables(part) == ["ad", "bc", "bd", "ac", "cd", "ab"]
    assert list_afters(part) == {None}


def test_every_ruleset_has_all_its_tables_whatever_their_seats() -> None:
    part = House("abcd", rulesets=("standard", "multi-3"), common_deals=True).create()

    assert Counter(table.ruleset for table in part.tables) == {"standard": 6, "multi-3": 4}
    assert sorted(name_tables(part)[6:]) == ["abc", "abd", "acd", "bcd"]
    assert part.common_deals


def test_it_waits_while_a_part_is_open_and_is_done_when_none_is() -> None:
    house = House("abc")
    part = house.create()

    assert isinstance(house.decide(), Wait)
    house.finish(part)
    assert isinstance(house.decide(), Done)


def test_a_newcomer_meets_everybody_even_while_the_first_part_is_open() -> None:
    house = House("abc")
    first = house.create()
    house.read("abcd")

    part = house.create()

    assert (part.title, part.first, part.deals) == ("adds d", house.tournament.schedules[0].total, 2)
    assert sorted(name_tables(part)) == ["ad", "bd", "cd"]
    assert isinstance(house.decide(), Wait)
    house.finish(first)
    assert isinstance(house.decide(), Wait)


def test_a_newcomer_before_others_in_the_file_changes_no_table_that_was_played() -> None:
    house = House("bc")
    house.finish(house.create())
    house.read("abc")

    assert sorted(name_tables(house.create())) == ["ab", "ac"]


def test_more_deals_are_added_to_every_table_and_go_on_with_it() -> None:
    house = House("abc")
    house.finish(house.create())
    house.read("abc", deals=5)

    part = house.create()

    assert (part.title, part.deals) == ("3 more deals at 3 tables", 3)
    assert {table.after for table in part.tables} == {(0, 0), (0, 1), (0, 2)}
    assert [table.versions for table in part.tables] == [table.versions for table in house.tournament.parts[0].tables]


def test_a_newcomer_and_more_deals_make_two_parts_since_they_lack_different_numbers_of_deals() -> None:
    house = House("ab")
    house.finish(house.create())
    house.read("abc", deals=3)

    parts = house.play_through()[1:]

    assert [(part.title, part.deals, sorted(name_tables(part))) for part in parts] == [
        ("adds c", 3, ["ac", "bc"]),
        ("1 more deal at 1 table", 1, ["ab"]),
    ]


def test_a_new_ruleset_gives_every_pair_a_table() -> None:
    house = House("abc")
    house.finish(house.create())
    house.read("abc", rulesets=("standard", "classic"))

    part = house.create()

    assert (part.title, {table.ruleset for table in part.tables}) == ("adds classic", {"classic"})
    assert sorted(name_tables(part)) == ["ab", "ac", "bc"]


def test_a_new_version_plays_everybody_afresh_and_the_games_of_the_old_one_stay() -> None:
    house = House("abc")
    house.finish(house.create())
    house.read("abc", changed="b")

    part = house.create()

    assert part.title == "adds b, version 2"
    assert sorted(name_tables(part)) == ["ab2", "b2c"]
    assert list_afters(part) == {None}


def test_an_older_version_that_comes_back_needs_no_game_that_it_played() -> None:
    house = House("abc")
    house.finish(house.create())
    house.read("abc", changed="b")
    house.finish(house.create())
    house.go_back("b")
    house.read("abc")

    assert isinstance(house.decide(), Done)


@pytest.mark.parametrize("state", ["withdrawn", "disqualified"])
def test_an_entry_that_left_gets_nothing(state: State) -> None:
    house = House("abc")
    first = house.create()
    house.change_state("c", state)
    house.read("abcd", deals=3)

    assert [sorted(name_tables(part)) for part in (house.create(), house.create())] == [["ad", "bd"], ["ab"]]
    house.finish(first)
    assert isinstance(house.decide(), Wait)


def test_a_reinstated_entry_gets_what_it_missed_once_the_part_is_closed() -> None:
    house = House("abc")
    first = house.create()
    house.change_state("c", "withdrawn")
    house.change_state("c", "playing")
    assert isinstance(house.decide(), Wait), "its games are open"
    house.change_state("c", "withdrawn")
    house.finish(first)
    assert isinstance(house.decide(), Done)

    house.change_state("c", "playing")
    part = house.create()

    assert sorted(name_tables(part)) == ["ac", "bc"]
    assert part.title == "2 more deals at 2 tables"
    assert None not in list_afters(part)


def test_a_suspended_entry_gets_no_new_games_until_it_is_readmitted() -> None:
    house = House("abc")
    house.finish(house.create())
    house.read("abcd", deals=3)

    parts = house.create(["c"]), house.create(["c"])

    assert [sorted(name_tables(part)) for part in parts] == [["ad", "bd"], ["ab"]]
    assert isinstance(house.decide(["c"]), Wait)
    later = house.create(), house.create()
    assert [(part.deals, sorted(name_tables(part))) for part in later] == [(3, ["cd"]), (1, ["ac", "bc"])]


def test_as_many_tables_are_drawn_as_the_file_asks_for_and_the_same_whenever_it_is_asked() -> None:
    house = House("abcdef", tables=6)

    part = house.create()

    assert len(part.tables) == 6
    assert set(Counter("".join(name_tables(part))).values()) == {2}
    assert name_tables(House("abcdef", tables=6).create()) == name_tables(part)
    assert isinstance(house.decide(), Wait)


@pytest.mark.parametrize(("ruleset", "seats"), [("standard", 2), ("multi-4", 4)])
def test_a_newcomer_to_drawn_tables_sits_as_often_as_the_others(ruleset: str, seats: int) -> None:
    house = House("abcdef", tables=6, rulesets=(ruleset,))
    often = max(Counter("".join(name_tables(house.create()))).values())
    house.read("abcdefg")

    part = house.create()

    assert part.title == "adds g"
    assert {len(table.versions) for table in part.tables} == {seats}
    assert Counter("".join(name_tables(part)))["g"] == often
    assert isinstance(house.decide(), Wait), "nobody else gets a table of the newcomer's"


def test_blocks_decide_open_series_when_all_parts_are_closed_and_not_before() -> None:
    house = House("abc", rulesets=("g4a",))
    first = house.create()
    assert isinstance(house.decide(), Wait)
    house.finish(first, points=(10, 0))

    block = house.create()

    assert (block.title, block.deals, block.block) == ("block 1 of deals for open series", BLOCK_DEALS, True)
    assert {table.after for table in block.tables} == {(0, 0), (0, 1), (0, 2)}
    assert isinstance(house.decide(), Wait)
    house.finish(block, points=(10, 0))
    assert isinstance(house.decide(), Done), "70 points decide a series of 50"


def test_only_tables_with_open_series_and_entries_that_play_get_blocks() -> None:
    house = House("abc", rulesets=("g4a",))
    house.finish(house.create(), points=(10, 0))
    house.change_state("c", "withdrawn")

    assert name_tables(house.create()) == ["ab"]


def test_series_that_nobody_wins_stay_open_after_so_many_blocks() -> None:
    house = House("ab", rulesets=("g4a",), deals=1)

    parts = house.play_through()

    assert len(parts) == 1 + SERIES_BLOCKS
    assert [part.tables[0].after for part in parts[1:]] == [(number, 0) for number in range(SERIES_BLOCKS)]


def test_a_file_without_series_gets_no_blocks() -> None:
    house = House("ab", rulesets=("g4a",), series=False)

    assert len(house.play_through()) == 1


def test_deals_of_blocks_are_none_of_those_that_the_file_asks_for() -> None:
    house = House("ab", rulesets=("g4a",), deals=1)
    house.finish(house.create(), points=(20, 0))
    house.finish(house.create(), points=(20, 0))
    house.read("ab", deals=3)

    part = house.create()

    assert (part.deals, part.block, list_afters(part)) == (2, False, {(1, 0)})


def test_open_games_of_a_version_that_was_taken_back_are_not_there_to_be_played() -> None:
    house = House("abc")
    house.create()
    house.read("abc", "a")
    second = house.create()
    house.go_back("a")
    house.read("abc")

    assert measure_workload(house.tournament, {}) == Workload(tables=3, games=12, batches=12)
    played = {(second.number, 0): 1}
    assert measure_workload(house.tournament, played) == Workload(tables=4, games=13, batches=13)
