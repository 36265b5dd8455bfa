"""What chance did for the seats of a recorded game."""

from __future__ import annotations

from referee.records import Record
from referee.replay import replay_asks
from referee.rules import Luck


def measure_luck(luck: Luck, record: Record) -> tuple[float, ...]:
    """Play a game again and return the luck of each seat, in games won.

    Args:
        luck: that of its ruleset.
        record: the game.

    Raises:
        RecordError: it does not replay.
    """
    asks = replay_asks(record)
    meter = luck.start(next(asks).after)
    for ask in asks:
        meter.follow(ask.events)
    return meter.total()
