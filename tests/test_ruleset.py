"""Rulesets as files: what loads, what is refused, and that every refusal says what exists."""

from pathlib import Path

import pytest

from malice.referee.errors import DataError, RulesetError
from malice.referee.games import DEFAULT_FAMILY
from malice.referee.games.spite.parameters import Compulsory, Parameters
from malice.referee.rulesets import load_ruleset, read_ruleset


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


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


def test_a_ruleset_belongs_to_the_game_that_it_names_or_to_that_of_the_one_it_extends(tmp_path: Path) -> None:
    named = read_ruleset(written(tmp_path, f'family = "{DEFAULT_FAMILY}"'))
    inherited = read_ruleset(written(tmp_path, 'extends = "book"'))

    assert (named.family, inherited.family) == (DEFAULT_FAMILY, load_ruleset("book").family)
    with pytest.raises(RulesetError, match=r"mine\.toml: family = 'stairs', but it extends 'book' of the game 'spite'"):
        read_ruleset(written(tmp_path, 'family = "stairs"\nextends = "book"'))


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
        ('recycle = "under"', "recycle: invalid enum value 'under': expected one of 'shuffle', 'bottom', 'aside'"),
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
        ('about = "a"\nsource = "s"\nruels = {}', "unknown field 'ruels' (did you mean 'rules'?); fields here: family"),
        (
            'about = "a"\nsource = "s"\nextends = "bok"',
            "extends unknown ruleset 'bok' (did you mean 'book'?)",
        ),
        ('family = "spire"', ": unknown game 'spire' (did you mean 'spite'?)"),
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
