"""Tables of Nuts laid by hand, and whole hands with choosers that need no bot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from msgspec.structs import replace

from malice.protocol.cards import VALUE, Cards
from malice.referee.course import Dealer
from malice.referee.games.nuts import Nuts
from malice.referee.games.nuts.state import Side, State
from malice.referee.rules import Ask, Events, Result, Shuffle
from malice.referee.rulesets import load_ruleset

SUITS = "CDHS"
Chooser = Callable[[int, tuple[str, ...]], str]
"""Returns one of the legal actions of a seat."""


def game(name: str = "nuts", **changes: Any) -> Nuts:
    """Return the game of a ruleset with some parameters changed."""
    rules = load_ruleset(name).rules
    return Nuts(replace(rules, **changes), changes.get("players", rules.players)[0])


def cards(text: str) -> Cards:
    return tuple(text.split())


def side(nuts: str = "KC", columns: Sequence[str] = (), stock: str = "", waste: str = "", centre: int = 0) -> Side:
    """Return the cards of a team, piles bottom to top; in a column, `|` stands above the last face-down card."""
    down = [len(cards(text.split("|")[0])) if "|" in text else 0 for text in columns]
    piles = [cards(text.replace("|", " ")) for text in columns]
    return Side(cards(nuts), tuple(piles), tuple(down), cards(stock), cards(waste), centre)


def table(engine: Nuts, *sides: Side, centre: str = "", **more: Any) -> State:
    """Return a position in the first tick; `centre` names the tops of foundations, each of the first of its suit."""
    given = [*sides, *(side(columns=["KS"]) for _ in range(2 - len(sides)))]
    heights = [0] * 8
    for card in cards(centre):
        place = 2 * SUITS.index(card[1])
        heights[place + bool(heights[place])] = VALUE[card]
    return State(
        busy=(0,) * engine.seats,
        sides=tuple(given),
        heights=tuple(heights),
        tick=1,
        **more,
    )


def act(engine: Nuts, state: State, actions: Mapping[int, str], first: int | None = None) -> tuple[State, Events]:
    """Play actions of one tick; seats that are not named wait, and `first`, if given, comes before the others."""
    step = engine.next(state)
    assert isinstance(step, Ask), step
    state, events = engine.play(state, {seat: actions.get(seat, "wait") for seat in step.seats})
    if isinstance(step := engine.next(state), Shuffle):
        acting = sorted(actions)
        order = sorted(range(step.size), key=lambda place: acting[place] != first)
        state, more = engine.shuffled(state, order)
        events += more
    return state, events


class Moment(NamedTuple):
    """A position of a hand, and what led to it."""

    actions: Mapping[int, str]
    """By seat; none for chance."""
    events: Events
    state: State
    step: Ask | Shuffle | Result


def play_moments(engine: Nuts, seed: bytes, choose: Chooser) -> Iterator[Moment]:
    """Play a hand to its end; yield a moment for each play and each shuffle."""
    dealer = Dealer(seed)
    state = engine.start()
    events: Events = ()
    actions: dict[int, str] = {}
    while True:
        step = engine.next(state)
        yield Moment(actions, events, state, step)
        if isinstance(step, Result):
            return
        if isinstance(step, Shuffle):
            actions = {}
            state, events = engine.shuffled(state, dealer.order(step.size))
        else:
            actions = {seat: choose(seat, engine.legal(state, seat)) for seat in step.seats}
            state, events = engine.play(state, actions)


def choose_uniformly(seed: bytes) -> Chooser:
    """Return a chooser that takes every action with the same chance."""
    random = Random(seed)
    return lambda seat, legal: legal[int(random.random() * len(legal))]


def choose_lively(seed: bytes) -> Chooser:
    """Return a chooser that makes much happen: mostly cards to the centre, then other moves, then turns."""
    random = Random(seed)

    def choose(seat: int, legal: tuple[str, ...]) -> str:
        centre = [action for action in legal if action.endswith("-f")]
        moves = [action for action in legal if "-t" in action]
        for wanted, chance in ((centre, 0.95), (moves, 0.5), (legal[:-1], 0.97)):
            if wanted and random.random() < chance:
                return wanted[int(random.random() * len(wanted))]
        return legal[-1]

    return choose


def wait(seat: int, legal: tuple[str, ...]) -> str:
    """Never do anything."""
    return "wait"
