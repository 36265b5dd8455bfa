"""What a seat sees of a position."""

from __future__ import annotations

from collections.abc import Callable

from malice.protocol.cards import HIDDEN, RANKS, Cards
from malice.referee.games.spite.derived import DerivedRules
from malice.referee.games.spite.messages import CentreStack, Payoff, SeatView, View
from malice.referee.games.spite.state import Piles, State

SEES_COUNTS: dict[str, Callable[[State, int], bool]] = {
    "public": lambda state, seat: True,
    "on_request": lambda state, seat: state.announced,
    "on_request_own": lambda state, seat: state.counted and state.seat == seat,
}
"""By `payoff_count`: whether a seat's view has the counts of pay-off cards."""


def make_view(derived: DerivedRules, state: State, seat: int | None) -> View:
    """Return the table as `seat` sees it: its own hand, every face-up card, and the sizes of what is face down.

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
