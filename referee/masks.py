"""Hides from a seat the parts of an event that it may not see."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from protocol.cards import HIDDEN
from protocol.messages import Cards, Deal, Draw, Event

HIDING = frozenset({Draw, Deal})
"""The few types of event with hidden cards; a look-up here saves a call for every other event."""


def mask_event(event: Event, seat: int) -> Event:
    """Return `event` as `seat` may see it: cards in other hands become `??`."""
    if isinstance(event, Draw):
        return event if event.seat == seat else Draw(event.seat, _hide_cards(event.cards))
    if isinstance(event, Deal):
        hands = tuple(cards if owner == seat else _hide_cards(cards) for owner, cards in enumerate(event.hands))
        return replace(event, hands=hands)
    return event


def mask_events(events: Iterable[Event], seat: int) -> list[Event]:
    """Return events as `seat` may see them."""
    return [mask_event(event, seat) if type(event) in HIDING else event for event in events]


def _hide_cards(cards: Cards) -> Cards:
    return (HIDDEN,) * len(cards)
