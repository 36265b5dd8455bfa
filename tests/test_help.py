"""Help and lists of rulesets: complete, and quick because nothing heavy is imported for them."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from malice.tournaments import league
from malice.tournaments.cli import MODULES, main
from tests.command_line import malice
from tests.processes import list_loaded

pytestmark = pytest.mark.slow

HEAVY = {"dask", "distributed", "numpy", "trio", "jinja2", "sqlite3", "sqlite_utils", "malice.site_pages"}


@pytest.mark.parametrize("words", [("--help",), ("rules",), ("rules", "--json"), ("rules", "show", "standard")])
def test_help_and_rules_import_nothing_heavy(words: tuple[str, ...]) -> None:
    program = (
        "from click.testing import CliRunner\n"
        "from malice.tournaments.cli import main\n"
        f"assert CliRunner().invoke(main, {words!r}).exit_code == 0\n"
    )

    assert list_loaded(program) & HEAVY == set()


def test_the_list_of_rulesets_marks_the_default() -> None:
    text, fields = malice("rules").stdout, json.loads(malice("rules", "--json").stdout)

    (line,) = (line for line in text.splitlines() if "(default)" in line)
    assert line.split()[2] == "standard"
    assert [each["name"] for each in fields if each["default"]] == ["standard"]


def test_only_standings_and_what_follows_from_them_need_numpy_in_a_league() -> None:
    names = {path.stem for path in Path(league.__file__).parent.glob("*.py")} - {
        "standings",
        "columns",
        "ranking",
        "progression",
        "rating_groups",
        "comparison",
        "opened",
        "seeding",
    }
    program = "\n".join(f"import malice.tournaments.league.{name}" for name in sorted(names))

    assert "numpy" not in list_loaded(program)


def test_a_run_begins_without_numpy() -> None:
    assert "numpy" not in list_loaded("import malice.tournaments.running.orders, malice.tournaments.running.run")


def test_help_lists_every_command_in_a_section() -> None:
    text = malice("--help").stdout

    assert [line for line in text.splitlines() if line.endswith(":")] == [
        "Options:",
        "Write a bot:",
        "Look at a game:",
        "Run a league:",
        "Results:",
        "This machine:",
    ]
    listed = [line.split()[0] for line in text.splitlines() if line.startswith("  ") and line.split()[0] in MODULES]
    assert listed == list(MODULES)


def test_every_command_has_a_help_text() -> None:
    for name in MODULES:
        command = main.get_command(click.Context(main), name)
        assert command is not None, name
        assert command.help, name
        assert malice(name, "--help").exit_code == 0
