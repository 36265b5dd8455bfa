"""Numbers with their nouns."""

from __future__ import annotations

import pytest

from malice.referee.nouns import format_count


@pytest.mark.parametrize(
    ("count", "nouns", "text"),
    [
        (0, ("game",), "0 games"),
        (1, ("game",), "1 game"),
        (2, ("game",), "2 games"),
        (1, ("entry", "entries"), "1 entry"),
        (3, ("entry", "entries"), "3 entries"),
    ],
)
def test_a_noun_follows_its_number(count: int, nouns: tuple[str, ...], text: str) -> None:
    assert format_count(count, *nouns) == text
