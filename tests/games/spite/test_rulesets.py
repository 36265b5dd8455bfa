"""The rulesets that ship: what they are called, what they say of themselves, and that each line of them counts."""

import re
import tomllib

import pytest

from malice.referee.games import DEFAULT_RULESET
from malice.referee.games.spite import FAMILY
from malice.referee.games.spite.parameters import Parameters
from malice.referee.rulesets import list_rulesets, load_ruleset

FOLDER = FAMILY.folder / "rulesets"
PRESETS = """
    aces book book-end book-must-play book-unlimited cat-and-mouse cats-multi cats-unlimited catsatcards classic
    four-stacks g4a gamerules jokers-kings jokers-only loading massachusetts match-50 multi multi-3 multi-3-decks
    multi-4 multi-three-stacks netintell no-ace no-ace-seven partners-4 partners-6 payoff-21 payoff-25 skipbo skipbo-20
    skipbo-partners skipbo-short spread squared standard three-deck two-deck unlimited wiki wiki-4 wiki-waiting
"""


def test_every_ruleset_of_the_family_ships() -> None:
    assert list_rulesets(FAMILY.name) == tuple(PRESETS.split())


@pytest.mark.parametrize("name", list_rulesets(FAMILY.name))
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
    assert load_ruleset(DEFAULT_RULESET).rules == Parameters(stock_out_result="fewest")


def test_side_stacks_are_squared_in_two_rulesets_alone() -> None:
    assert [name for name in list_rulesets(FAMILY.name) if load_ruleset(name).rules.side_visible == "top"] == [
        "classic",
        "squared",
    ]


def test_what_extends_classic_says_how_its_side_stacks_lie() -> None:
    files = {name: tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8")) for name in list_rulesets(FAMILY.name)}

    assert not [
        name for name, file in files.items() if file.get("extends") == "classic" and "side_visible" not in file["rules"]
    ]


def test_a_chain_of_files_is_followed_to_its_end() -> None:
    assert load_ruleset("cats-unlimited").rules.jokers == load_ruleset("book").rules.jokers == 4


@pytest.mark.parametrize("name", list_rulesets(FAMILY.name))
def test_every_line_of_a_ruleset_changes_something(name: str) -> None:
    file = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
    own = load_ruleset(name).rules
    parent = load_ruleset(file["extends"]).rules if "extends" in file else Parameters()

    idle = [field for field in file.get("rules", {}) if getattr(own, field) == getattr(parent, field)]

    assert idle == []
