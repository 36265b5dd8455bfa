"""Under which conditions workers play in a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from malice.tournaments.farm.work import Need, Ticket

DRAWN = 10
"""One record of so many is replayed before it is stored."""
CROSS_CHECKED = 100
"""One block of so many is played by two workers."""
PATIENCE_S = 60.0
"""How long a run waits for a worker."""
GRACE_S = 10.0
"""How long it waits for another one if all that are there are refused, which they will be if they are asked again."""


@dataclass(frozen=True)
class Conditions:
    """Under which conditions workers play."""

    need: Need
    tickets: dict[str, Ticket]
    """By label."""
    tars: dict[str, Path]
    """By content hash, the tar files of the bots that travel."""
    min_speed: float = 0.0
    """A slower worker gets no work."""
    by_wall: bool = False
    """Whether clocks limit wall time."""
    patience_s: float = PATIENCE_S
    grace_s: float = GRACE_S
    drawn: int = DRAWN
    cross_checked: int = CROSS_CHECKED
