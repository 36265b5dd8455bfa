"""The interface that every family of games implements: pure functions of immutable states.

There is no clock, no I/O and no randomness here or behind it. Chance enters as the order of cards that the dealer
returns for a `Shuffle`; bots enter as actions; a verdict of the referee enters as `withdraw`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from msgspec import Struct

S = TypeVar("S")

Events = tuple[Struct, ...]
"""What happened at the table, in order: structs of the family, and `Out` of the referee."""


class Ask(Struct, frozen=True, gc=False):
    """These seats act next, in ascending order; several of them act at the same time."""

    seats: tuple[int, ...]


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
    figures: tuple[tuple[int, ...], ...] = ()
    """By seat: what the statistics of the family count, in their order; nothing if it has none."""


Step = Ask | Shuffle | Result


class MatchTerms(Struct, frozen=True):
    """What a tournament must know of a set of parameters."""

    players: tuple[int, int]
    """The least and the greatest number of seats."""
    target: int = 0
    """Points that win a series of games; 0 means that games are played singly."""
    max_turns: int | None = None
    """The most turns that a seat can take in one game; None if nothing bounds them."""
    simultaneous: bool = False
    """Whether several seats may be asked at the same time."""
    same_deal: bool = False
    """Whether every seat plays the whole deal by itself, so that no seat has other cards than another: then a deal is
    one game, there are no rotations, and an event that names a `seat` is for that seat alone, verdicts too."""
    max_actions: int = 100_000
    """A game that is not over after so many actions and verdicts is void: its rules may have no end."""


class Rules(Protocol[S]):
    """A game under one set of parameters with a fixed number of seats."""

    @property
    def seats(self) -> int:
        """How many seats play."""

    @property
    def teams(self) -> tuple[int, ...]:
        """The team of each seat; without partners, the seat itself."""

    def start(self) -> S:
        """The state before the first shuffle."""

    def next(self, state: S, /) -> Step:
        """Who acts: seats, chance, or nobody because the game is over."""

    def legal(self, state: S, seat: int, /) -> tuple[str, ...]:
        """The legal actions of a seat: in canonical order, unique, empty unless `next` asks the seat.

        An action is a word without blanks that does not begin with `!`.
        """

    def play(self, state: S, actions: Mapping[int, str], /) -> tuple[S, Events]:
        """Play one action of each seat that `next` asks.

        Raises:
            IllegalAction: an action is not in `legal(state, seat)`; this is the only error.
        """

    def shuffled(self, state: S, order: Sequence[int], /) -> tuple[S, Events]:
        """Carry out a `Shuffle`: the card at place `order[i]` of the pile goes to place i, counted from the bottom."""

    def withdraw(self, state: S, seats: Sequence[int], /) -> tuple[S, Events]:
        """Take seats out of the game at the same time, so that they tie: their cards stay, their turns are skipped.

        Seats that are asked together with them are still asked, unless the game is over or they leave with a partner.
        """

    def view(self, state: S, seat: int | None, /) -> Struct:
        """The view of `seat`, or of a spectator, who sees the hands of the seats to act, and no other secret."""

    def mask(self, event: Any, seat: int, /) -> Struct | None:
        """An event as `seat` may see it; None if the seat must not know of it."""

    def turn(self, state: S, /) -> int:
        """Count the turns begun so far; a clock gets its increment when its seat is first asked in a turn."""


class World(Struct, frozen=True):
    """A game as it may have gone for all that a seat knows."""

    state: Any
    events: Events
    """All that happened, unmasked and in order."""
    actions: int
    """How many actions were played."""


class LuckMeter(Protocol):
    """Measures what chance did for each seat of one game."""

    def follow(self, events: Iterable[Struct], /) -> None:
        """Add what happened, unmasked and in order."""

    def total(self) -> tuple[float, ...]:
        """The luck of each seat so far, in games won.

        Whatever the seats do, it is 0 on average over all orders of the cards.
        """


class Luck(Struct, frozen=True):
    """How to measure luck under one set of parameters."""

    hash: str
    """Of the function that says what cards are worth, hex: different functions measure different things."""
    start: Callable[[Any], LuckMeter]
    """Returns a meter for a game that begins in this state, which is that after the deal."""
