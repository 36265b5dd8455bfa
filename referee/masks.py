"""What a seat may see of an event."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from protocol.cards import HIDDEN
from protocol.messages import Cards, Deal, Draw, Event

HIDING = frozenset({Draw, Deal})
"""The events that name cards which not everybody may see; they are few, and looking here first saves a call for each
of the others."""


def masked(event: Event, seat: int) -> Event:
    """Return `event` as `seat` may see it: cards in other hands become `??`."""
    if isinstance(event, Draw):
        return event if event.seat == seat else Draw(event.seat, _backs(event.cards))
    if isinstance(event, Deal):
        hands = tuple(cards if owner == seat else _backs(cards) for owner, cards in enumerate(event.hands))
        return replace(event, hands=hands)
    return event


def masked_all(events: Iterable[Event], seat: int) -> list[Event]:
    """Return events as `seat` may see them."""
    return [masked(event, seat) if type(event) in HIDING else event for event in events]


def _backs(cards: Cards) -> Cards:
    return (HIDDEN,) * len(cards)
