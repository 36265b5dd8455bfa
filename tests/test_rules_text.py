"""Rulesets in words: nothing without prose, values as TOML, and exactly what differs."""

import tomllib
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.referee.errors import RulesetError
from malice.referee.games.spite import FAMILY
from malice.referee.games.spite.parameters import Parameters
from malice.referee.rules_text import RulesetText, SeatsText, compare_rulesets, make_ruleset_text, read_parameter_texts
from malice.referee.rulesets import Ruleset, list_rulesets, load_ruleset, read_ruleset


def own(name: str, rules: Parameters) -> Ruleset:
    """Return a ruleset that does not ship."""
    return Ruleset(name, FAMILY.name, "", "", rules)


def test_every_parameter_has_prose_in_whole_sentences() -> None:
    for name, text in read_parameter_texts(FAMILY).items():
        assert len(text) > 25, name
        assert text[0].isupper(), name
        assert text.endswith("."), name
        assert "  " not in text, name


def test_a_ruleset_is_shown_in_the_order_of_its_parameters() -> None:
    text = make_ruleset_text(load_ruleset("book"))
    named = [parameter.name for parameter in text.parameters]

    assert (text.name, text.source) == ("book", "pagat.com, Spite and Malice (the book version)")
    assert named[:3] == ["players", "teams", "decks"]
    assert [name for name in named if name.startswith("compulsory")] == [
        "compulsory.hand",
        "compulsory.payoff",
        "compulsory.side",
    ]


def test_what_differs_from_standard_is_marked() -> None:
    text = make_ruleset_text(load_ruleset("wiki"))

    assert {p.name: (p.value, p.standard) for p in text.parameters if p.differs} == {
        "payoff_size": ("0.425", "20"),
        "wild_ban": ('"A"', '""'),
        "centre_limit": ('"unlimited"', "3"),
    }


def test_numbers_of_seats_with_the_same_figures_are_told_once() -> None:
    same, other = {"cards": "52"}, {"cards": "104"}
    told = tuple(SeatsText(seats, figures) for seats, figures in ((2, same), (3, same), (5, same), (6, other)))
    text = RulesetText("own", "own", "", "", "default", (), told)

    assert list(text.group_seats()) == [("2 to 3", same), ("5", same), ("6", other)]


@pytest.mark.parametrize("name", list_rulesets())
def test_values_are_toml_that_gives_the_ruleset_again(name: str, tmp_path: Path) -> None:
    lines = [f"{parameter.name} = {parameter.value}" for parameter in make_ruleset_text(load_ruleset(name)).parameters]
    path = tmp_path / "again.toml"
    head = [f'family = "{load_ruleset(name).family}"', 'about = "a"', 'source = "s"']
    path.write_text("\n".join([*head, "[rules]", *lines]), encoding="utf-8")

    assert tomllib.loads(path.read_text("utf-8"))
    assert read_ruleset(path).rules == load_ruleset(name).rules


def test_a_diff_names_both_values() -> None:
    found = compare_rulesets(load_ruleset("classic"), load_ruleset("standard"))

    assert (found.left, found.right) == ("classic", "standard")
    assert [(d.name, d.left, d.right) for d in found.differences] == [
        ("stock_out_result", '"draw"', '"fewest"'),
        ("side_visible", '"top"', '"all"'),
    ]
    assert found.differences[0].prose == read_parameter_texts(FAMILY)["stock_out_result"]
    assert compare_rulesets(load_ruleset("catsatcards"), load_ruleset("cat-and-mouse")).differences == ()


def test_numbers_follow_from_parameters_and_seats() -> None:
    three, four = make_ruleset_text(load_ruleset("cats-multi")).seats

    assert (three.seats, list(three.figures.items())) == (
        3,
        [
            ("cards", "156"),
            ("in each pay-off pile", "20"),
            ("centre stacks", "4"),
            ("in the stock after the deal", "81"),
        ],
    )
    assert (four.seats, four.figures["in the stock after the deal"]) == (4, "56")
    assert make_ruleset_text(load_ruleset("wiki")).seats[0].figures["centre stacks"] == "unlimited"


def test_a_thin_stock_is_remarked() -> None:
    thin = own("thin", replace(load_ruleset("skipbo-20").rules, payoff_size=21, players=(6, 6)))

    assert make_ruleset_text(thin).seats[0].figures["in the stock after the deal"] == "only 6"
    assert "only" not in make_ruleset_text(load_ruleset("skipbo-20")).seats[1].figures["in the stock after the deal"]


def test_numbers_of_seats_that_cannot_play_are_left_out() -> None:
    pairs = own("pairs", Parameters(teams="2x2", decks=4, players=(2, 6)))

    assert [told.seats for told in make_ruleset_text(pairs).seats] == [4]


def test_a_ruleset_that_nobody_can_play_is_refused() -> None:
    with pytest.raises(RulesetError, match="no effect"):
        make_ruleset_text(own("void", Parameters(stalemate="redeal")))


def test_without_source_text_there_is_no_prose(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(_: object) -> str:
        raise OSError("could not get source code")

    monkeypatch.setattr("inspect.getsource", gone)

    assert set(read_parameter_texts(FAMILY).values()) == {""}
