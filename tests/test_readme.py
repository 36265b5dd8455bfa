"""The README leaves nothing out that a user has to know; what it shows is tried by test_docs."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocol.messages import ClockRules
from referee.ruleset import names
from tournaments.cli import main
from tournaments.config import Config

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("field", [*Config.__struct_fields__, *ClockRules.__struct_fields__])
def test_every_field_of_a_tournament_file_is_told(field: str) -> None:
    assert f"`{field}`" in README or f"`[{field}]`" in README


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_command_is_told(command: str) -> None:
    assert f"malice {command}" in README


def test_the_number_of_rulesets_is_right() -> None:
    assert f"{len(names())} rulesets ship" in README
