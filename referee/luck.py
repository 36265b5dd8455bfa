"""What chance did for the seats of a recorded game."""

from __future__ import annotations

from referee.families import load_family
from referee.records import Record
from referee.replay import replay_asks
from referee.rules import Luck


def find_luck(record: Record) -> Luck | None:
    """Return how to measure the luck of a game; None if its family cannot."""
    return load_family(record.family).luck(record.rules, len(record.entries))


def measure_luck(luck: Luck, record: Record) -> tuple[float, ...]:
    """Play a game again and return the luck of each seat, in games won.

    Args:
        luck: what `find_luck` returned.
        record: the game.

    Raises:
        RecordError: it does not replay.
    """
    asks = replay_asks(record)
    meter = luck.start(next(asks).after)
    for ask in asks:
        meter.follow(ask.events)
    return meter.total()
