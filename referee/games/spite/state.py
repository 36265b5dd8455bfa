"""A position of Spite & Malice, from the first shuffle to the result, and what a seat sees of it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
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


def check_state(derived: DerivedRules, state: State) -> None:
    """Make sure that a game can go on from a state that somebody has written.

    Raises:
        ValueError: it cannot.
    """
    seats, rules, centre = derived.seats, derived.rules, state.centre
    out, result = state.out, state.result
    named = (*out, *state.tied, *state.waiting, *state.passed)
    cards = {*derived.payoff_pack, *derived.deck}
    piles = (*state.hands, *state.payoffs, *chain(*state.sides), *centre, state.stock, state.mixing, state.aside)
    counts = (state.turn, state.quiet, state.ties, state.redeals)
    expected = {
        f"hands, payoffs and sides of {seats} seats": {seats}
        == {len(state.hands), len(state.payoffs), len(state.sides)},
        f"{rules.side_count} side stacks of each seat": all(len(own) == rules.side_count for own in state.sides),
        "a height of each centre stack": len(centre) == len(state.heights),
        f"{derived.centre_slots} centre stacks": derived.centre_slots in (None, len(centre)),
        f"heights from 0 to {derived.stack_top - 1}": all(0 <= height < derived.stack_top for height in state.heights),
        f"seats from 0 to {seats - 1}": all(0 <= seat < seats for seat in (state.seat, *named)),
        "each seat that is out once": len({*out}) == len(out),
        "a seat that plays": result is not None or len(out) < seats,
        "a result if the game is over, and only then": (result is None) == (state.phase != "over"),
        "counts of 0 and more": all(0 <= count < 2**53 for count in counts),
        "cards of the pack": all(card in cards for pile in piles for card in pile),
        "what its phase takes up": _has_phase(derived, state),
    }
    for what, holds in expected.items():
        if not holds:
            raise ValueError(f"expected {what}, got another position")


def _has_phase(derived: DerivedRules, state: State) -> bool:
    """Whether the pile that a shuffle waits for is there."""
    size, mixing, payoffs = derived.payoff_size, state.mixing, state.payoffs
    match state.phase:
        case "payoffs":
            return mixing == derived.payoff_pack != ()
        case "deal":
            full = size if derived.payoff_pack else 0
            return mixing == derived.deck and all(len(pile) == full for pile in payoffs)
        case "tie":
            lifted = [seat for seat, pile in enumerate(payoffs) if not pile]
            return lifted == [*state.waiting[:1]] != [] and len(mixing) == size
        case "tie_together":
            lifted = [seat for seat, pile in enumerate(payoffs) if not pile]
            return lifted == sorted(state.tied) != [] and len(mixing) == size * len(lifted)
        case "lot":
            return bool(state.tied) and not mixing
        case "redeal":
            return len(mixing) >= len(list_playing_seats(state)) * derived.hand_size
        case "turn" | "over":
            return not mixing
        case _:
            return True


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
