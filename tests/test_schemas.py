"""What editors and shells complete by: schemas that all our own files fit, and a command that prints the rest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from malice.referee.families import list_shipped
from tests.command_line import malice

ROOT = Path(__file__).parents[1]
TAPLO = Path(sys.executable).with_name("taplo")


def lint(folder: Path, files: list[Path], *words: str) -> str:
    """Check files by the schema that a command prints; return what is wrong with them."""
    schema = folder / "schema.json"
    schema.write_text(malice("schema", *words, code=0).stdout)
    run = [str(TAPLO), "lint", "--schema", schema.as_uri(), *map(str, files)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)
    return done.stderr if done.returncode else ""


def test_every_file_of_ours_fits_its_schema(tmp_path: Path) -> None:
    bots = [*ROOT.glob("bots/*/*/bot.toml")]
    tournaments = [ROOT / "tournaments/demo.toml", *ROOT.glob("tournaments/examples/*.toml")]
    assert lint(tmp_path, bots, "bot") == lint(tmp_path, tournaments, "tournament") == ""
    for family in list_shipped():
        rulesets = [*ROOT.glob(f"referee/games/{family.replace('-', '_')}/rulesets/*.toml")]
        assert rulesets
        assert lint(tmp_path, rulesets, "ruleset", "--game", family) == ""


@pytest.mark.parametrize(
    ("kind", "text", "fault"),
    [
        ("bot", 'nme = "x"\nname = "x"\nrun = ["x"]\n', "'nme' was unexpected"),
        ("tournament", 'entries = ["first"]\ndeals = "many"\n', 'is not of type "integer"'),
        ("ruleset", '[rules]\nrecycle = "never"\n', '"never" is not one of'),
    ],
)
def test_an_editor_finds_what_is_wrong(tmp_path: Path, kind: str, text: str, fault: str) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    assert fault in lint(tmp_path, [file], kind)


def test_what_new_and_init_write_names_its_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    malice("init", "course", code=0)
    malice("new", "course/submissions/ann", code=0)
    for file in (Path("course/tournament.toml"), Path("course/submissions/ann/bot.toml")):
        first, _, _ = file.read_text().partition("\n")
        assert (file.parent / first.removeprefix("#:schema ")).is_file()
        assert subprocess.run([TAPLO, "lint", file], capture_output=True, timeout=120, check=False).returncode == 0
        file.write_text(f"{file.read_text()}\nnonsense = 1\n")
        done = subprocess.run([TAPLO, "lint", file], capture_output=True, text=True, timeout=120, check=False)
        assert "'nonsense' was unexpected" in done.stderr


def test_a_schema_explains_each_field() -> None:
    config = json.loads(malice("schema", "tournament", code=0).stdout)["$defs"]["Config"]
    assert config["properties"]["memory_mb"]["description"] == "Memory for each bot, under any isolation."
    assert "positions" not in config["properties"]
    assert malice("schema", "ruleset", "--game", "chess", code=2).stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell: str) -> None:
    assert "_MALICE_COMPLETE" in malice("completion", shell, code=0).stdout


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("malice comp", ["plain,compare", "plain,completion"]),
        ("malice play planner gr", ["plain,greedy"]),
        ("malice check my", ["file,my"]),
        ("malice play --ruleset skipbo-s", ["plain,skipbo-short"]),
        ("malice rules show ./mi", ["file,./mi"]),
        ("malice new x --language py", ["plain,python"]),
    ],
)
def test_a_shell_completes_commands_bots_and_rulesets(words: str, completed: list[str]) -> None:
    asked = {"_MALICE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    program = [Path(sys.executable).with_name("malice")]
    done = subprocess.run(program, env=os.environ | asked, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines() == completed


def test_the_bare_command_names_three_things_to_try() -> None:
    lines = malice(code=0).stdout.splitlines()
    assert sum(line.startswith("  malice ") for line in lines) == 3
    assert lines[-1] == "malice --help lists all commands."
