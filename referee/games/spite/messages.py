"""What a bot sees of Spite & Malice: the view of the table, and the events that its seat may see."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from malice.protocol.cards import HIDDEN, Cards
from malice.protocol.messages import Out


class CentreStack(Struct, frozen=True, gc=False):
    """One centre stack, bottom to top."""

    cards: Cards
    """Wild cards are shown as themselves."""
    height: int
    """The value reached; it exceeds the number of cards if the ruleset removes cards from below."""
    needs: str
    """The rank that fits next, as in `malice.protocol.cards.RANKS`."""


class Payoff(Struct, frozen=True, gc=False):
    """The pay-off pile of a seat."""

    top: str | None
    """The face-up card; null when the pile is empty."""
    left: int | None
    """Cards in the pile, the top one included; null if the ruleset hides the count."""


class SeatView(Struct, frozen=True, gc=False):
    """The public part of a seat."""

    payoff: Payoff
    hand: int
    """How many cards the hand holds."""
    side: tuple[Cards, ...]
    """Each side stack, bottom to top; `??` is a card that a ruleset hides."""
    team: int
    out: bool
    """Whether the seat has left the game."""


class View(Struct, frozen=True, gc=False):
    """The table as one seat sees it; seats and piles are absolute and count from 0."""

    turn: int
    """Counts the turns of the game, from 1."""
    seat: int
    """The seat that is asked."""
    hand: Cards
    """Its cards, by rank and suit."""
    stock: int
    """How many cards the stock holds."""
    aside: int
    """How many cards of completed stacks are set aside."""
    centre: tuple[CentreStack, ...]
    """By slot; an empty slot has height 0 and keeps its index."""
    seats: tuple[SeatView, ...]


class Deal(Struct, frozen=True, tag="deal", tag_field="type"):
    """Cards were dealt; `flip` events name the pay-off tops."""

    hands: tuple[Cards, ...]
    """By seat, in the order of the deal; `??` in other hands."""
    payoffs: tuple[int, ...]
    """By seat: how many cards the pay-off pile holds."""
    sides: tuple[tuple[Cards, ...], ...]
    """By seat and side stack, bottom to top."""
    stock: int
    """How many cards are left in the stock."""


class TurnBegins(Struct, frozen=True, tag="turn", tag_field="type"):
    """A turn of `seat` begins."""

    seat: int


class CardMoved(Struct, frozen=True, tag="move", tag_field="type", rename={"source": "from", "target": "to"}):
    """`seat` moved `card` between two piles, named absolutely: `0h 0p 0s2 c1`."""

    seat: int
    source: str
    """The pile that lost the card."""
    target: str
    """The pile that received it."""
    card: str


class Flip(Struct, frozen=True, tag="flip", tag_field="type"):
    """The next pay-off card of `seat` was turned up."""

    seat: int
    card: str


class Draw(Struct, frozen=True, tag="draw", tag_field="type"):
    """`seat` drew `cards` from the stock, in this order."""

    seat: int
    cards: Cards
    """`??` in other hands."""


class Shuffled(Struct, frozen=True, tag="shuffle", tag_field="type", rename={"source": "from", "target": "to"}):
    """`count` cards of pile `source` went to pile `target`, and `target` was shuffled."""

    source: str
    """The pile that lost the cards; the same as `to` when a pile was only shuffled."""
    target: str
    """The pile that received them; `aside` is shuffled only when its cards are needed."""
    count: int
    """How many cards."""


class Count(Struct, frozen=True, tag="count", tag_field="type"):
    """`seat` asked for the counts of the pay-off piles."""

    seat: int
    left: tuple[int, ...] | None
    """By seat: how many cards each pile holds; null if only `seat` learns the counts, in its view."""


class Pass(Struct, frozen=True, tag="pass", tag_field="type"):
    """`seat` ended its turn without a discard."""

    seat: int


PUBLIC: frozenset[type] = frozenset({TurnBegins, CardMoved, Flip, Shuffled, Count, Pass})
"""The types of events without a card that some seat may not see."""

Event = Deal | TurnBegins | CardMoved | Flip | Draw | Shuffled | Count | Pass | Out


def mask_event(event: Struct, seat: int) -> Struct:
    """`event` as `seat` may see it: cards in other hands become `??`."""
    if isinstance(event, Draw):
        return event if event.seat == seat else Draw(event.seat, _hide_cards(event.cards))
    if isinstance(event, Deal):
        hands = tuple(cards if owner == seat else _hide_cards(cards) for owner, cards in enumerate(event.hands))
        return replace(event, hands=hands)
    return event


def _hide_cards(cards: Cards) -> Cards:
    return (HIDDEN,) * len(cards)


def count_left(view: View) -> tuple[int, ...]:
    """Count by seat the pay-off cards its team has left, as a spectator sees it."""
    left: dict[int, int] = {}
    for seat in view.seats:
        left[seat.team] = left.get(seat.team, 0) + (seat.payoff.left or 0)
    return tuple(left[seat.team] for seat in view.seats)
