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
