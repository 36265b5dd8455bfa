"""Games of packages for the tests below."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documents import blocks
from tests.games.installed import Package, installed, write_package

PAGE = "docs/adding-a-game.md"

BIDDING = Package("bidding", Path(__file__).parent / "bidding")
TRICKS = Package("tricks", Path(__file__).parent / "tricks")
BIDDER = Path(__file__).parent / "bidder.py"
STRANGE = """
malice.families.bidding = {
  start: () => ({ rounds: 0 }),
  apply: (table, event) => (event.type === "bids" ? { rounds: table.rounds + 1 } : undefined),
  draw: (table) => malice.createElement("p", { id: "drawn" }, `${malice.data.bidding.words.title} ${table.rounds}`),
  words: (event, { game }) => `${malice.quote(game.seats[2].name)} <b id="markup">says</b> ${event.type}`,
};
"""
"""A replay page of bidding that says what could be markup."""


@pytest.fixture
def bidding(tmp_path: Path) -> Iterator[Path]:
    """Install the family `bidding` in this process and in those that it starts; return where."""
    target = tmp_path / "installed"
    write_package(BIDDING, target)
    with installed(target):
        yield target


@pytest.fixture
def stairs(tmp_path: Path) -> Path:
    """Install the families of the page on adding a game, for whoever looks there; return where."""
    source, target = tmp_path / "stairs", tmp_path / "packages"
    for block in blocks(PAGE):
        if block.file and block.file.startswith("malice_stairs/"):
            (source / block.file).parent.mkdir(parents=True, exist_ok=True)
            (source / block.file).write_text(block.text, "utf-8")
    write_package(Package("prizes", source / "malice_stairs" / "prizes"), target)
    shutil.rmtree(source / "malice_stairs" / "prizes")
    write_package(Package("stairs", source / "malice_stairs"), target)
    return target


@pytest.fixture
def games(stairs: Path) -> Iterator[Path]:
    """Install four families: those of the page, one that asks several seats at once, one of tricks; return where."""
    for package in (BIDDING, TRICKS):
        write_package(package, stairs)
    with installed(stairs):
        yield stairs
