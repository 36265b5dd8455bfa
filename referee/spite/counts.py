"""Counts of pay-off cards on request: once a turn, free of charge."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from protocol.messages import Count, Event
from referee.spite.derived import DerivedRules
from referee.spite.state import State


def with_count(setting: DerivedRules, state: State, found: list[str]) -> list[str]:
    """Offer the request until it was made in this turn."""
    return found if state.counted else [*found, "count"]


def reveal_counts(setting: DerivedRules, state: State, events: list[Event]) -> State:
    """Tell the counts to all seats, or to the seat to act alone."""
    aloud = setting.rules.payoff_count == "on_request"
    events.append(Count(state.seat, tuple(map(len, state.payoffs)) if aloud else None))
    return replace(state, counted=True, announced=aloud)


SEES: dict[str, Callable[[State, int], bool]] = {
    "public": lambda state, seat: True,
    "on_request": lambda state, seat: state.announced,
    "on_request_own": lambda state, seat: state.counted and state.seat == seat,
}
"""By `payoff_count`: whether a seat's view has the counts."""


def sees_counts(setting: DerivedRules, state: State, seat: int | None) -> bool:
    """Tell whether `seat`, or a spectator, is shown how many pay-off cards are left."""
    return seat is None or SEES[setting.rules.payoff_count](state, seat)
