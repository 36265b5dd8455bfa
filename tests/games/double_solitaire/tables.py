"""Tables laid by hand, and games with choosers that need no bot."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from random import Random
from typing import Any, NamedTuple

from malice.protocol.cards import Cards
from malice.referee.course import Course, Dealer
from malice.referee.games.double_solitaire import DoubleSolitaire
from malice.referee.games.double_solitaire.parameters import Parameters
from malice.referee.games.double_solitaire.state import State
from malice.referee.rules import Events, Result

Chooser = Callable[[tuple[str, ...]], str]


def game(**changes: Any) -> DoubleSolitaire:
    """Return the game with some parameters changed."""
    return DoubleSolitaire(Parameters(**changes), 2)


def cards(text: str) -> Cards:
    return tuple(text.split())


def lay(
    *table: str,
    card: str | None = "5D",
    stocks: tuple[str, str] = ("KC QC", "KD QD"),
    discards: tuple[str, str] = ("", ""),
    heights: tuple[int, ...] = (0, 0, 0, 0),
    **more: Any,
) -> State:
    """Return a position in the turn of seat 0; piles run bottom to top, four on the table, cards may be missing."""
    piles = [*table, *[""] * (4 - len(table))]
    return State(
        stocks=tuple(map(cards, stocks)),
        discards=tuple(map(cards, discards)),
        table=tuple(map(cards, piles)),
        heights=heights,
        card=card,
        turn=1,
        **more,
    )


def act(engine: DoubleSolitaire, state: State, *actions: str) -> tuple[State, Events]:
    """Play actions, each of the seat whose turn it is; return the events of the last."""
    events: Events = ()
    for action in actions:
        state, events = engine.play(state, {state.seat: action})
    return state, events


class Moment(NamedTuple):
    """A position of a game, and what led to it."""

    before: State | None
    """None at the deal."""
    action: str
    events: Events
    state: State
    step: Any


def play_moments(engine: DoubleSolitaire, seed: str, choose: Chooser) -> Iterator[Moment]:
    """Play one game to its end; yield a moment for the deal and for each action."""
    course = Course(engine, Dealer(sha256(seed.encode()).digest()))
    yield Moment(None, "", course.dealt, course.state, course.step)
    while not isinstance(course.step, Result):
        before, seat = course.state, course.step.seats[0]
        action = choose(engine.legal(before, seat))
        yield Moment(before, action, course.play({seat: action}), course.state, course.step)


def make_uniform_chooser(seed: str) -> Chooser:
    """Return a chooser that takes every action with the same chance."""
    return Random(seed).choice


def make_lively_chooser(seed: str) -> Chooser:
    """Return a chooser that ends its turn only when nothing else is left, and moves cards of the table now and then."""
    random = Random(seed)

    def choose(legal: tuple[str, ...]) -> str:
        plays = [action for action in legal[:-1] if action[0] != "t" or random.random() < 0.3]
        return random.choice(plays) if plays else legal[-1]

    return choose


def make_stubborn_chooser(seed: str) -> Chooser:
    """Return a chooser that never builds a foundation: it loads, or moves cards around on the table."""
    random = Random(seed)

    def choose(legal: tuple[str, ...]) -> str:
        idle = [action for action in legal if action.endswith("-o") or (action[0] == "t" and "-t" in action)]
        return random.choice(idle) if idle else legal[-1]

    return choose


CHOOSERS: tuple[Callable[[str], Chooser], ...] = (make_uniform_chooser, make_lively_chooser, make_stubborn_chooser)
