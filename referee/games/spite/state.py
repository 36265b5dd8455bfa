"""A position of Spite & Malice, from the first shuffle to the result, and what a seat sees of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from malice.protocol.cards import HIDDEN, RANKS, Cards
from malice.referee.games.spite.messages import CentreStack, Payoff, SeatView, View
from malice.referee.games.spite.parameters import DerivedRules
from malice.referee.rules import Result

Piles = tuple[Cards, ...]

Phase = Literal[
    "payoffs", "deal", "tie", "tie_together", "lot", "recycle", "refill", "refill_last", "redeal", "turn", "over"
]
"""What the position waits for: a shuffle of some pile, a seat's action, or nothing.

`payoffs`: the pack of the pay-off piles, where they have their own · `deal`: the cards to deal · `tie`: the pay-off
pile of the first waiting seat · `tie_together`: the pay-off piles of all tied seats · `lot`: the tied seats, of which
one starts · `recycle`: a completed stack, with the stock or to go under it · `refill`: cards that go under the stock
in the middle of a draw · `refill_last`: the same where the draw ends a turn · `redeal`: everything but the pay-off
piles.
"""


class State(Struct, frozen=True, gc=False):
    """All cards and counters; every pile runs bottom to top, and cards are drawn or played from its end."""

    phase: Phase
    seat: int
    """Whose turn it is."""
    turn: int
    """Turns begun so far."""
    quiet: int
    """Turns begun since a pay-off card was played to the centre."""
    hands: Piles
    """Each in listing order."""
    payoffs: Piles
    sides: tuple[Piles, ...]
    centre: Piles
    heights: tuple[int, ...]
    """The value that each centre stack has reached; more than its cards if the stock was made anew from buried ones."""
    stock: Cards
    mixing: Cards = ()
    """The pile that was taken off the table to be shuffled."""
    aside: Cards = ()
    out: tuple[int, ...] = ()
    """Withdrawn seats, in the order of leaving."""
    tied: tuple[int, ...] = ()
    """Seats with equal first pay-off cards."""
    waiting: tuple[int, ...] = ()
    """Tied seats whose piles are not shuffled yet."""
    ties: int = 0
    """How often first pay-off cards were equal."""
    moved: bool = False
    """The seat has played a card in this turn."""
    filling: bool = False
    """The seat has begun to fill empty side stacks: only the other fills and the discard follow."""
    counted: bool = False
    """The seat whose turn it is has asked for the counts, and may not ask again yet."""
    announced: bool = False
    """All seats know the counts, and no card has left or joined a pay-off pile since."""
    passed: tuple[int, ...] = ()
    """Seats that have passed without playing a card since the last play, in order."""
    pressed: bool = False
    """After a stalemate: aces and twos in hand must be played until a card moves."""
    redeals: int = 0
    result: Result | None = None


def replace_item(items: tuple[Cards, ...], index: int, item: Cards) -> tuple[Cards, ...]:
    return items[:index] + (item,) + items[index + 1 :]


def replace_pile(sides: tuple[Piles, ...], seat: int, index: int, pile: Cards) -> tuple[Piles, ...]:
    return sides[:seat] + (replace_item(sides[seat], index, pile),) + sides[seat + 1 :]


def list_playing_seats(state: State) -> tuple[int, ...]:
    return tuple(seat for seat in range(len(state.hands)) if seat not in state.out)


SEES_COUNTS: dict[str, Callable[[State, int], bool]] = {
    "public": lambda state, seat: True,
    "on_request": lambda state, seat: state.announced,
    "on_request_own": lambda state, seat: state.counted and state.seat == seat,
}
"""By `payoff_count`: whether a seat's view has the counts of pay-off cards."""


def make_view(derived: DerivedRules, state: State, seat: int | None) -> View:
    """The table as `seat` sees it: its own hand, every face-up card, and the sizes of what is face down.

    A spectator sees the hand of the seat to act, and every card that was once face up, even a buried one, and the
    counts.
    """
    hands, payoffs, sides, out = state.hands, state.payoffs, state.sides, state.out
    counts = seat is None or SEES_COUNTS[derived.rules.payoff_count](state, seat)
    if derived.rules.side_visible == "top" and seat is not None:
        sides = tuple(map(_square_all, sides))
    if seat is None:
        seat = state.seat
    return View(
        state.turn,
        seat,
        hands[seat],
        len(state.stock),
        len(state.aside),
        tuple(
            [
                CentreStack(cards, height, RANKS[height])
                for cards, height in zip(state.centre, state.heights, strict=True)
            ]
        ),
        tuple(
            [
                SeatView(
                    Payoff(pile[-1] if pile else None, len(pile) if counts else None),
                    len(hands[owner]),
                    sides[owner],
                    derived.teams[owner],
                    owner in out,
                )
                for owner, pile in enumerate(payoffs)
            ]
        ),
    )


def _square_all(piles: Piles) -> Piles:
    return tuple(_square(pile) for pile in piles)


def _square(pile: Cards) -> Cards:
    """Hide the buried cards of a squared stack."""
    return (*(HIDDEN,) * (len(pile) - 1), *pile[-1:])
