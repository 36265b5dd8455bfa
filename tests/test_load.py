"""Warnings about wall clocks that measure more than a bot's thinking."""

from __future__ import annotations

import pytest

from malice.protocol.messages import ClockRules
from malice.tournaments.running.announcements import describe_doubts

WALL = ClockRules(move_ms=1000)


@pytest.mark.parametrize(
    ("wanted", "load", "warnings"), [(2, 2.9, 0), (3, 0.0, 1), (2, 3.0, 1), (40, 40.0, 2), (1, 0.0, 0)]
)
def test_more_games_than_processors_and_a_busy_machine_are_named(wanted: int, load: float, warnings: int) -> None:
    lines = list(describe_doubts(WALL, wanted, 2, load))

    assert len(lines) == warnings
    assert all('kind = "cpu"' in line for line in lines)


@pytest.mark.parametrize("clock", [ClockRules(move_ms=1000, kind="cpu"), ClockRules(move_ms=None, bank_ms=None)])
def test_clocks_that_do_not_measure_wall_time_are_never_in_doubt(clock: ClockRules) -> None:
    assert list(describe_doubts(clock, 40, 2, 40.0)) == []
