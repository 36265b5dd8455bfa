"""Counts of pay-off cards on request: once a turn, free of charge."""

from __future__ import annotations

from msgspec.structs import replace

from protocol.messages import Count, Event
from referee.spite.setting import Setting
from referee.spite.state import State


def with_count(setting: Setting, state: State, found: list[str]) -> list[str]:
    """Offer the request until it was made."""
    return found if state.counted else [*found, "count"]


def counted(setting: Setting, state: State, events: list[Event]) -> State:
    """Let the seat to act see all counts until its turn ends."""
    events.append(Count(state.seat))
    return replace(state, counted=True)


def sees_counts(setting: Setting, state: State, seat: int | None) -> bool:
    """Tell whether `seat`, or a spectator, is shown how many pay-off cards are left."""
    if seat is None or setting.rules.payoff_count == "public":
        return True
    return state.counted and state.seat == seat
