"""Both engines in lockstep: games of random rules, played by Python and by the compiled core, compared to the byte."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from random import Random
from typing import Any

import msgspec
from msgspec.structs import replace

from malice.referee.compiled import find_core
from malice.referee.course import Dealer
from malice.referee.errors import RulesetError
from malice.referee.families import load_family
from malice.referee.games.spite import SpiteAndMalice
from malice.referee.games.spite.messages import PUBLIC
from malice.referee.games.spite.parameters import Parameters
from malice.referee.games.spite.state import State
from malice.referee.rules import Ask, Events, Result, Shuffle
from malice.referee.rulesets import list_rulesets, load_ruleset

from .random_parameters import VALUES

STRANGE = (
    *("", "pass", "count", "p-c0", "p-c00", "s0-c1", "h4C-s0", "hWX-c+1"),
    *("0p-c0", "1s0-c0", "p-1p", "ü-c0", "h-c0"),
)
"""Actions that are seldom legal, or never."""
LEAVE = 0.02
"""The chance that a seat leaves at an action, in one game of three."""


def draw_engine(rng: Random) -> SpiteAndMalice:
    """Return the game of random parameters, for a random number of seats."""
    names = list_rulesets("spite")
    while True:
        rules: Parameters = load_ruleset(rng.choice(names)).rules
        fields = rng.sample(sorted(VALUES), rng.randrange(7))
        changes: dict[str, Any] = {"players": (2, 8), "max_turns": 30} if fields else {}
        changes |= {field: rng.choice(VALUES[field]) for field in fields}
        rules = replace(rules, **changes)
        try:
            return SpiteAndMalice(rules, rng.randint(*rules.players))
        except RulesetError:
            continue


def play_in_lockstep(make_core: Callable[[SpiteAndMalice], Any], seed: object, *, every: int = 1) -> int:
    """Play a game with both engines, and compare all that they say; return how many actions it took.

    Outcomes, events, states and what comes next are compared at each step; lists, views and masks, which take most of
    the time, at one step of `every`.
    """
    rng = Random(f"lockstep {seed}")
    judge = draw_engine(rng)
    core = make_core(judge)
    assert (core.seats, core.teams) == (judge.seats, judge.teams)
    chance = sha256(f"{seed}".encode()).digest()
    dealer = Dealer(chance)
    eager, leaving = rng.random() < 0.7, LEAVE * (rng.random() < 1 / 3)
    state, twin, actions, steps = judge.start(), core.start(), 0, rng.randrange(every)
    course, happened = _begin_course(core, chance), list[Any]()
    learner = load_family("spite").learner
    assert learner
    encode = learner(judge.derived.rules, judge.seats).encode
    while not isinstance(step := judge.next(state), Result):
        steps += 1
        looks = steps % every == 0
        _compare_step(judge, core, state, twin)
        if looks:
            _compare_seats(judge, core, state, twin)
        if isinstance(step, Ask) and course:
            assert course.step == step
            if looks:
                _compare_course(judge, course, state, encode)
            if steps % (8 * every) == 0:
                assert course.events == happened
        if rng.random() < leaving:
            course = None  # it knows only games that nobody has left
            seats = _draw_seats(rng, judge.seats, state.out)
            outcome, other = _try(judge.withdraw, state, seats), _try(core.withdraw, twin, seats)
        elif isinstance(step, Shuffle):
            order = dealer.order(step.size)
            outcome, other = _try(judge.shuffled, state, order), _try(core.shuffled, twin, order)
        else:
            assert isinstance(step, Ask)
            given = {step.seats[0]: _draw_action(rng, judge.legal(state, step.seats[0]), eager)}
            outcome, other = _try(judge.play, state, given), _try(core.play, twin, given)
            actions += 1
            if course:
                went = _try(course.play, given)
                assert went == outcome if isinstance(outcome, str) else went is None
        if isinstance(outcome, str):
            assert other == outcome
            continue
        state, events = outcome
        twin, others = other
        happened += events
        _compare_events(judge, core, events, others, masked=looks)
    _compare_step(judge, core, state, twin)
    _compare_seats(judge, core, state, twin)
    if course:
        assert (course.step, course.events) == (step, happened)
    return actions


def _begin_course(core: Any, seed: bytes) -> Any:
    module = find_core()
    return module and module.Course.begin(core, module.Dealer(seed), core.start(), ())


def _compare_course(judge: SpiteAndMalice, course: Any, state: State, encode: Callable[[Any], Any]) -> None:
    """Compare a game that goes on in place."""
    for seat in range(judge.seats):
        assert course.legal(seat) == judge.legal(state, seat)
        assert course.view(seat) == (view := judge.view(state, seat))
        assert course.encode(seat) == encode(view).tobytes()


def _draw_seats(rng: Random, seats: int, out: tuple[int, ...]) -> tuple[int, ...]:
    if rng.random() < 0.1:
        return rng.choice([(), (0, 1), (seats,), (-1,)])
    return (rng.choice([seat for seat in range(seats) if seat not in out]),)


def _draw_action(rng: Random, legal: tuple[str, ...], eager: bool) -> str:
    if rng.random() < 0.02:
        return rng.choice(STRANGE)
    to_centre = [action for action in legal if "-c" in action]
    return rng.choice(to_centre) if to_centre and eager and rng.random() < 0.85 else rng.choice(legal)


def _try(method: Callable[..., tuple[Any, Events]], *arguments: Any) -> Any:
    """Return what a method returns, or what it raises."""
    try:
        return method(*arguments)
    except Exception as error:  # whatever it is, the other raises the same
        return f"{type(error).__name__}: {error}"


def _compare_step(judge: SpiteAndMalice, core: Any, state: State, twin: Any) -> None:
    """Compare a state, and what comes next in it."""
    assert core.next(twin) == judge.next(state)
    assert core.turn(twin) == judge.turn(state)
    assert _to_json(twin) == msgspec.json.encode(state)


def _compare_seats(judge: SpiteAndMalice, core: Any, state: State, twin: Any) -> None:
    """Compare what the seats may do, and what they see."""
    for seat in range(judge.seats):
        assert core.legal(twin, seat) == judge.legal(state, seat)
    for seat in (*range(judge.seats), None):
        view, other = judge.view(state, seat), core.view(twin, seat)
        assert other == view
        assert msgspec.json.encode(other) == (json := msgspec.json.encode(view))
        assert seat is None or core.encode_view(twin, seat) == json


def _compare_events(judge: SpiteAndMalice, core: Any, events: Events, others: Events, *, masked: bool) -> None:
    assert others == events
    assert msgspec.json.encode(others) == msgspec.json.encode(events)
    seats = range(judge.seats)
    for event, other in zip(events, others, strict=True):
        if masked and type(event) not in PUBLIC:
            assert [core.mask(other, seat) for seat in seats] == [judge.mask(event, seat) for seat in seats]


def _to_json(state: Any) -> bytes:
    """Return a state as JSON; both kinds may come from the core, which leaves to Python what it cannot hold."""
    return msgspec.json.encode(state) if isinstance(state, State) else bytes(state.json())
