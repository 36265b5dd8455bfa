"""What rulesets may say, and how a deal follows from it."""

from __future__ import annotations

from typing import Any

import pytest

from malice.protocol.cards import HIDDEN
from malice.referee.errors import RulesetError
from malice.referee.games.nuts.messages import Deal, Turned
from malice.referee.games.nuts.state import hide_below
from malice.referee.rules import Shuffle
from malice.referee.rulesets import load_ruleset

from .tables import game, side, table


def test_a_deal_takes_the_nuts_pile_then_the_columns_row_by_row_and_leaves_the_stock() -> None:
    """`nuts_size` `columns`"""
    engine = game(nuts_size=3, columns=(2, 1, 3))
    state = engine.start()
    for _ in range(2):
        assert engine.next(state) == Shuffle(52)
        state, events = engine.shuffled(state, range(52))

    (deal,) = events
    assert isinstance(deal, Deal)
    assert deal.sides[0] == deal.sides[1]
    assert deal.sides[0].nuts == ("KS", "QS", "JS")
    assert deal.sides[0].columns == (("TS", "7S"), ("9S",), ("8S", "6S", "5S"))
    assert (len(deal.sides[0].stock), deal.sides[0].stock[-1]) == (43, "4S")
    assert engine.view(state, 0).sides[0].columns == ((HIDDEN, "7S"), ("9S",), (HIDDEN, HIDDEN, "5S"))


def test_a_waste_may_show_its_top_alone() -> None:
    """`waste_visible`"""
    engine = game(waste_visible="top")
    state = table(engine, side(waste="2D 3D 4D"))

    assert engine.view(state, 1).sides[0].waste == (HIDDEN, HIDDEN, "4D")
    assert engine.mask(Turned(2, ("2D", "3D", "4D")), 2) == Turned(2, (HIDDEN, HIDDEN, "4D"))
    assert hide_below(()) == ()


def test_a_series_goes_to_250_points() -> None:
    """`match_target`"""
    match = load_ruleset("nuts").match

    assert (match.target, match.simultaneous, match.max_turns) == (250, True, 1000)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"players": (2, 4)}, "players = [2, 4]: expected [2, 2] or [4, 4]"),
        ({"players": (3, 3)}, "players = [3, 3]: expected [2, 2] or [4, 4]"),
        ({"columns": (5, 0)}, "columns = [5, 0]: expected 1 to 10 columns of at least one card"),
        ({"columns": ()}, "columns = []: expected 1 to 10 columns of at least one card"),
        ({"nuts_size": 40}, "the deal needs 55 cards, but each team has 52"),
        ({"idle_ticks": 0, "turned": 0}, "turned = 0: expected 1 to 10000; idle_ticks = 0: expected 1 to 10000"),
    ],
)
def test_parameters_that_make_no_game_are_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(RulesetError) as failure:
        game(**changes)
    assert str(failure.value) == complaint
