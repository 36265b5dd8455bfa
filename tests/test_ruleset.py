"""Rulesets as files: what loads, what is refused, and that every refusal says what exists."""

import re
import tomllib
from pathlib import Path

import pytest

from referee.errors import DataError, RulesetError
from referee.games.spite.parameters import Compulsory, Parameters
from referee.rulesets import DEFAULT, FOLDER, list_rulesets, load_ruleset, read_ruleset

PRESETS = """
    aces book book-end book-must-play book-unlimited cat-and-mouse cats-multi cats-unlimited catsatcards classic
    four-stacks g4a gamerules jokers-kings jokers-only loading massachusetts match-50 multi multi-3 multi-3-decks
    multi-4 netintell no-ace no-ace-seven partners-4 partners-6 payoff-21 payoff-25 skipbo skipbo-20 skipbo-partners
    skipbo-short spread squared standard three-deck two-deck unlimited wiki wiki-4
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_ruleset_of_the_family_ships() -> None:
    assert list_rulesets() == tuple(PRESETS.split())


@pytest.mark.parametrize("name", list_rulesets())
def test_a_ruleset_says_what_it_is_and_where_it_comes_from(name: str) -> None:
    ruleset = load_ruleset(name)

    assert ruleset.name == name
    assert 10 < len(ruleset.about) <= 120
    assert "\n" not in ruleset.about
    assert re.match(r"\S+\.com\b|a wiki, |Skip-Bo, ", ruleset.source), "a title, with the place first"
    assert not re.search(r"\.txt|\.html?\b|[0-9a-f]{8}|/", ruleset.source), "no name of a file"


def test_the_defaults_are_spread_and_the_default_is_standard() -> None:
    assert load_ruleset("spread").rules == Parameters()
    assert load_ruleset("classic").rules == Parameters(side_visible="top")
    assert load_ruleset(DEFAULT).rules == Parameters(stock_out_result="fewest")


def test_side_stacks_are_squared_in_two_rulesets_alone() -> None:
    assert [name for name in list_rulesets() if load_ruleset(name).rules.side_visible == "top"] == [
        "classic",
        "squared",
    ]


def test_what_extends_classic_says_how_its_side_stacks_lie() -> None:
    files = {name: tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8")) for name in list_rulesets()}

    assert not [
        name for name, file in files.items() if file.get("extends") == "classic" and "side_visible" not in file["rules"]
    ]


def test_an_unknown_name_is_answered_with_the_nearest_and_the_command_that_lists_all() -> None:
    with pytest.raises(RulesetError) as refusal:
        load_ruleset("skipbo-part")

    nearest = "'skipbo-partners' or 'skipbo-short' or 'skipbo'"
    assert str(refusal.value) == f"unknown ruleset 'skipbo-part' (did you mean {nearest}?); `malice rules` lists all"


def test_a_file_extends_a_ruleset_that_ships(tmp_path: Path) -> None:
    path = written(tmp_path, 'about = "a"\nsource = "s"\nextends = "book"\n[rules]\nplayers = [2, 2]\njokers = 6\n')

    ruleset = read_ruleset(path)

    assert (ruleset.name, ruleset.about, ruleset.source) == ("mine", "a", "s")
    assert (ruleset.rules.jokers, ruleset.rules.side_rule) == (6, "equal_or_one_lower")


def test_a_table_of_the_extended_ruleset_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = written(tmp_path, 'about = "a"\nsource = "s"\nextends = "book"\n[rules.compulsory]\nhand = "A"\n')

    assert read_ruleset(path).rules.compulsory == Compulsory(hand="A")


def test_a_chain_of_files_is_followed_to_its_end() -> None:
    assert load_ruleset("cats-unlimited").rules.jokers == load_ruleset("book").rules.jokers == 4


def test_a_file_of_the_same_name_elsewhere_may_extend_the_one_that_ships(tmp_path: Path) -> None:
    path = tmp_path / "standard.toml"
    path.write_text('about = "a"\nsource = "s"\nextends = "standard"\n[rules]\nhand_size = 6\n', encoding="utf-8")

    assert read_ruleset(path).rules == Parameters(stock_out_result="fewest", hand_size=6)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("hand_sise = 5", "rules: unknown field 'hand_sise' (did you mean 'hand_size'?); fields here: players, teams"),
        (
            'compulsory = { hands = "A" }',
            "unknown field 'hands' (did you mean 'hand'?); fields here: hand, payoff, side",
        ),
        ('recycle = "under"', "recycle: invalid enum value 'under'; expected one of 'shuffle', 'bottom', 'aside'"),
        ('hand_size = "five"', "hand_size: expected `int`, got `str`"),
        ("players = 2", "players: expected `array`, got `int`"),
        ("wild_kings = 1", "wild_kings: expected `bool`, got `int`"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_would(tmp_path: Path, rules: str, message: str) -> None:
    path = written(tmp_path, f'about = "a"\nsource = "s"\n[rules]\n{rules}\n')

    with pytest.raises(DataError) as refusal:
        read_ruleset(path)

    assert str(refusal.value).startswith(f"{path}: rules")
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('about = "a"\nsource = "s"\nruels = {}', "unknown field 'ruels' (did you mean 'rules'?); fields here: ab"),
        (
            'about = "a"\nsource = "s"\nextends = "bok"',
            "extends unknown ruleset 'bok' (did you mean 'book'?)",
        ),
        ('about = "a', "not TOML:"),
    ],
)
def test_what_is_no_ruleset_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)

    with pytest.raises(DataError) as refusal:
        read_ruleset(path)

    assert str(refusal.value).startswith(f"{path}: ")
    assert message in str(refusal.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.toml: No such file or directory"):
        read_ruleset(tmp_path / "none.toml")


@pytest.mark.parametrize("name", list_rulesets())
def test_every_line_of_a_ruleset_changes_something(name: str) -> None:
    file = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
    own = load_ruleset(name).rules
    parent = load_ruleset(file["extends"]).rules if "extends" in file else Parameters()

    idle = [field for field in file.get("rules", {}) if getattr(own, field) == getattr(parent, field)]

    assert idle == []
