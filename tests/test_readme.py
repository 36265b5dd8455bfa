"""The README names every command, language and ruleset there is; test_docs runs what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from malice.referee.games import DEFAULT_FAMILY
from malice.referee.rulesets import list_rulesets
from malice.tournaments.cli import MODULES
from malice.tournaments.entries.kits import list_kits

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("command", sorted(MODULES))
def test_every_command_is_described(command: str) -> None:
    assert f"malice {command}" in README


def test_the_number_of_rulesets_is_right() -> None:
    assert f"{len(list_rulesets(DEFAULT_FAMILY))} rulesets of it ship" in README


def test_every_language_with_a_kit_is_listed() -> None:
    names = {"cpp": "C++", "csharp": "C#", "javascript": "JavaScript", "typescript": "TypeScript", "shell": "shell"}
    (listed,) = re.findall(r"There are kits for (.*?)\.", README, re.DOTALL)

    assert sorted(re.split(r",\s+|\s+and\s+", listed)) == sorted(
        names.get(language, language.capitalize()) for language in list_kits()
    )
