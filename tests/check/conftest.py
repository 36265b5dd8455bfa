"""What tests of an examination share."""

from __future__ import annotations

import pytest

from tournaments.check import games

FEW = ("aces", "cat-and-mouse", "partners-4")


@pytest.fixture
def few_families(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an examination play only a few families of rulesets: of all of them, one game each takes a second."""
    real = games.list_families

    def list_families() -> tuple[games.Family, ...]:
        return tuple(family for family in real() if family.name in FEW)

    monkeypatch.setattr(games, "list_families", list_families)
