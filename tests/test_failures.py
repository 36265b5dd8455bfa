"""Failures as scripts read them: JSON on stdout where --json was asked for, with the exit code that it always has."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from malice.referee.errors import DataError
from malice.tournaments.cli import MODULES, main
from malice.tournaments.commands.exit_codes import describe_failure
from malice.tournaments.errors import DamagedLeague, LeagueError
from tests.command_line import malice
from tests.leagues import play_small_league

TALKS = {"new", "init", "build", "replay", "log", "export", "serve", "worker", "schema", "completion"}
"""Commands that make something for people, print lines of JSON anyway, or print JSON with further options."""


def test_every_command_whose_answer_a_script_would_read_has_json() -> None:
    context = click.Context(main)
    lacking = set()
    for name in MODULES:
        command = main.get_command(context, name)
        several = command.commands.values() if isinstance(command, click.Group) else [command]
        for each in several:
            assert each is not None
            if not any("--json" in option.opts for option in each.params):
                lacking.add(name)

    assert lacking <= TALKS


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("standings", "no.db"), 2, {"code": "league", "where": None, "hint": None}),
        (("standings", "small.db", "--tournament", "x"), 2, {"code": "league"}),
        (("entry", "withdraw", "small.db", "nobody"), 2, {"code": "league"}),
        (("run", "bad.toml"), 2, {"code": "data", "where": "bad.toml: deals", "expected": "at least 1", "got": "0"}),
        (("verify", "small.db", "--jobs", "0"), 2, {"code": "usage"}),
        (("feedback", "small.db"), 2, {"code": "usage"}),
    ],
)
def test_a_failure_is_json_on_stdout_and_a_line_on_stderr(
    words: tuple[str, ...], code: int, error: dict[str, str | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_small_league(tmp_path)
    (tmp_path / "bad.toml").write_text('entries = ["greedy", "first"]\ndeals = 0\n')
    monkeypatch.chdir(tmp_path)

    result = malice(*words, "--json", code=code)

    told = json.loads(result.stdout)["error"]
    assert set(told) == {"code", "message", "where", "expected", "got", "hint"}
    assert told["message"] in result.stderr
    assert error.items() <= told.items()


def test_what_a_message_says_is_taken_apart() -> None:
    full = describe_failure(DataError("a.toml: deals: expected at most 3, got 4: too many; use fewer, or more bots"))
    plain = describe_failure(LeagueError("a.db: no such database"))

    assert (full.where, full.expected, full.hint) == ("a.toml: deals", "at most 3", "use fewer, or more bots")
    assert (plain.code, plain.message, plain.expected) == ("league", "a.db: no such database", None)
    assert describe_failure(DamagedLeague("x")).code == "damaged"
    assert describe_failure(ZeroDivisionError("x")).code == "internal"


def test_a_version_without_a_league_hears_where_versions_live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    malice("new", "mybot", code=0)

    assert "--db LEAGUE.db" in malice("compare", "mybot", "mybot@1", code=2).stderr
