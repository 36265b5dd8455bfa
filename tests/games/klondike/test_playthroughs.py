"""Golden games, compared line by line; words for everything that happens; every ruleset and parameter is there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malice.referee.games.klondike import FAMILY
from malice.referee.games.klondike.parameters import Parameters
from malice.referee.rulesets import list_rulesets, load_ruleset
from tests.documents import source

from .playouts import make_choosers, make_course, play_out
from .playthroughs import FOLDER, render_playthrough

RULES = "referee/games/klondike/rules.md"


@pytest.mark.parametrize("name", list_rulesets("klondike"))
def test_the_golden_game_is_played_again_line_by_line(name: str) -> None:
    golden = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")

    assert render_playthrough(name).splitlines() == golden.splitlines(), (
        "if that is intended: python -m tests.games.klondike.playthroughs"
    )


def test_every_ruleset_has_a_golden_game_and_a_line_in_the_rules() -> None:
    names = list_rulesets("klondike")

    assert {path.stem for path in FOLDER.glob("*.txt")} == set(names)
    assert all(f"| `{name}` | {load_ruleset(name).about} |" in source(RULES) for name in names)


@pytest.mark.parametrize("parameter", sorted(set(Parameters.__struct_fields__) - {"players"}))
def test_the_rules_name_every_parameter(parameter: str) -> None:
    assert f"`{parameter}" in source(RULES)


@given(st.sampled_from([1, 3]), st.integers(0, 10**6))
@settings(max_examples=6, deadline=None)
def test_whatever_happens_has_words_for_everybody(draw: int, seed: int) -> None:
    names = ("ann", "bob")
    course = make_course(Parameters(draw=draw, idle=40), 2, seed)  # type: ignore[arg-type]
    for _ in play_out(course, make_choosers(seed)[1:3]):
        state, rules = course.state, course.rules
        for seat in (0, 1):
            lines = list(FAMILY.sketch(rules.view(state, seat), names))
            assert (names[1 - seat] in "".join(lines)) is False
            words = [
                FAMILY.describe_action(action, rules.view(state, seat), names) for action in rules.legal(state, seat)
            ]
            assert len(set(words)) == len(words)
        assert len(list(FAMILY.sketch(rules.view(state, None), names))) == 18


def test_a_seat_needs_no_words_for_what_it_did_but_for_cards_that_turned_up() -> None:
    course, names = make_course(), ("ann", "bob")
    phrases = []
    for action in ("turn", "undo", "done"):
        for event in course.play({0: action} | ({1: "done"} if action == "turn" else {})):
            phrases.append([FAMILY.describe_event(event, names, viewer) for viewer in (None, 0)])

    card = course.state.tables[0].layout.stock[-1]
    assert card is not None
    assert [told.partition(" ")[0] for told, _ in phrases] == ["ann", "bob", "ann", "ann"]
    assert [own.rpartition(" ")[0] for _, own in phrases] == ["you turn", "bob stops with 0 cards on the", "", ""]
