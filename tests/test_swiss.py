"""The Swiss system: who meets whom, who has a bye, and what the table says, whatever happens between the rounds."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malice.tournaments.league.formats.decisions import Done, Wait
from malice.tournaments.league.formats.swiss import (
    Encounter,
    UnpairedEntry,
    find_first_rematch,
    find_missing_round,
    pair_up,
    rank_swiss,
)
from malice.tournaments.league.parts import Part
from tests.command_line import malice
from tests.houses import House
from tests.rounds import ALPHABET, draw, make_swiss, name_pairs, win_by_name


def rank(house: House) -> list[tuple[str, float, float]]:
    return [(row.label, float(row.points), float(row.buchholz)) for row in rank_swiss(house.look())]


def test_the_upper_half_meets_the_lower_and_then_winners_meet_winners() -> None:
    house = make_swiss("abcd", rounds=2)
    first = house.create()
    assert (first.title, name_pairs(first), first.byes) == ("round 1 of 2", ["ac", "bd"], ())
    assert isinstance(house.decide(), Wait)

    house.finish(first, places=win_by_name)
    second = house.create()

    assert (second.title, name_pairs(second)) == ("round 2 of 2", ["ab", "cd"])
    house.finish(second, places=win_by_name)
    assert isinstance(house.decide(), Done)
    assert rank(house) == [("a", 2, 2), ("b", 1, 2), ("c", 1, 2), ("d", 0, 2)]


def test_a_bye_is_a_point_and_goes_to_the_last_who_had_none() -> None:
    house = make_swiss("abc")
    byes = []
    for _ in range(3):
        part = house.create()
        byes += [version.label for version in part.byes]
        house.finish(part, places=win_by_name)

    assert sorted(byes) == ["a", "b", "c"]
    assert {label: points for label, points, _ in rank(house)} == {"a": 3, "b": 2, "c": 1}


def test_a_bye_counts_in_buchholz_as_an_opponent_with_the_points_of_the_entry_who_then_draws_on() -> None:
    house = make_swiss("abc")
    for _ in range(3):
        house.finish(house.create(), places=win_by_name)

    # The byes: c in round 1, without points, two rounds before the end; b in round 2, with none; a in the last, with 2.
    assert rank(house) == [("a", 3, 2 + 1 + 2), ("b", 2, 3 + 1 + 0.5), ("c", 1, 3 + 2 + 1)]


def test_a_drawn_match_gives_half_a_point_to_each() -> None:
    house = make_swiss("ab", rounds=1)
    house.finish(house.create(), places=draw)

    assert rank(house) == [("a", 0.5, 0.5), ("b", 0.5, 0.5)]


def test_whoever_leaves_loses_the_match_and_both_do_if_both_leave() -> None:
    house = make_swiss("abcd", rounds=2)
    part = house.create()
    house.change_state("a", "withdrawn")
    house.change_state("b", "withdrawn")
    house.change_state("d", "withdrawn")

    house.finish(part)

    assert [(label, points) for label, points, _ in rank(house)] == [("c", 1), ("a", 0), ("b", 0), ("d", 0)]
    house.change_state("a", "playing")
    assert rank(house)[0][:2] == ("c", 1), "what is lost stays lost"
    assert name_pairs(house.create()) == ["ac"]


def test_matches_of_a_disqualified_entry_become_byes_of_its_opponents() -> None:
    house = make_swiss("abcd", rounds=2)
    house.finish(house.create(), places=win_by_name)

    house.change_state("a", "disqualified")

    rows = {row.label: row for row in rank_swiss(house.look())}
    assert rows["c"].encounters == (Encounter(None, Fraction(1), disqualified="a"),)
    assert rows["a"].points == 0
    assert list(rows)[-1] == "a"
    assert [each.label for each in house.create().byes] == ["d"]


@pytest.mark.parametrize(("labels", "first"), [("ab", 2), ("abc", 4), ("abcd", 4)])
def test_with_more_rounds_than_opponents_rematches_are_foreseen(labels: str, first: int) -> None:
    house = make_swiss(labels, rounds=first)
    assert find_first_rematch(house.tournament) == first
    met = [frozenset(pair) for part in house.play_through() for pair in name_pairs(part)]
    assert (len(met), len(set(met))) == (first * (len(labels) // 2), (first - 1) * (len(labels) // 2))
    assert find_first_rematch(make_swiss(labels, rounds=first - 1).tournament) is None


def test_an_absent_entry_is_in_no_further_round_until_it_is_back() -> None:
    house = make_swiss("abcd", rounds=3)
    house.finish(house.create(), places=win_by_name)
    house.read("abcd", broken="a")

    part = house.create()

    assert "a" not in "".join([*name_pairs(part), *(version.label for version in part.byes)])
    house.finish(part, places=win_by_name)
    house.read("abcd", broken="abc")
    assert isinstance(house.decide(), Done)
    assert (find_missing_round(house.look()), find_first_rematch(house.tournament)) == (3, None)
    house.read("abcd")
    assert find_missing_round(house.look()) is None
    assert "a" in "".join(name_pairs(house.create()))


def test_a_late_entry_begins_without_points_and_a_new_version_keeps_its_place() -> None:
    house = make_swiss("abcd", rounds=3)
    house.finish(house.create(), places=win_by_name)
    house.read("abcde", "a")

    part = house.create()

    assert {version.label: version.number for table in part.tables for version in table.versions}["a"] == 2
    house.finish(part, places=win_by_name)
    rows = {row.label: row for row in rank_swiss(house.look())}
    assert rows["a"].points == 2
    assert rows["e"].encounters[0] is None


@settings(max_examples=12, deadline=None)
@given(entries=st.integers(2, 40), rounds=st.integers(1, 9), chance=st.randoms(use_true_random=False))
def test_nobody_meets_anybody_twice_before_it_must_be(entries: int, rounds: int, chance: object) -> None:
    met: set[frozenset[str]] = set()
    byes: set[str] = set()
    points = dict.fromkeys(ALPHABET[:entries], Fraction())
    for number in range(min(rounds, entries // 2)):
        ranked = sorted(points, key=lambda label: (-points[label], label))
        opponents = {label: [*(next(iter(pair - {label})) for pair in met if label in pair)] for label in ranked}
        pairs, bye = pair_up([UnpairedEntry(each, points[each], opponents[each], each in byes) for each in ranked])
        seated = [label for pair in pairs for label in pair] + ([bye] if bye else [])
        assert sorted(seated) == sorted(ranked), "everybody has a match or a bye"
        assert (bye is None) == (entries % 2 == 0)
        assert bye not in byes
        assert met.isdisjoint(map(frozenset, pairs)), f"a rematch in round {number}"
        met |= set(map(frozenset, pairs))
        byes |= {bye} if bye else set()
        for pair in pairs:
            points[chance.choice(pair)] += 1  # type: ignore[attr-defined]
        if bye:
            points[bye] += 1


@settings(max_examples=10, deadline=None)
@given(data=st.data(), entries=st.integers(2, 20), rounds=st.integers(1, 6))
def test_a_tournament_ends_whoever_leaves_comes_back_or_comes_late(
    data: st.DataObject, entries: int, rounds: int
) -> None:
    house = make_swiss(ALPHABET[:entries], rounds=rounds)
    labels = ALPHABET[:entries]
    for _ in range(rounds):
        decision = house.decide()
        if isinstance(decision, Done):
            break
        part = house.create()
        leaves = data.draw(st.booleans())
        house.change_state(data.draw(st.sampled_from(labels)), "withdrawn" if leaves else "playing")
        house.finish(part, places=win_by_name)
        if data.draw(st.booleans()) and len(labels) < 30:
            labels += ALPHABET[40 + len(labels) - entries]
            house.read(labels)

    rows = rank_swiss(house.look())
    assert sorted(row.label for row in rows) == sorted(labels)
    assert all(better.points >= worse.points for better, worse in pairwise(rows))
    assert sum(row.points for row in rows) <= sum(map(count_points, house.tournament.parts))
    assert all(len(row.encounters) == len(house.tournament.parts) for row in rows)


def count_points(part: Part) -> int:
    return len(part.tables) + len(part.byes)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "expected rounds = N"),
        ('rounds = 2\nrulesets = ["standard", "book"]', "expected one ruleset, got 2"),
        ('rounds = 2\nrulesets = ["multi-4"]', "expected tables of two seats, got 4"),
        ("rounds = 2\ntables = 3", 'tables: belongs to format = "round-robin"'),
    ],
)
def test_a_file_that_describes_no_swiss_is_refused(line: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text(f'format = "swiss"\nentries = ["first", "uniform", "greedy", "staller"]\n{line}\n')

    result = malice("run", path, "--db", tmp_path / "t.db")

    assert (result.exit_code, said in result.output) == (2, True), result.output
