"""What chance did for the seats of a recorded game."""

from __future__ import annotations

from malice.referee.families import load_family
from malice.referee.records import Record
from malice.referee.replay import replay_asks
from malice.referee.rules import Luck
from malice.referee.rulesets import Ruleset


def find_luck(ruleset: Ruleset) -> Luck | None:
    """Return how to measure luck between two seats under a ruleset; None if nothing was fitted for it."""
    return load_family(ruleset.family).luck(ruleset.rules, 2)


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
