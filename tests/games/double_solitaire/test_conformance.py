"""What holds in every game: the promises of the interface, hidden cards, leaving seats, records."""

from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malice.protocol.messages import ClockRules, Move
from malice.referee.course import Course, Dealer
from malice.referee.game_runner import GameRunner
from malice.referee.games.double_solitaire.parameters import Parameters
from malice.referee.records import Batch, Key, Player
from malice.referee.replay import check_record
from malice.referee.rules import Result, Rules, Shuffle
from malice.referee.rulesets import list_rulesets, load_ruleset
from malice.tournaments.bench.games import Puppet
from malice.tournaments.league.parts import Seeds

from .promises import play_and_check
from .tables import CHOOSERS, game, make_lively_chooser, make_uniform_chooser

bounded = settings(derandomize=True, deadline=None, max_examples=6, database=None)
PARAMETERS = st.builds(
    Parameters,
    table_piles=st.sampled_from([2, 4, 4, 4, 8]),
    table_moves=st.sampled_from(["top", "top_or_pile", "run"]),
    empty_pile=st.sampled_from(["any", "king", "none"]),
    loading=st.sampled_from(["all", "pack", "none"]),
    compulsory=st.sampled_from(["none", "foundation"]),
    exchange=st.booleans(),
    stuck_result=st.sampled_from(["fewest", "draw"]),
    no_progress=st.just(10),
)


def test_the_engine_is_a_game() -> None:
    rules: Rules[Any] = game()

    assert rules.next(rules.start()) == Shuffle(52)
    assert list_rulesets("double-solitaire") == ("double-solitaire", "double-solitaire-exchange")
    assert load_ruleset("double-solitaire").rules == Parameters()


@pytest.mark.parametrize("make_chooser", CHOOSERS)
@bounded
@given(parameters=st.just(Parameters()) | PARAMETERS, seed=st.integers(0, 10**6))
def test_every_game_ends_and_keeps_its_promises(make_chooser: Any, parameters: Parameters, seed: int) -> None:
    result = play_and_check(parameters, str(seed), make_chooser(str(seed)))

    assert result.reason in {"pack_empty", "stuck", "no_progress"}
    assert sorted(result.places) in ([1, 2], [1, 1])
    assert result.scores == tuple(int(place == 1 and result.places.count(1) == 1) for place in result.places)


@bounded
@given(seed=st.integers(0, 10**6), leaving=st.sampled_from([(0,), (1,), (0, 1)]), when=st.integers(0, 150))
def test_a_seat_may_leave_at_any_time(seed: int, leaving: tuple[int, ...], when: int) -> None:
    course, choose = Course(game(), Dealer(sha256(bytes([seed % 256])).digest())), make_lively_chooser(str(seed))
    for _ in range(when):
        if not isinstance(course.step, Result):
            seat = course.step.seats[0]
            course.play({seat: choose(course.rules.legal(course.state, seat))})
    over = isinstance(course.step, Result)
    course.withdraw(dict.fromkeys(leaving, "crash"))

    assert isinstance(course.step, Result)
    places = (1, 1) if len(leaving) == 2 else tuple(1 + (seat in leaving) for seat in (0, 1))
    assert over or (course.step.reason, course.step.places) == ("forfeit", places)


def test_a_seat_that_leaves_before_the_deal_loses() -> None:
    engine = game()
    state, _ = engine.withdraw(engine.start(), (1,))
    state, _ = engine.shuffled(state, range(52))

    assert engine.next(state) == Result((1, 2), (1, 0), "forfeit")


@pytest.mark.parametrize("seed", range(3))
def test_a_record_replays(seed: int) -> None:
    ruleset, seeds = load_ruleset("double-solitaire"), Seeds(bytes([seed]) * 32)
    choose = make_uniform_chooser(str(seed))

    def answer(request: Move) -> tuple[str, int]:
        assert isinstance(request.legal, tuple)
        return choose(request.legal), 0

    batch = Batch(
        family=ruleset.family,
        ruleset=ruleset.name,
        rules=ruleset.rules,
        players=(Player("puppet", "", ()),) * 2,
        clock=ClockRules(),
        init_ms=5000,
        commit=seeds.commit,
        games=(order := seeds.order(Key(0, 0, 0, 0), 2),),
    )

    check_record(GameRunner(batch, order, [Puppet(answer), Puppet(answer)]).play())
