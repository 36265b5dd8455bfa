"""What tests of an examination share."""

from __future__ import annotations

from typing import Any

import pytest

from tournaments.check import examination, games, repetition

FEW = ("aces", "cat-and-mouse", "partners-4")


@pytest.fixture
def few_families(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an examination play only a few families of rulesets: of all of them, one game each takes a second."""
    real = games.list_families

    def families(*given: Any) -> tuple[games.Family, ...]:
        return tuple(family for family in real(*given) if family.name in FEW)

    for module in (examination, repetition):
        monkeypatch.setattr(module, "families", families)
