"""A seat's time: a limit for each action, a bank for the whole game, an increment per turn."""

from __future__ import annotations

from malice.protocol.messages import ClockRules, SeatClock

MS = 1_000_000
"""Nanoseconds in a millisecond."""


class Clock:
    """The time of one seat in one game, in nanoseconds; `ClockRules` explains its parts.

    Args:
        rules: the limits.
        speed: how fast the machine computes: CPU time counts so many times. None, unmeasured, is like 1.
    """

    def __init__(self, rules: ClockRules, speed: float | None = None) -> None:
        self._speed = speed or 1.0
        self._full = None if rules.bank_ms is None else rules.bank_ms * MS
        self._move = None if rules.move_ms is None else rules.move_ms * MS
        self._increment = rules.increment_ms * MS
        self._margin = rules.margin_ms * MS
        self._by_cpu = rules.kind == "cpu"
        self._cap = None if rules.cap_ms is None else rules.cap_ms * MS
        self._bank = self._full
        self._last: tuple[int, int] | None = None
        self.used = 0
        self.cpu = 0

    def begin_turn(self) -> None:
        """Add the increment, never above the initial bank."""
        if self._bank is not None and self._full is not None:
            self._bank = min(self._bank + self._increment, self._full)

    def time_limit_ns(self) -> int | None:
        """Wall time allowed for the next answer, margin included; None for no limit."""
        if self._by_cpu:
            return None if self._cap is None else self._cap + self._margin
        return self._tightest_limit()

    def cpu_limit_ns(self) -> int | None:
        """CPU time allowed for the next answer, margin included; None for no limit."""
        limit = self._tightest_limit() if self._by_cpu else None
        return limit if limit is None or self._speed == 1 else round(limit / self._speed)

    def _tightest_limit(self) -> int | None:
        move, bank = self._move, self._bank
        if move is None:
            return None if bank is None else bank + self._margin
        return (move if bank is None or move < bank else bank) + self._margin

    def spend(self, wall: int, cpu: int) -> None:
        """Take the time of one action from the bank."""
        self._last = (wall, cpu)
        self.used += wall
        self.cpu += cpu
        if self._bank is not None:
            self._bank = max(0, self._bank - (round(cpu * self._speed) if self._by_cpu else wall))

    def to_message(self) -> SeatClock:
        """The clock as the bot receives it, in milliseconds."""
        bank = None if self._bank is None else round(self._bank / MS, 1)
        if self._last is None:
            return SeatClock(bank, None, None)
        wall, cpu = self._last
        return SeatClock(bank, round(wall / MS, 3), round(cpu / MS, 3))
