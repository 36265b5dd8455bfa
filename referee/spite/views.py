"""What a seat sees of a position."""

from __future__ import annotations

from protocol.cards import RANKS
from protocol.messages import CentreStack, Payoff, SeatView, View
from referee.spite.setting import Setting
from referee.spite.state import State


def view(setting: Setting, state: State, seat: int) -> View:
    """Show the table to `seat`: its own hand, every face-up card, and the sizes of what is face down."""
    hands, payoffs, sides, out = state.hands, state.payoffs, state.sides, state.out
    return View(
        state.turn,
        seat,
        hands[seat],
        len(state.stock),
        len(state.aside),
        tuple(
            CentreStack(cards, height, RANKS[height])
            for cards, height in zip(state.centre, state.heights, strict=True)
        ),
        tuple(
            SeatView(
                Payoff(pile[-1] if pile else None, len(pile)),
                len(hands[owner]),
                sides[owner],
                setting.teams[owner],
                owner in out,
            )
            for owner, pile in enumerate(payoffs)
        ),
    )
