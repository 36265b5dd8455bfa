"""Numbers with their nouns: one game, two games."""

from __future__ import annotations


def inflect(count: int, one: str, many: str = "") -> str:
    """The noun that follows a number; without `many`, its plural ends in s."""
    return one if count == 1 else many or one + "s"


def format_count(count: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 game`, `2 games`."""
    return f"{count} {inflect(count, one, many)}"
