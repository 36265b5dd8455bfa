"""Worlds: games as they may have gone, for all that a seat knows.

A family builds one from the events that a seat received: it chooses the hidden cards, and plays the game again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, TypeVar

from msgspec import Struct

from malice.protocol.messages import Out
from malice.referee.errors import DataError
from malice.referee.rules import Ask, Events, Result, Rules, Shuffle, World

T = TypeVar("T")


class Playback:
    """Plays a game from its start, with the cards in an order that the caller chooses.

    Args:
        rules: the game.
        arrange: returns, from a state that waits for a shuffle, the order of its cards, as `Rules.shuffled` takes it.
    """

    def __init__(self, rules: Rules[Any], arrange: Callable[[Any], Sequence[int]]) -> None:
        self._rules = rules
        self._arrange = arrange
        self._events: list[Struct] = []
        self._actions = 0
        self.state = rules.start()
        self._settle(self.state, ())

    def play(self, actions: Mapping[int, str]) -> None:
        """Play one action of each seat that is asked, and all shuffles that follow."""
        self._actions += len(actions)
        self._settle(*self._rules.play(self.state, actions))

    def withdraw(self, out: Sequence[Out]) -> None:
        """Take seats out of the game together; after its end, that only adds the events."""
        if isinstance(self._rules.next(self.state), Result):
            self._events += out
            return
        state, events = self._rules.withdraw(self.state, tuple(each.seat for each in out))
        self._settle(state, (*out, *events))

    def finish(self) -> World:
        return World(self.state, tuple(self._events), self._actions)

    def _settle(self, state: Any, events: Events) -> None:
        self._events += events
        while isinstance(self._rules.next(state), Shuffle):
            state, more = self._rules.shuffled(state, self._arrange(state))
            self._events += more
        self.state = state

    @property
    def asked(self) -> tuple[int, ...]:
        """The seats that act next."""
        step = self._rules.next(self.state)
        return step.seats if isinstance(step, Ask) else ()


def arrange_cards(pile: Sequence[T], top: Sequence[T]) -> list[int]:
    """Order the cards of a pile, from the bottom, into a sequence that begins at its top.

    Raises:
        DataError: these are not its cards.
    """
    places: dict[T, list[int]] = {}
    for place, card in enumerate(pile):
        places.setdefault(card, []).append(place)
    try:
        order = [places[card].pop() for card in reversed(top)]
    except (KeyError, IndexError):
        raise DataError(f"events: expected those of one game, got {list(top)} out of {list(pile)}") from None
    return order


def fill_unseen(known: Sequence[T | None], cards: Sequence[T], rng: Random) -> tuple[T, ...]:
    """Replace the unknown cards of a pile (None) by those of `cards` that are not known, in random order.

    Raises:
        DataError: a card is known twice, or is not among them.
    """
    unseen = list(cards)
    for card in known:
        if card is not None:
            if card not in unseen:
                raise DataError(f"events: expected each card of the pack once, got {card} again")
            unseen.remove(card)
    rng.shuffle(unseen)
    return tuple(unseen.pop() if card is None else card for card in known)
