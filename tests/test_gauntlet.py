"""The gauntlet: challengers against the rest, on the same cards."""

from __future__ import annotations

from pathlib import Path

import pytest

from malice.tournaments.league.config import read_config
from tests.command_line import malice
from tests.houses import House
from tests.rounds import name_pairs


@pytest.mark.parametrize("fields", [{"challengers": ("a", "b")}, {"opponents": ("c", "d", "e")}])
def test_challengers_meet_all_others_and_nobody_else_meets(fields: dict[str, object]) -> None:
    part = House("abcde", format="gauntlet", **fields).create()

    assert sorted(name_pairs(part)) == ["ac", "ad", "ae", "bc", "bd", "be"]
    assert part.title == "gauntlet"


def test_a_new_challenger_is_a_part_of_its_own() -> None:
    house = House("abc", format="gauntlet", opponents=("a",))
    house.finish(house.create())
    house.read("abcd")

    part = house.create()

    assert (part.title, name_pairs(part)) == ("adds d", ["ad"])


def test_a_gauntlet_has_common_deals_unless_told_not_to(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    text = 'format = "gauntlet"\nchallengers = ["first"]\nentries = ["first", "uniform"]\n'
    path.write_text(text)
    assert read_config(path).common_deals
    path.write_text(f"{text}common_deals = false\n")
    assert not read_config(path).common_deals


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "expected challengers = [...] or opponents = [...]"),
        ('challengers = ["first"]\nopponents = ["uniform"]', "and not both"),
        ('challengers = ["nobody"]', "challengers: no entry 'nobody'"),
        ('opponents = ["first", "uniform"]', "opponents: expected some of the entries, got all of them"),
        ('challengers = ["first"]\nrounds = 3', 'rounds: belongs to format = "swiss"'),
    ],
)
def test_a_file_that_describes_no_gauntlet_is_refused(line: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text(f'format = "gauntlet"\nentries = ["first", "uniform"]\n{line}\n')

    result = malice("run", path, "--db", tmp_path / "t.db")

    assert (result.exit_code, said in result.output) == (2, True), result.output


@pytest.mark.slow
def test_all_tables_of_a_gauntlet_have_the_same_cards(tmp_path: Path) -> None:
    path, db = tmp_path / "t.toml", tmp_path / "t.db"
    path.write_text(
        'format = "gauntlet"\nchallengers = ["greedy"]\nentries = ["greedy", "first", "uniform"]\ndeals = 2\n'
    )
    assert malice("run", path, "--db", db).exit_code == 0

    seeds: dict[str, set[str]] = {}
    for line in malice("export", db).stdout.splitlines():
        key, seed = line.partition('"key":"')[2].partition('"')[0], line.partition('"deal_seed":"')[2][:64]
        seeds.setdefault(key.split(".")[2], set()).add(seed)

    assert {deal: len(each) for deal, each in seeds.items()} == {"0": 1, "1": 1}
    assert malice("verify", db).exit_code == 0
