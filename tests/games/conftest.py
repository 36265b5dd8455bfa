"""Games of packages for the tests below."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documents import blocks
from tests.games.installed import Package, installed, write_package

PAGE = "docs/adding-a-game.md"

BIDDING = Package("bidding", Path(__file__).parent / "bidding")


@pytest.fixture
def bidding(tmp_path: Path) -> Iterator[Path]:
    """Install the family `bidding` in this process and in those that it starts; return where."""
    target = tmp_path / "installed"
    write_package(BIDDING, target)
    with installed(target):
        yield target


@pytest.fixture
def stairs(tmp_path: Path) -> Path:
    """Install the family of the page on adding a game, for whoever looks there; return where."""
    source, target = tmp_path / "stairs", tmp_path / "packages"
    for block in blocks(PAGE):
        if block.file and block.file.startswith("malice_stairs/"):
            (source / block.file).parent.mkdir(parents=True, exist_ok=True)
            (source / block.file).write_text(block.text, "utf-8")
    write_package(Package("stairs", source / "malice_stairs"), target)
    return target
