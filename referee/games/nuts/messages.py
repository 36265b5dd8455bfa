"""What a bot sees of Nuts: the view of the table, and the events since its last request."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from malice.protocol.cards import Cards
from malice.protocol.messages import Out

Part = Literal["nuts", "cards", "both"]
"""What a seat may play besides its team's columns: the Nuts pile, the stock and the waste, or all of these."""


class SideView(Struct, frozen=True, gc=False):
    """The cards of one team that are not in the centre."""

    nuts: str | None
    """The top of the Nuts pile; null when it is empty."""
    nuts_left: int
    """Cards in the Nuts pile, the top one included."""
    columns: tuple[Cards, ...]
    """Each from bottom to top; `??` lies face down."""
    stock: int
    """Cards in the stock."""
    waste: Cards
    """From bottom to top; `??` is a card that the ruleset hides."""
    centre: int
    """Cards that the team has played to the centre."""
    points: int
    """What the hand would count now: those cards, less the penalty for the Nuts pile."""


class View(Struct, frozen=True, gc=False):
    """The table as one seat sees it; seats, teams, columns and foundations count from 0."""

    tick: int
    """Counts the ticks of the hand, from 1."""
    idle: int
    """Idle ticks in a row before this one."""
    seat: int
    """The seat that is asked."""
    team: int
    """Its team: the index of its cards in `sides`."""
    part: Part
    """What it may play besides its team's columns: the `nuts`, the `cards` (stock and waste), or `both`."""
    busy: tuple[int, ...]
    """By seat: how many ticks it is not asked because a turn takes that long."""
    centre: tuple[str | None, ...]
    """The top of each foundation; null without one. Places 0 and 1 are for clubs, 2 and 3 for diamonds, 4 and 5 for
    hearts, 6 and 7 for spades."""
    sides: tuple[SideView, ...]
    """By team."""


class SideDealt(Struct, frozen=True, gc=False):
    """What one team was dealt; every pile runs bottom to top."""

    nuts: Cards
    """`??` lies face down."""
    columns: tuple[Cards, ...]
    """`??` lies face down."""
    stock: Cards
    """`??` lies face down."""


class Deal(Struct, frozen=True, tag="deal", tag_field="type"):
    """The cards were dealt."""

    sides: tuple[SideDealt, ...]
    """By team."""


class CardsMoved(Struct, frozen=True, tag="move", tag_field="type", rename={"source": "from", "target": "to"}):
    """`seat` moved `cards` between two piles: `0n` and `0w` are Nuts and waste of team 0, `0t2` its column 2, `f5` a
    foundation."""

    seat: int
    source: str
    """The pile that lost the cards."""
    target: str
    """The pile that received them."""
    cards: Cards
    """From bottom to top."""


class Flip(Struct, frozen=True, tag="flip", tag_field="type"):
    """The next card of a Nuts pile or of a column was turned up."""

    pile: str
    """Such as `0n` or `1t3`."""
    card: str


class Turned(Struct, frozen=True, tag="turn", tag_field="type"):
    """`seat` turned cards from its team's stock onto the waste."""

    seat: int
    cards: Cards
    """In the order of turning; `??` is a card that the ruleset hides."""


class Redeal(Struct, frozen=True, tag="redeal", tag_field="type"):
    """`seat` turned its team's waste over, unshuffled: its bottom card is now the top of the stock."""

    seat: int
    count: int
    """How many cards."""


class Lapse(Struct, frozen=True, tag="lapse", tag_field="type"):
    """The action of `seat` was no longer legal when its turn in the tick came, and changed nothing."""

    seat: int
    action: str


class Burned(Struct, frozen=True, tag="burn", tag_field="type"):
    """All were stuck: the top card of each stock went to its bottom, unseen."""

    redealt: tuple[int, ...]
    """The teams that first turned their waste over and put it under the stock, which had fewer than two cards."""


PUBLIC: frozenset[type] = frozenset({CardsMoved, Flip, Redeal, Lapse, Burned})
"""The types of events without a card that some seat may not see."""

Event = Deal | CardsMoved | Flip | Turned | Redeal | Lapse | Burned | Out


MOST = 52
"""The most points of a hand: the whole pack of a team in the centre."""


def count_missing(view: View) -> tuple[int, ...]:
    """Count by seat the points that its team lacks of the most that a hand can bring."""
    missing = [MOST - side.points for side in view.sides]
    return tuple(missing[seat % len(missing)] for seat in range(len(view.busy)))
