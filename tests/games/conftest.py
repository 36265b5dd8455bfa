"""Games of packages for the tests below."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.games.installed import Package, installed, write_package

BIDDING = Package("bidding", Path(__file__).parent / "bidding")


@pytest.fixture
def bidding(tmp_path: Path) -> Iterator[Path]:
    """Install the family `bidding` in this process and in those that it starts; return where."""
    target = tmp_path / "installed"
    write_package(BIDDING, target)
    with installed(target):
        yield target
