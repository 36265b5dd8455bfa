"""The games that ship are games like any other: without them malice plays those of packages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from malice.referee.families import list_shipped
from tests.documents import ROOT, Reader, blocks
from tests.environments import copy_sources, make_environment
from tests.games.conftest import PAGE

EVENING = (
    'name = "evening"\nentries = ["climber", "first", "uniform"]\nrulesets = ["stairs"]\ndeals = 1\nseed = "docs"\n'
)

pytestmark = pytest.mark.slow


@pytest.mark.whole
def test_a_game_of_a_package_needs_no_game_that_ships(tmp_path: Path) -> None:
    copy_sources(ROOT, tmp_path / "tree", *(f"referee/games/{name}" for name in list_shipped()))
    folder = tmp_path / "reader"
    for block in blocks(PAGE):
        if block.file:
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.file).write_text(block.text, "utf-8")
    (folder / "evening.toml").write_text(EVENING)
    reader = Reader(folder, make_environment(tmp_path / "environment", tmp_path / "tree"))

    reader.type("python -m pip install .")
    assert "stairs-short" in reader.type("malice rules")
    reader.type("malice new climber --family stairs")
    assert "passed all" in reader.type("malice check climber --fuzz 20")
    reader.type("malice run evening.toml")
    assert "6 (complete), all of them replay" in reader.type("malice verify evening.db")
    assert re.search(r"puts \w\w onto stack 0", reader.type("malice replay evening.db 0.0.0.0"))
    reader.type("malice site evening.db --out site")
    (rules,) = folder.glob("site/**/rules-stairs.html")
    assert "skipped" in rules.read_text("utf-8")
    assert [file for file in folder.glob("site/**/*.js") if "malice.families.stairs" in file.read_text("utf-8")]
