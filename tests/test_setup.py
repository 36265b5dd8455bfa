"""What `make` installs: what running takes for a demonstration, and what developing takes only for developers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def commands(target: str, folder: Path) -> str:
    """Return what `make` would run in a fresh checkout."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    return subprocess.run(
        ["make", "--no-print-directory", "-n", target], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize(
    ("target", "developers"),
    [("demo", False), ("demo-languages", False), ("bench", False), ("core", False), ("test", True), ("lint", True)],
)
def test_the_tools_of_developers_come_only_where_they_are_used(target: str, developers: bool, tmp_path: Path) -> None:
    told = commands(target, tmp_path)

    assert "pip install -e .\n" in told
    assert ("--group dev" in told) == developers


@pytest.mark.parametrize("target", ["demo", "demo-languages"])
def test_a_demonstration_ends_with_how_to_call_the_program(target: str, tmp_path: Path) -> None:
    assert ".venv/bin/malice play" in commands(target, tmp_path).splitlines()[-1]


def test_an_environment_that_was_left_without_pip_is_made_again(tmp_path: Path) -> None:
    """Debian's Python without the package python3-venv makes half of one, and fails."""
    (programs := tmp_path / ".venv/bin").mkdir(parents=True)
    for program in (programs / "python", tmp_path / "python3"):
        program.write_text(f'#!/bin/sh\necho "{program.name} $*" >> {tmp_path}/called\n')
        program.chmod(0o755)
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)

    subprocess.run(["make", ".venv/.malice", f"PYTHON={tmp_path}/python3"], cwd=tmp_path, check=True)

    called = (tmp_path / "called").read_text().splitlines()
    assert called[-2:] == ["python3 -m venv .venv", "python -m pip install -e ."]
