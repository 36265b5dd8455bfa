"""A seat's time: limits, bank, increment and margin."""

from __future__ import annotations

import pytest

from malice.protocol.messages import ClockRules, SeatClock
from malice.referee.clock import MS, Clock


def clock(move_ms: int | None, bank_ms: int | None, increment_ms: int = 0, margin_ms: int = 0) -> Clock:
    return Clock(ClockRules(move_ms, bank_ms, increment_ms, margin_ms))


@pytest.mark.parametrize(
    ("move_ms", "bank_ms", "limit_ms"),
    [
        (1000, 30_000, 1100),
        (1000, 400, 500),
        (1000, None, 1100),
        (None, 400, 500),
        (None, None, None),
    ],
)
def test_the_limit_is_the_shorter_of_move_and_bank_with_the_margin(
    move_ms: int | None, bank_ms: int | None, limit_ms: int | None
) -> None:
    limit = clock(move_ms, bank_ms, margin_ms=100).time_limit_ns()

    assert limit == (None if limit_ms is None else limit_ms * MS)


def test_the_bank_pays_for_every_action_and_shortens_the_limit() -> None:
    seat = clock(1000, 2000, margin_ms=100)

    seat.spend(700 * MS, 0)
    seat.spend(700 * MS, 0)

    assert seat.to_message().bank_ms == 600
    assert seat.time_limit_ns() == 700 * MS


def test_time_used_of_the_margin_counts_but_the_bank_is_never_negative() -> None:
    seat = clock(None, 100, margin_ms=100)

    seat.spend(150 * MS, 0)

    assert seat.to_message().bank_ms == 0
    assert seat.time_limit_ns() == 100 * MS
    assert seat.used == 150 * MS


def test_the_increment_fills_the_bank_up_to_its_start() -> None:
    seat = clock(None, 1000, increment_ms=50)

    seat.begin_turn()
    assert seat.to_message().bank_ms == 1000

    seat.spend(200 * MS, 0)
    seat.begin_turn()
    assert seat.to_message().bank_ms == 850


def test_without_a_bank_an_increment_changes_nothing() -> None:
    seat = clock(1000, None, increment_ms=50)

    seat.begin_turn()
    seat.spend(200 * MS, 0)
    seat.begin_turn()

    assert seat.time_limit_ns() == 1000 * MS
    assert seat.to_message().bank_ms is None


def test_the_clock_shows_the_last_action_and_nothing_at_first() -> None:
    seat = clock(1000, 30_000)
    assert seat.to_message() == SeatClock(30_000, None, None)

    seat.spend(2_125_000, 1_000_000)

    assert seat.to_message() == SeatClock(29_997.9, 2.125, 1.0)


def test_the_clock_adds_up_the_time_used() -> None:
    seat = clock(1000, None)

    for wall, cpu in ((3, 1), (9, 4), (5, 2)):
        seat.spend(wall, cpu)

    assert (seat.used, seat.cpu) == (17, 7)


def test_by_cpu_time_the_bank_pays_for_that_alone_and_the_wall_has_a_cap() -> None:
    seat = Clock(ClockRules(1000, 2000, 0, 100, kind="cpu", cap_ms=10_000))

    assert (seat.time_limit_ns(), seat.cpu_limit_ns()) == (10_100 * MS, 1100 * MS)
    seat.spend(9000 * MS, 1500 * MS)

    assert seat.to_message() == SeatClock(500, 9000, 1500)
    assert (seat.time_limit_ns(), seat.cpu_limit_ns()) == (10_100 * MS, 600 * MS)


def test_cpu_time_counts_as_often_as_the_machine_is_fast() -> None:
    seat = Clock(ClockRules(1000, 2000, 0, 100, kind="cpu", cap_ms=10_000), speed=0.5)

    assert (seat.time_limit_ns(), seat.cpu_limit_ns()) == (10_100 * MS, 2200 * MS)
    seat.spend(9000 * MS, 3000 * MS)

    assert seat.to_message() == SeatClock(500, 9000, 3000)
    assert seat.cpu_limit_ns() == 1200 * MS
    assert Clock(ClockRules(1000, 2000, 0, 100), speed=0.5).time_limit_ns() == 1100 * MS


def test_on_the_wall_cpu_time_has_no_limit() -> None:
    assert clock(1000, 2000).cpu_limit_ns() is None
