"""The gauntlet: challengers meet all others, and neither each other nor do the others meet.

With the same cards at every table, which is its default, chance is the same for all challengers.
"""

from __future__ import annotations

from collections.abc import Sequence

from malice.referee.errors import DataError
from malice.tournaments.league.config import Config
from malice.tournaments.league.formats.growing import decide_growing
from malice.tournaments.league.formats.situation import Decision, FormatInput


def decide_gauntlet(situation: FormatInput) -> Decision:
    """Return the next part."""
    config = situation.tournament.config
    labels = [entered.label for entered in situation.tournament.entered]
    challengers = find_challengers(config, labels)
    return decide_growing(situation, lambda entrants: sum(each.label in challengers for each in entrants) == 1)


def find_challengers(config: Config, labels: Sequence[str]) -> frozenset[str]:
    """Return the labels of the challengers: those that the file lists, or all but the opponents that it lists."""
    return frozenset(config.challengers or (label for label in labels if label not in config.opponents))


def refuse_gauntlet(config: Config, labels: Sequence[str]) -> None:
    """Make sure that a file describes a gauntlet.

    Raises:
        DataError: it does not; the message names the field.
    """
    if bool(config.challengers) == bool(config.opponents):
        raise DataError('format = "gauntlet": expected challengers = [...] or opponents = [...], and not both')
    field = "challengers" if config.challengers else "opponents"
    listed = config.challengers or config.opponents
    if unknown := [label for label in listed if label not in labels]:
        raise DataError(f"{field}: no entry {unknown[0]!r}; entries: {', '.join(labels)}")
    if len(set(listed)) == len(labels):
        raise DataError(f"{field}: expected some of the entries, got all of them")
