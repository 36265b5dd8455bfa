"""Tables laid by hand, and how to play on them."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from malice.protocol.cards import ORDER, Cards
from malice.referee.games.spite import SpiteAndMalice
from malice.referee.games.spite.parameters import Parameters
from malice.referee.games.spite.state import State
from malice.referee.rules import Ask, Events, Result, Shuffle
from malice.referee.rulesets import load_ruleset

STOCK = "2H 3H 4H 5H 6H 7H 8H 9H TH JH 2S 3S 4S 5S 6S 7S 8S 9S TS JS"
FIVE = "6D 7D 8D 9D TD"
TWELVE = "AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC"
FULL = [["2C", "2C", "2C", "2C"]]
"""The side stacks of one seat; by the rules of the book none of them takes a high card."""


def game(preset: str = "classic", seats: int | None = None, **changes: Any) -> SpiteAndMalice:
    """Return the game of a preset with some parameters changed; by default for its least number of seats."""
    rules: Parameters = replace(load_ruleset(preset).rules, **changes)
    return SpiteAndMalice(rules, seats or rules.players[0])


def cards(text: str) -> Cards:
    return tuple(text.split())


def table(
    engine: SpiteAndMalice,
    *hands: str,
    payoffs: Sequence[str] = (),
    sides: Sequence[Sequence[str]] = (),
    centre: Sequence[str] = (),
    stock: str = STOCK,
    **more: Any,
) -> State:
    """Return a position in the turn of seat 0; piles run bottom to top.

    By default a hand is FIVE, a pay-off pile "JC QC", and any other pile empty.
    """
    seats = range(engine.seats)
    rules = engine.derived.rules
    slots = max(engine.derived.centre_slots or 0, len(centre))
    own = [[cards(pile) for pile in (sides[seat] if seat < len(sides) else ())] for seat in seats]
    stacks = [cards(stack) for stack in centre] + [()] * (slots - len(centre))
    hand = [cards(hands[seat] if seat < len(hands) else FIVE) for seat in seats]
    return replace(
        State(
            phase="turn",
            seat=0,
            turn=1,
            quiet=1,
            hands=tuple(tuple(sorted(held, key=ORDER.__getitem__)) for held in hand),
            payoffs=tuple(cards(payoffs[seat] if seat < len(payoffs) else "JC QC") for seat in seats),
            sides=tuple((*piles, *((),) * (rules.side_count - len(piles))) for piles in own),
            centre=tuple(stacks),
            heights=tuple(map(len, stacks)),
            stock=cards(stock),
        ),
        **more,
    )


def to_struct(engine: SpiteAndMalice, state: Any) -> State:
    """Return a position as Python has it; that of the compiled core only reads like it."""
    struct: State = state if isinstance(state, State) else engine.translate(state)  # type: ignore[attr-defined]
    return struct


def list_legal(engine: SpiteAndMalice, state: State) -> tuple[str, ...]:
    """Return the legal actions of the seat whose turn it is."""
    return engine.legal(state, state.seat)


def act(engine: SpiteAndMalice, state: State, action: str) -> tuple[State, Events]:
    """Play an action of the seat whose turn it is."""
    return engine.play(state, {state.seat: action})


def settle_shuffles(engine: SpiteAndMalice, state: State) -> tuple[State, Events]:
    """Answer every shuffle with the present order of the cards."""
    events: Events = ()
    while isinstance(step := engine.next(state), Shuffle):
        state, more = engine.shuffled(state, range(step.size))
        events += more
    return state, events


def after(engine: SpiteAndMalice, state: State, *actions: str) -> State:
    """Return the position after some actions."""
    return play_with_events(engine, state, *actions)[0]


def play_with_events(engine: SpiteAndMalice, state: State, *actions: str) -> tuple[State, Events]:
    """Return the position after some actions, and the events of the last one."""
    events: Events = ()
    for action in actions:
        state, events = act(engine, state, action)
        state, more = settle_shuffles(engine, state)
        events += more
    return state, events


def to_act(engine: SpiteAndMalice, state: State) -> int:
    """Return the seat whose turn it is."""
    step = engine.next(state)
    assert isinstance(step, Ask), step
    (seat,) = step.seats
    return seat


def result(engine: SpiteAndMalice, state: State) -> Result:
    """Return the result of a game that is over."""
    step = engine.next(state)
    assert isinstance(step, Result), step
    return step


def ends(legal: Sequence[str], source: str) -> list[str]:
    """Return where the legal actions from `source` go."""
    return [action.partition("-")[2] for action in legal if action.startswith(f"{source}-")]
