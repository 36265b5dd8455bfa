"""Failures as scripts read them: JSON on stdout where --json was asked for, with the exit code that it always has."""

from __future__ import annotations

import json
import pickle
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
        (("standings", "no.db"), 2, {"code": "league", "where": "no.db", "expected": None, "hint": None}),
        (("standings", "small.db", "--tournament", "x"), 2, {"code": "league", "where": "small.db", "got": "x"}),
        (("entry", "withdraw", "small.db", "nobody"), 2, {"code": "league", "got": "nobody", "expected": None}),
        (("run", "bad.toml"), 2, {"code": "data", "where": "bad.toml: deals", "expected": "at least 1", "got": "0"}),
        (("run", "odd.toml"), 2, {"code": "data", "where": "odd.toml: deals", "expected": "`int`", "got": "`str`"}),
        (("check", "mybot"), 2, {"code": "data", "where": "{folder}/mybot/bot.toml: build_s", "got": "0"}),
        (("verify", "small.db", "--jobs", "0"), 2, {"code": "usage", "where": "--jobs", "expected": None}),
        (("feedback", "small.db"), 2, {"code": "usage"}),
    ],
)
def test_a_failure_is_json_on_stdout_and_a_line_on_stderr(
    words: tuple[str, ...], code: int, error: dict[str, str | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_small_league(tmp_path)
    (tmp_path / "bad.toml").write_text('entries = ["greedy", "first"]\ndeals = 0\n')
    (tmp_path / "odd.toml").write_text('entries = ["greedy", "first"]\ndeals = "x"\n')
    (tmp_path / "mybot").mkdir()
    (tmp_path / "mybot/bot.toml").write_text('name = "mybot"\nrun = ["true"]\nbuild_s = 0\n')
    monkeypatch.chdir(tmp_path)

    result = malice(*words, "--json", code=code)

    told = json.loads(result.stdout)["error"]
    assert set(told) == {"code", "message", "where", "expected", "got", "hint"}
    assert told["message"] in result.stderr
    assert {name: value and value.format(folder=tmp_path) for name, value in error.items()}.items() <= told.items()


def test_a_message_is_put_together_from_the_fields_and_never_taken_apart() -> None:
    error = DataError("too many", where="deals", expected="at most 3", got=4, hint="use fewer")
    full = describe_failure(pickle.loads(pickle.dumps(error.within("a.toml").advise("or more bots"))))
    plain = describe_failure(LeagueError("a.db: expected a league, got a file; mend it"))

    assert full.message == "a.toml: deals: too many: expected at most 3, got 4; use fewer; or more bots"
    assert (full.where, full.expected, full.got) == ("a.toml: deals", "at most 3", "4")
    assert full.hint == "use fewer; or more bots"
    assert (plain.code, plain.where, plain.expected, plain.got, plain.hint) == ("league", None, None, None, None)
    assert describe_failure(DamagedLeague("x")).code == "damaged"
    assert describe_failure(ZeroDivisionError("x")).code == "internal"


def test_a_version_without_a_league_hears_where_versions_live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    malice("new", "mybot", code=0)

    assert "--db LEAGUE.db" in malice("compare", "mybot", "mybot@1", code=2).stderr
