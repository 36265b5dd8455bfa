"""Tournaments in rounds, and how their games end."""

from __future__ import annotations

from collections.abc import Sequence

from malice.tournaments.league.parts import Part
from tests.houses import House

ALPHABET = "".join(chr(0x100 + number) for number in range(64))


def make_swiss(labels: Sequence[str], rounds: int = 3, **more: object) -> House:
    return House(labels, format="swiss", rounds=rounds, deals=1, **more)


def win_by_name(labels: tuple[str, ...]) -> tuple[int, ...]:
    """Let whoever comes first in the alphabet win."""
    return tuple(1 if label == min(labels) else 2 for label in labels)


def draw(labels: tuple[str, ...]) -> tuple[int, ...]:
    return (1, 1)


def name_pairs(part: Part) -> list[str]:
    return ["".join(version.label for version in table.versions) for table in part.tables]


def make_knockout(labels: Sequence[str]) -> House:
    return House(labels, format="knockout", deals=1)
