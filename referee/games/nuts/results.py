"""Who has won a hand, and the points for a series."""

from __future__ import annotations

from collections.abc import Sequence

from malice.referee.games.nuts.parameters import Parameters
from malice.referee.games.nuts.state import Side, State
from malice.referee.rules import Result


def count_points(rules: Parameters, side: Side) -> int:
    """Count what a hand is worth to a team as its cards lie: those in the centre, less the penalty for Nuts left."""
    return side.centre - rules.penalty * len(side.nuts)


def make_result(rules: Parameters, teams: Sequence[int], state: State) -> Result:
    """Rank the teams by points; a team that left comes last and keeps no points, the other loses none."""
    points = [count_points(rules, side) for side in state.sides] or [0] * len(set(teams))
    for team, value in enumerate(points):
        if state.out:
            points[team] = min(0, value) if team in state.out else max(0, value)
    ranks = [(team not in state.out, 0 if state.out else value) for team, value in enumerate(points)]
    places = [1 + sum(other > own for other in ranks) for own in ranks]
    return Result(tuple(places[team] for team in teams), tuple(points[team] for team in teams), state.reason)
