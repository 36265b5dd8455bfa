"""The search that finds the deal of a day."""

from __future__ import annotations

import pytest

from malice.referee.games.klondike.engine import State, open_table
from malice.referee.games.klondike.parameters import Parameters
from malice.referee.games.klondike.winnable import find_solution, is_winnable

from .playouts import lay_out, make_course


@pytest.mark.parametrize("draw", [1, 3])
def test_a_solution_solves_the_deal(draw: int) -> None:
    rules = Parameters(draw=draw)  # type: ignore[arg-type]
    solved = 0
    for seed in range(4):
        course = make_course(rules, 1, seed)
        actions = find_solution(rules, course.state.tables[0].layout, 2000)
        for action in actions or ():
            course.play({0: action})
        assert course.state.tables[0].solved == (actions is not None)
        solved += actions is not None

    assert solved


def test_a_deal_that_nobody_can_solve_has_no_solution() -> None:
    aces = {
        column: (ace, f"3{suit}")
        for column, (ace, suit) in enumerate(zip(("AC", "AD", "AH", "AS"), "CDHS", strict=True))
    }
    layout = lay_out(aces, (0, 0, 0, 0))

    assert not is_winnable(Parameters(), State((open_table(Parameters(), layout),), 1))


def test_a_limit_of_redeals_counts() -> None:
    buried = lay_out({0: ("", "KS")}, (13, 13, 13, 10), waste="JS QS")

    solutions = [find_solution(Parameters(redeals=redeals, foundation_back=False), buried) for redeals in (1, 0)]

    assert solutions == [("redeal", "turn", "w-f", "turn", "w-f", "t0-f"), None]
