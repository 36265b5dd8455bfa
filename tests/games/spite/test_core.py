"""The compiled core plays as Python does, whatever the rules, and takes over what Python began."""

from __future__ import annotations

from importlib import import_module
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from malice.referee.course import Dealer
from malice.referee.errors import RecordError
from malice.referee.games.spite import SpiteAndMalice
from malice.referee.packed_events import PackedEvents
from malice.referee.replay import replay_packed
from malice.referee.rulesets import load_ruleset

from .engines import compile_engine, playing
from .lockstep import draw_engine, play_in_lockstep
from .played_records import record_game
from .tables import FULL, game, table

pytestmark = pytest.mark.core
GAMES = 200
"""How many games; `make soak` plays 200,000, and compares lists and views twice as often."""
ROUND = 100
EVERY = 8


@pytest.mark.slow
@pytest.mark.parametrize(
    "first", [0, *(pytest.param(each, marks=pytest.mark.whole) for each in range(ROUND, GAMES, ROUND))]
)
def test_games_of_random_rules_are_the_same_to_the_byte(first: int) -> None:
    for seed in range(first, first + ROUND):
        play_in_lockstep(compile_engine, seed, every=EVERY)


def test_both_dealers_deal_the_same_cards() -> None:
    judge, core = Dealer(b"x" * 32), import_module("malice_core").Dealer(b"x" * 32)

    for size in (104, 0, 1, 2, 162, 8, 52):
        assert core.order(size) == judge.order(size)
        assert core.copy().order(7) == judge.copy().order(7)
        assert core.draw(3_000_000_000) == judge.draw(3_000_000_000)


def test_a_record_replays_to_the_same_events() -> None:
    for seed in range(40):
        engine = draw_engine(Random(seed))
        record = record_game(engine, f"record {seed}")

        with playing("python"):
            expected = replay_packed(record)
        assert PackedEvents(*compile_engine(engine).pack_game(record.deal_seed, record.actions)[1]) == expected
        with playing("core"):
            assert replay_packed(record) == expected


@pytest.mark.parametrize(
    "change",
    [
        {"actions": ((0, "!crash"),)},
        {"actions": ((0, "p-c99"),)},
        {"deal_seed": "no seed"},
        {"scores": (99, 99)},
    ],
    ids=str,
)
def test_both_engines_say_alike_what_is_wrong_with_a_record(change: dict[str, Any]) -> None:
    record = replace(record_game(game("standard"), "record"), **change)
    told = []
    for engine in ("python", "core"):
        with playing(engine), pytest.raises(RecordError) as caught:
            replay_packed(record)
        told.append(str(caught.value))

    assert told[0] == told[1]


def test_a_position_made_by_hand_goes_on_compiled() -> None:
    judge = game("book")
    state = table(judge, "AC 2C 9D", sides=FULL, centre=["AC 2C"])
    core = compile_engine(judge)

    after, events = core.play(state, {0: core.legal(state, 0)[0]})

    assert after.json() == msgspec.json.encode(judge.play(state, {0: judge.legal(state, 0)[0]})[0])
    assert core.translate(after) == judge.play(state, {0: judge.legal(state, 0)[0]})[0]
    assert msgspec.json.encode(events) == msgspec.json.encode(judge.play(state, {0: judge.legal(state, 0)[0]})[1])


@pytest.mark.parametrize(
    "change",
    [
        {"turn": 2**70},
        {"heights": (99, 0, 0)},
        {"hands": (("4C", "??"), ("9D",))},
        {"mixing": ("4C",)},
        {"phase": "tie"},
        {"phase": "over"},
        {"phase": "payoffs"},
        {"seat": -1},
        {"out": (0, 0)},
        {"centre": ((),)},
    ],
    ids=str,
)
def test_what_no_game_leads_to_is_left_to_python(change: dict[str, Any]) -> None:
    judge = SpiteAndMalice(load_ruleset("standard").rules, 2)
    core = compile_engine(judge)
    state = replace(table(judge), **change)

    for method, arguments in (
        ("next", ()),
        ("legal", (0,)),
        ("play", ({0: "h4C-s0"},)),
        ("shuffled", ([0],)),
        ("shuffled", ([],)),
        ("withdraw", ((0,),)),
        ("view", (0,)),
        ("turn", ()),
    ):
        assert _tell(core, method, state, arguments) == _tell(judge, method, state, arguments)


def _tell(rules: Any, method: str, state: object, arguments: tuple[object, ...]) -> object:
    """Return what a method returns, or what it raises."""
    try:
        return getattr(rules, method)(state, *arguments)
    except Exception as error:  # both raise the same, whatever it is
        return repr(error)
