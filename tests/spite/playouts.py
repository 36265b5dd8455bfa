"""Whole games with choosers that need no bot."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from random import Random
from typing import NamedTuple

from referee.dealer import Dealer
from referee.rules import Events, Result, Shuffle, Turn
from referee.spite import SpiteAndMalice
from referee.spite.state import State

Chooser = Callable[[tuple[str, ...]], str]


class Moment(NamedTuple):
    """A position of a game with what led to it."""

    seat: int | None
    """Who acted; None for the deal and for later shuffles."""
    action: str
    events: Events
    state: State
    step: Turn | Shuffle | Result


def moments(played: SpiteAndMalice, seed: str, choose: Chooser) -> Iterator[Moment]:
    """Play one game to its end; every action and every shuffle gives a moment."""
    dealer = Dealer(sha256(seed.encode()).digest())
    state = played.start()
    yield Moment(None, "", (), state, played.next(state))
    while not isinstance(step := played.next(state), Result):
        seat, action = None, ""
        if isinstance(step, Shuffle):
            state, events = played.shuffled(state, dealer.order(step.size))
        else:
            seat, action = step.seat, choose(played.legal(state))
            state, events = played.play(state, action)
        yield Moment(seat, action, events, state, played.next(state))


def uniform(seed: str) -> Chooser:
    """Choose any action, all with the same chance."""
    random = Random(seed)
    return lambda legal: legal[int(random.random() * len(legal))]


def lively(seed: str) -> Chooser:
    """Choose so that much happens: the pay-off card when it fits, mostly cards to the centre, rarely a pass."""
    random = Random(seed)

    def choose(legal: tuple[str, ...]) -> str:
        payoff = [action for action in legal if action.partition("-")[0].endswith("p")]
        centre = [action for action in legal if "-c" in action]
        discards = [action for action in legal if "-s" in action]
        for wanted, chance in ((payoff, 0.95), (centre, 0.85), (discards, 0.9)):
            if wanted and random.random() < chance:
                return wanted[int(random.random() * len(wanted))]
        return legal[int(random.random() * len(legal))]

    return choose
