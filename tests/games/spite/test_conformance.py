"""What holds in every game of every ruleset: the promises of the interface, leaving seats, and records."""

from collections.abc import Callable
from hashlib import sha256
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from protocol.messages import ClockRules
from referee.dealer import Dealer
from referee.digests import compute_digest
from referee.games.spite import SpiteAndMalice
from referee.games.spite.state import State
from referee.records import Key, Record
from referee.replay import check_record
from referee.rules import Result, Rules, Shuffle
from referee.rulesets import list_rulesets, load_ruleset

from .playouts import Chooser, make_lively_chooser, make_uniform_chooser, play_moments
from .promises import check_result, play_and_check
from .tables import act, list_legal

TABLES = [
    pytest.param(name, seats, id=f"{name}-{seats}")
    for name in list_rulesets("spite")
    for seats in sorted({*load_ruleset(name).rules.players})
]
CHOOSERS: list[Callable[[str], Chooser]] = [make_lively_chooser, make_uniform_chooser]
bounded = settings(derandomize=True, deadline=None, max_examples=3, database=None)


def test_every_ruleset_is_played_here() -> None:
    assert {parameter.values[0] for parameter in TABLES} == set(list_rulesets("spite"))


@pytest.mark.parametrize(("name", "seats"), TABLES)
@bounded
@given(seed=st.integers(0, 10**6))
def test_a_game_keeps_the_promises_of_the_interface(name: str, seats: int, seed: int) -> None:
    engine = SpiteAndMalice(load_ruleset(name).rules, seats)
    for choose in CHOOSERS:
        play_and_check(engine, f"{name} {seed}", choose(f"{name} {seed}"))


def test_the_engine_is_a_game() -> None:
    rules: Rules[State] = SpiteAndMalice(load_ruleset("standard").rules, 2)

    assert rules.next(rules.start()) == Shuffle(104)


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_seats_may_leave_at_any_time(name: str, seats: int) -> None:
    engine = SpiteAndMalice(load_ruleset(name).rules, seats)
    for number in range(3):
        leave_and_check(engine, Random(f"{name} {number}"))


def leave_and_check(engine: SpiteAndMalice, random: Random) -> None:
    """Play with seats that leave, before the deal or on their turn; check that they never act again and rank last."""
    choose, dealer = make_lively_chooser(str(random.random())), Dealer(random.randbytes(32))
    state = engine.start()
    if random.random() < 0.3:
        state, _ = engine.withdraw(state, (random.randrange(engine.seats),))
    while not isinstance(step := engine.next(state), Result):
        if isinstance(step, Shuffle):
            state, _ = engine.shuffled(state, dealer.order(step.size))
            continue
        (seat,) = step.seats
        assert seat not in state.out
        if random.random() < 0.03:
            state, _ = engine.withdraw(state, (seat,))
        else:
            state, _ = act(engine, state, choose(list_legal(engine, state)))
    check_result(engine, step)
    stayed = [step.places[seat] for seat in range(engine.seats) if seat not in state.out]
    left = [step.places[seat] for seat in state.out]
    assert max(stayed) < min(left, default=99)
    assert left == sorted(left, reverse=True)


@pytest.mark.parametrize("name", list_rulesets("spite"))
def test_a_record_replays_to_the_same_digest(name: str) -> None:
    rules = load_ruleset(name).rules
    seats = rules.players[0]
    actions: list[tuple[int, str]] = []
    for moment in play_moments(SpiteAndMalice(rules, seats), "record", make_lively_chooser(name)):
        if moment.seat is not None:
            actions.append((moment.seat, moment.action))
    assert isinstance(moment.step, Result)
    record = make_record(name, seats, tuple(actions), moment.step)

    check_record(record)
    assert compute_digest(msgspec.json.decode(msgspec.json.encode(record), type=Record)) == record.digest


def make_record(name: str, seats: int, actions: tuple[tuple[int, str], ...], result: Result) -> Record:
    record = Record(
        key=Key(0, 0, 0, 0),
        family="spite",
        ruleset=name,
        rules=load_ruleset(name).rules,
        entries=(("lively", ""),) * seats,
        deal_seed=sha256(b"record").hexdigest(),
        actions=actions,
        places=result.places,
        scores=result.scores,
        reason=result.reason,
        digest="",
        micros=(),
        cpu_micros=(),
        notes={},
        seats=(),
        faults=(),
        commit="",
        clock=ClockRules(),
        isolation="none",
        host="here",
        versions="",
        started=0.0,
        elapsed_ms=0.0,
    )
    return replace(record, digest=compute_digest(record))
