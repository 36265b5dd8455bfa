"""The interface that every game implements: pure functions of immutable states.

No clock, no I/O and no randomness in here or behind it. Chance enters as an order of cards that the
dealer answers to `Shuffle`; bots enter as actions; a referee's verdict enters as `withdraw`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from protocol.messages import Event, View

S = TypeVar("S")

Events = tuple[Event, ...]


class Turn(Struct, frozen=True, gc=False):
    """`seat` is to act."""

    seat: int


class Shuffle(Struct, frozen=True, gc=False):
    """Chance is to act: `shuffled` wants an order of `size` cards."""

    size: int


class Result(Struct, frozen=True):
    """The game is over."""

    places: tuple[int, ...]
    """By seat: 1 is best, equal places are tied."""
    scores: tuple[int, ...]
    """By seat: points for a series; ratings do not use them."""
    reason: str


class Rules(Protocol[S]):
    """A game under one ruleset with a fixed number of seats."""

    @property
    def seats(self) -> int:
        """How many seats play."""

    @property
    def teams(self) -> tuple[int, ...]:
        """The team of each seat; without partners, the seat itself."""

    def start(self) -> S:
        """Return the state before the first shuffle."""

    def next(self, state: S, /) -> Turn | Shuffle | Result:
        """Say who acts: one seat, chance, or nobody because the game is over."""

    def legal(self, state: S, /) -> tuple[str, ...]:
        """List what the seat to act may play: canonical order, no duplicates, empty unless it is a `Turn`."""

    def play(self, state: S, action: str, /) -> tuple[S, Events]:
        """Play one action.

        Raises:
            IllegalAction: `action` is not in `legal(state)`; nothing else is ever raised.
        """

    def shuffled(self, state: S, order: Sequence[int], /) -> tuple[S, Events]:
        """Answer `Shuffle`: the card at place `order[i]` of the pile goes to place i, counted from the bottom."""

    def withdraw(self, state: S, seat: int, /) -> tuple[S, Events]:
        """Take `seat` out of the game: its cards stay, its turns are skipped."""

    def view(self, state: S, seat: int | None, /) -> View:
        """Show the table to `seat`, or to a spectator, who gets the hand of the seat to act and no face-down card."""
