"""Golden games, compared line by line; and every ruleset, parameter and rule has a test."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from malice.referee.games.spite.parameters import Compulsory, Parameters
from malice.referee.rulesets import list_rulesets

from .engines import ENGINES
from .playthroughs import FOLDER, MakeEngine, render_playthrough

HERE = Path(__file__).parent
RULES = [*range(1, 54), 56]
"""The numbers of the rules that this engine plays; 54, 55 and 57 are other games, other numbers are not rules."""


@pytest.mark.parametrize("make", ENGINES)
@pytest.mark.parametrize("name", list_rulesets("spite"))
def test_the_golden_game_is_played_again_line_by_line(make: MakeEngine, name: str) -> None:
    golden = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")

    assert render_playthrough(name, make).splitlines() == golden.splitlines(), (
        "if that is intended: python -m tests.games.spite.playthroughs"
    )


def test_every_ruleset_has_a_golden_game_and_none_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(list_rulesets("spite"))


def list_docstrings() -> Iterator[str]:
    """Yield the docstrings of the tests in this folder, which say what they test."""
    for path in sorted(HERE.glob("test_*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield ast.get_docstring(node) or ""


def test_every_parameter_has_a_test() -> None:
    text = " ".join(list_docstrings())
    fields = {*Parameters.__struct_fields__, *(f"compulsory.{zone}" for zone in Compulsory.__struct_fields__)}

    assert {field for field in fields if f"`{field}`" not in text} == set()


def test_every_numbered_rule_has_a_test() -> None:
    tested = {int(number) for number in re.findall(r"\brule (\d+)", " ".join(list_docstrings()))}

    assert sorted(set(RULES) - tested) == []
