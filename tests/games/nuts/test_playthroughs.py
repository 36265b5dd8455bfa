"""Golden games, compared line by line; and every parameter has a test."""

import ast
from pathlib import Path

import pytest

from malice.referee.games.nuts.parameters import Parameters
from malice.referee.rulesets import list_rulesets

from .playthroughs import FOLDER, render_playthrough


@pytest.mark.parametrize("name", list_rulesets("nuts"))
def test_the_golden_game_is_played_again_line_by_line(name: str) -> None:
    golden = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")

    assert render_playthrough(name).splitlines() == golden.splitlines(), (
        "if that is intended: python -m tests.games.nuts.playthroughs"
    )


def test_every_ruleset_has_a_golden_game_and_none_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(list_rulesets("nuts"))


def test_every_parameter_has_a_test() -> None:
    docstrings = [
        ast.get_docstring(node) or ""
        for path in Path(__file__).parent.glob("test_*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
    ]
    tested = {word.strip("`") for text in docstrings for word in text.split()}

    assert set(Parameters.__struct_fields__) - tested == set()
