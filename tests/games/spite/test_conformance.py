"""What holds in every game of every ruleset: the promises of the interface, leaving seats, and records."""

from collections.abc import Callable
from hashlib import sha256

import msgspec
import pytest
from msgspec.structs import replace

from malice.referee.games.spite import FAMILY, SpiteAndMalice
from malice.referee.games.spite.state import State
from malice.referee.records import Record, compute_digest
from malice.referee.replay import check_record
from malice.referee.rules import Result, Rules, Shuffle
from malice.referee.rulesets import list_rulesets, load_ruleset
from malice.referee.sample_games import Subject
from malice.referee.testing import go_on_without_who_leaves
from tests.games.records import make_record
from tests.samples import sample

from .engines import ENGINES
from .playouts import Chooser, make_lively_chooser, make_uniform_chooser, play_moments
from .playthroughs import MakeEngine
from .promises import play_and_check
from .tables import after, list_legal, settle_shuffles, to_act

TABLES = [
    pytest.param(name, seats, id=f"{name}-{seats}")
    for name in list_rulesets("spite")
    for seats in sorted({*load_ruleset(name).rules.players})
]
CHOOSERS: list[Callable[[str], Chooser]] = [make_lively_chooser, make_uniform_chooser]


def test_every_ruleset_is_played_here() -> None:
    assert {parameter.values[0] for parameter in TABLES} == set(list_rulesets("spite"))


@pytest.mark.parametrize("choose", sample(CHOOSERS, 2))
@pytest.mark.parametrize("make", ENGINES)
@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_a_game_keeps_the_promises_of_the_interface(
    choose: Callable[[str], Chooser], make: MakeEngine, name: str, seats: int
) -> None:
    play_and_check(make(load_ruleset(name).rules, seats), name, choose(name))


def test_the_engine_is_a_game() -> None:
    rules: Rules[State] = SpiteAndMalice(load_ruleset("standard").rules, 2)

    assert rules.next(rules.start()) == Shuffle(104)


@pytest.mark.parametrize("make", ENGINES)
@pytest.mark.parametrize(("name", "seats"), sample(TABLES, 3))
def test_seats_may_leave_at_any_time(make: MakeEngine, name: str, seats: int) -> None:
    go_on_without_who_leaves(Subject(replace(FAMILY, rules=make), load_ruleset(name).rules, seats, name), seed=name)


@pytest.mark.parametrize("make", ENGINES)
def test_a_seat_that_leaves_before_the_deal_is_never_asked(make: MakeEngine) -> None:
    engine = make(load_ruleset("multi").rules, 4)
    state, _ = engine.withdraw(engine.start(), (1,))
    state, _ = settle_shuffles(engine, state)

    for _ in range(50):
        assert to_act(engine, state) != 1
        state = after(engine, state, list_legal(engine, state)[-1])


@pytest.mark.parametrize("name", list_rulesets("spite"))
def test_a_record_replays_to_the_same_digest(name: str) -> None:
    rules = load_ruleset(name).rules
    actions: list[tuple[int, str]] = []
    for moment in play_moments(SpiteAndMalice(rules, rules.players[0]), "record", make_lively_chooser(name)):
        if moment.seat is not None:
            actions.append((moment.seat, moment.action))
    assert isinstance(moment.step, Result)
    record = make_record(name, sha256(b"record").digest(), actions, moment.step)

    check_record(record)
    assert compute_digest(msgspec.json.decode(msgspec.json.encode(record), type=Record)) == record.digest
