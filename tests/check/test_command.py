"""`malice check` on the command line: what it prints, and how it ends."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import Result

from malice.tournaments.check.report import TITLES
from tests.check.examined import FAULTY
from tests.command_line import malice

pytestmark = pytest.mark.slow

PATIENT = ("--move-ms", "60000", "--init-ms", "60000")


def check(*words: str) -> Result:
    return malice("check", *words)


def faulty(*arguments: str) -> str:
    return shlex.join([sys.executable, "-I", str(FAULTY), *arguments])


def test_a_bot_that_ships_passes_every_step() -> None:
    result = check("greedy", "--fuzz", "20", *PATIENT)

    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[1 : len(TITLES) + 1]] == ["passed"] * len(TITLES)
    assert "plays 20 games of standard against greedy" in result.stdout
    assert sum(line.split()[:1] == ["slowest"] for line in lines) == 1
    assert lines[-1].startswith(f"greedy: passed all {len(TITLES)} steps, isolation ")


@pytest.mark.whole
@pytest.mark.compiler
def test_the_bot_without_a_json_library_passes() -> None:
    result = check("c/first", "--fuzz", "100", *PATIENT)

    assert result.exit_code == 0, result.output


def test_a_failed_step_shows_the_lines_what_was_expected_and_a_hint() -> None:
    result = check(faulty("text id"), *PATIENT)

    assert result.exit_code == 10
    told = result.stdout.partition("FAILED: answers every id once\n")[2]
    cause, where, *rest = told.splitlines()
    said = re.search(r"got: '(.*)'$", cause)
    assert said
    assert re.fullmatch(r'\{"id": "3", "move": "h..-.."\}', said[1])
    assert cause == f"  cause     protocol: expected the number 3 as id, got: '{said[1]}'"
    assert where == "  where     standard, 2 seats, deal 0, seat 0"
    assert rest[0].startswith("  lines     < {")
    assert f"            < {said[1]}" in rest
    assert "  expected  one line within " in told
    assert "  hint      copy the `id` unchanged, as a number" in rest
    assert result.stdout.splitlines()[-1] == "faulty: 1 of 13 steps failed: answers every id once"


def test_json_has_every_step_with_its_result_and_its_fault() -> None:
    result = check(faulty("no id"), "--json", *PATIENT)

    assert result.exit_code == 10
    told = json.loads(result.stdout)
    assert [step["step"] for step in told["steps"]] == [name for name in TITLES if name != "fuzz"]
    assert told["passed"] is False
    (fault,) = [step["fault"] for step in told["steps"] if step["fault"]]
    assert set(fault) == {"cause", "expected", "hint", "where", "lines", "exit", "stderr"}


@pytest.mark.whole
def test_text_of_a_bot_is_made_harmless() -> None:
    bot = Path(__file__).parents[1] / "bots/disguise.py"
    words = ("--rulesets", "book-end", "--isolation", "none", "--init-ms", "60000")
    result = check(shlex.join([sys.executable, str(bot)]), *words)

    assert result.exit_code == 10
    assert result.stdout.isprintable() or not {"\x1b", "\u202e"} & set(result.stdout)
    assert "exits on bye" in result.stdout.splitlines()[-1]


def test_no_such_bot_and_a_failed_build_are_usage_errors(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text('name = "x"\nrun = ["x"]\nbuild = ["false"]')

    nobody, broken = check("nobody"), check(str(tmp_path))

    assert nobody.exit_code == broken.exit_code == 2
    assert "no bot 'nobody'" in nobody.stderr
    assert "the build false exited with status 1" in broken.stderr


def test_a_program_that_is_not_there_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text('name = "x"\nrun = ["./nothing"]')

    result = check(str(tmp_path))

    assert result.exit_code == 10
    assert "the bot cannot be started: No such file or directory: './nothing'" in result.stdout
    assert "look at the command in `bot.toml`" in result.stdout
