"""A position of Nuts, from the deal to the points of the hand, and what a seat sees of it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from malice.protocol.cards import CARDS, HIDDEN, VALUE, Cards
from malice.referee.games.nuts.messages import Deal, SideDealt, SideView
from malice.referee.games.nuts.parameters import Parameters
from malice.referee.rules import Result

PLACES = 8
"""Foundations in the centre: one for each ace of two packs. Places 2n and 2n + 1 take the nth suit of `CDHS`."""


class Side(Struct, frozen=True, gc=False):
    """The cards of a team that are not in the centre; every pile runs bottom to top, and is played from its end."""

    nuts: Cards
    columns: tuple[Cards, ...]
    hidden: tuple[int, ...]
    """By column: how many of its cards, from the bottom, lie face down."""
    stock: Cards
    waste: Cards = ()
    centre: int = 0
    """Cards that the team has played to the centre."""


class State(Struct, frozen=True, gc=False):
    """All cards and counters: never changed, only replaced."""

    busy: tuple[int, ...]
    """By seat: the tick before which it is not asked."""
    packs: tuple[Cards, ...] = ()
    """The packs shuffled so far, by team, until all are and the cards are dealt."""
    sides: tuple[Side, ...] = ()
    """By team; none before the deal."""
    heights: tuple[int, ...] = (0,) * PLACES
    """By foundation: the value of its top card, 0 without one."""
    tick: int = 0
    """The tick that is played, from 1; 0 before the deal."""
    idle: int = 0
    """Idle ticks in a row."""
    burned: bool = False
    """The stocks were burned, and may not be burned again until that is allowed."""
    pending: tuple[tuple[int, str], ...] = ()
    """The actions of this tick, by seat, while chance draws their order."""
    out: tuple[int, ...] = ()
    """The teams that left, all at the same moment."""
    reason: str = ""
    """Why the hand is over; empty while it is played."""


def count_points(rules: Parameters, side: Side) -> int:
    """Count what a hand is worth to a team as its cards lie: those in the centre, less the penalty for Nuts left."""
    return side.centre - rules.penalty * len(side.nuts)


def make_result(rules: Parameters, teams: Sequence[int], state: State) -> Result:
    """Rank the teams by points; a team that left comes last and keeps no points, the other loses none."""
    points = [count_points(rules, side) for side in state.sides] or [0] * len(set(teams))
    for team, value in enumerate(points):
        if state.out:
            points[team] = min(0, value) if team in state.out else max(0, value)
    ranks = [(team not in state.out, 0 if state.out else value) for team, value in enumerate(points)]
    places = [1 + sum(other > own for other in ranks) for own in ranks]
    return Result(tuple(places[team] for team in teams), tuple(points[team] for team in teams), state.reason)


TOPS = tuple(
    (None, *(card for card in CARDS if card[1] == "CDHS"[place // 2] and VALUE[card] <= 13)) for place in range(PLACES)
)
"""By foundation and height: its top card."""


def show_centre(state: State) -> tuple[str | None, ...]:
    return tuple([tops[height] for tops, height in zip(TOPS, state.heights, strict=True)])


def show_side(rules: Parameters, side: Side) -> SideView:
    """The cards of a team; what lies face down is hidden."""
    return SideView(
        side.nuts[-1] if side.nuts else None,
        len(side.nuts),
        tuple(
            [
                (HIDDEN,) * hidden + pile[hidden:] if hidden else pile
                for pile, hidden in zip(side.columns, side.hidden, strict=True)
            ]
        ),
        len(side.stock),
        side.waste if rules.waste_visible == "all" else hide_below(side.waste),
        side.centre,
        count_points(rules, side),
    )


def hide_below(pile: Cards) -> Cards:
    """Hide all cards of a pile but its top."""
    return (*(HIDDEN,) * (len(pile) - 1), *pile[-1:])


def deal_side(rules: Parameters, pack: Cards) -> Side:
    """Deal from the top of a pack: the Nuts pile, then the columns row by row; the rest stays as the stock."""
    deck = list(pack)
    nuts = tuple(deck.pop() for _ in range(rules.nuts_size))
    columns: list[Cards] = [() for _ in rules.columns]
    for row in range(max(rules.columns)):
        for column, height in enumerate(rules.columns):
            if row < height:
                columns[column] += (deck.pop(),)
    return Side(nuts, tuple(columns), tuple(height - 1 for height in rules.columns), tuple(deck))


def tell_deal(sides: tuple[Side, ...]) -> Deal:
    """The event of the deal, with all cards."""
    return Deal(tuple(SideDealt(side.nuts, side.columns, side.stock) for side in sides))


def mask_deal(deal: Deal) -> Deal:
    """Hide all cards that lie face down; every seat sees the same."""
    return Deal(
        tuple(
            SideDealt(hide_below(side.nuts), tuple(map(hide_below, side.columns)), (HIDDEN,) * len(side.stock))
            for side in deal.sides
        )
    )
