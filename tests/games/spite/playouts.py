"""Whole games with choosers that need no bot."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from random import Random
from typing import NamedTuple

from malice.referee.course import Dealer
from malice.referee.games.spite import SpiteAndMalice
from malice.referee.games.spite.state import State
from malice.referee.rules import Ask, Events, Result, Shuffle

from .tables import act, list_legal, to_act

Chooser = Callable[[tuple[str, ...]], str]


class Moment(NamedTuple):
    """A position of a game, and what led to it."""

    seat: int | None
    """Who acted; None for the deal and for later shuffles."""
    action: str
    events: Events
    state: State
    step: Ask | Shuffle | Result


def play_moments(engine: SpiteAndMalice, seed: str, choose: Chooser) -> Iterator[Moment]:
    """Play one game to its end; yield a moment for each action and each shuffle."""
    dealer = Dealer(sha256(seed.encode()).digest())
    state = engine.start()
    yield Moment(None, "", (), state, engine.next(state))
    while not isinstance(step := engine.next(state), Result):
        seat, action = None, ""
        if isinstance(step, Shuffle):
            state, events = engine.shuffled(state, dealer.order(step.size))
        else:
            seat, action = to_act(engine, state), choose(list_legal(engine, state))
            state, events = act(engine, state, action)
        yield Moment(seat, action, events, state, engine.next(state))


def make_uniform_chooser(seed: str) -> Chooser:
    """Return a chooser that takes every action with the same chance."""
    random = Random(seed)
    return lambda legal: legal[int(random.random() * len(legal))]


def make_lively_chooser(seed: str) -> Chooser:
    """Return a chooser that makes much happen: pay-off cards when they fit, mostly cards to the centre, few passes."""
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
