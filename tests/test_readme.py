"""The README says nothing that is not so, and leaves nothing out that a user has to know."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from protocol.messages import ClockRules
from referee.ruleset import names, read_ruleset
from tournaments.cli import main
from tournaments.config import Config

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def block(start: str) -> str:
    """Return the code block that begins with `start`."""
    found = re.search(rf"```\w+\n({re.escape(start)}.*?)```", README, re.DOTALL)
    assert found, start
    return found[1]


@pytest.mark.parametrize("field", [*Config.__struct_fields__, *ClockRules.__struct_fields__])
def test_every_field_of_a_tournament_file_is_told(field: str) -> None:
    assert f"`{field}`" in README or f"`[{field}]`" in README


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_command_is_told(command: str) -> None:
    assert f"malice {command}" in README


def test_every_link_leads_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_number_of_rulesets_is_right() -> None:
    assert f"{len(names())} rulesets ship" in README


def test_the_ruleset_of_ones_own_is_one(tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    path.write_text(block("# long.toml"))

    assert read_ruleset(path).rules.payoff_size == 30


@pytest.mark.slow
def test_the_bot_of_the_readme_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mybot.py").write_text(block("import json, sys"))
    monkeypatch.chdir(tmp_path)

    result = CliRunner().invoke(main, ["play", f"{sys.executable} mybot.py", "greedy", "--json"])

    assert result.exit_code == 0, result.output
    games = json.loads(result.stdout)["games"]
    assert [game["verdicts"] for game in games] == [["", ""], ["", ""]]
    assert {label for game in games for label in game["labels"]} == {"mybot", "greedy"}
