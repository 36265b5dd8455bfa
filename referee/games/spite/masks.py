"""Hides from a seat the parts of an event that it may not see."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from malice.protocol.cards import HIDDEN, Cards
from malice.referee.games.spite.messages import Deal, Draw


def mask_event(event: Struct, seat: int) -> Struct:
    """Return `event` as `seat` may see it: cards in other hands become `??`."""
    if isinstance(event, Draw):
        return event if event.seat == seat else Draw(event.seat, _hide_cards(event.cards))
    if isinstance(event, Deal):
        hands = tuple(cards if owner == seat else _hide_cards(cards) for owner, cards in enumerate(event.hands))
        return replace(event, hands=hands)
    return event


def _hide_cards(cards: Cards) -> Cards:
    return (HIDDEN,) * len(cards)
