"""Whether wall clocks can be trusted on this machine: warnings, each told once before a run."""

from __future__ import annotations

import os
from collections.abc import Iterator

from malice.protocol.messages import ClockRules

BUSY = 1.5
"""The load per processor from which other work delays bots; a run that just ended leaves less."""
WAY_OUT = 'kind = "cpu" in [clock] counts only the time that a bot computes'


def describe_doubts(clock: ClockRules, wanted: int, processors: int, load: float) -> Iterator[str]:
    """Yield a line on each reason why bots may lose wall time to something else than their own thinking.

    Args:
        clock: the clock of the tournament; only limits of wall time can be in doubt.
        wanted: how many processors all games at a time take.
        processors: how many there are for them.
        load: how many processes the machine wanted to run in the last minute, on average.
    """
    if clock.kind == "cpu" or (clock.move_ms is None and clock.bank_ms is None):
        return
    if wanted > processors:
        yield (
            f"warning: the games at a time take {wanted} processors, and there are {processors}:"
            f" bots wait for each other while their clocks run; fewer --jobs help, or {WAY_OUT}"
        )
    if load >= BUSY * processors:
        yield (
            f"warning: this machine is busy (load {load:.1f}, {processors} processors):"
            f" bots may be late through no fault of their own; {WAY_OUT}"
        )


def measure_load() -> float:
    """Return the average load of the last minute; 0 where it cannot be told."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return 0.0
