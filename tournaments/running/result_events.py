"""The events that end a run with its results; apart from the others, since standings need numpy."""

from __future__ import annotations

from malice.tournaments.league.comparison import Comparison
from malice.tournaments.league.standings import Standings
from malice.tournaments.running.events import (
    ComparisonState,
    EntrySuspended,
    GameFailed,
    GameFinished,
    GameStarted,
    PartFinished,
    PartOpened,
    RunEnded,
    RunEvent,
    RunStarted,
    VerdictGiven,
)


class ComparisonResult(RunEvent, frozen=True, tag="comparison"):
    """What `malice compare` found."""

    comparison: Comparison
    """What `malice compare --json` prints."""


class StandingsComputed(RunEvent, frozen=True, tag="standings"):
    """The ranking at the end of `malice run`, also if it was stopped."""

    standings: tuple[Standings, ...]
    """For each ruleset and number of seats what `malice standings --json` prints, and an empty `history`."""


AnyEvent = (
    RunStarted
    | PartOpened
    | PartFinished
    | GameStarted
    | VerdictGiven
    | GameFinished
    | GameFailed
    | EntrySuspended
    | ComparisonState
    | ComparisonResult
    | StandingsComputed
    | RunEnded
)
"""A line of `--events`."""
