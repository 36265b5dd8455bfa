"""The interface that every game implements: pure functions of immutable states.

There is no clock, no I/O and no randomness here or behind it. Chance enters as the order of cards that the dealer
returns for a `Shuffle`; bots enter as actions; a verdict of the referee enters as `withdraw`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from protocol.messages import Event, View

S = TypeVar("S")

Events = tuple[Event, ...]


class Turn(Struct, frozen=True, gc=False):
    """`seat` acts next."""

    seat: int


class Shuffle(Struct, frozen=True, gc=False):
    """Chance acts next: `shuffled` takes an order of `size` cards."""

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
        """Return who acts: one seat, chance, or nobody because the game is over."""

    def legal(self, state: S, /) -> tuple[str, ...]:
        """Return the legal actions of the seat to act: in canonical order, unique, empty unless `next` is a `Turn`."""

    def play(self, state: S, action: str, /) -> tuple[S, Events]:
        """Play one action.

        Raises:
            IllegalAction: `action` is not in `legal(state)`; this is the only error.
        """

    def shuffled(self, state: S, order: Sequence[int], /) -> tuple[S, Events]:
        """Carry out a `Shuffle`: the card at place `order[i]` of the pile goes to place i, counted from the bottom."""

    def withdraw(self, state: S, seat: int, /) -> tuple[S, Events]:
        """Take `seat` out of the game: its cards stay, its turns are skipped."""

    def view(self, state: S, seat: int | None, /) -> View:
        """Return the view of `seat`, or of a spectator, who sees the hand of the seat to act and no face-down card."""
