"""Places and points at the end of a game."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from malice.referee.games.spite.derived import DerivedRules
from malice.referee.games.spite.state import State
from malice.referee.rules import Result

SCORES: dict[str, Callable[[bool, int], int]] = {
    "win_only": lambda emptied, more: 1,
    "five_plus": lambda emptied, more: 5 * emptied + more,
    "remain_only": lambda emptied, more: more,
    "skipbo": lambda emptied, more: 25 * emptied + 5 * more,
}
"""By `scoring`: the points for a win; from whether the winner has no card left, and how many more the others have."""


def end_won_game(derived: DerivedRules, state: State, reason: str) -> State:
    """End the game: the team of the seat to act is first, the others rank by the pay-off cards they have left."""
    left = _count_left(derived, state)
    left[derived.teams[state.seat]] = -1
    return _rank_teams(derived, state, left, reason)


def end_drawn_out_game(derived: DerivedRules, state: State, reason: str, rule: str) -> State:
    """End the game without a winner by play; `rule` is "fewest" or "draw"."""
    left = _count_left(derived, state)
    return _rank_teams(derived, state, left if rule == "fewest" else [0] * len(left), reason)


def _count_left(derived: DerivedRules, state: State) -> list[int]:
    """Count the pay-off cards that each team has left."""
    left = [0] * (max(derived.teams) + 1)
    for seat, pile in enumerate(state.payoffs):
        left[derived.teams[seat]] += len(pile)
    return left


def _rank_teams(derived: DerivedRules, state: State, left: list[int], reason: str) -> State:
    """Rank teams by `left`, fewest first, equal numbers tied; withdrawn teams rank last, the first out lowest."""
    ranks = [(0, cards) for cards in left]
    for order, seat in reversed(tuple(enumerate(state.out))):
        ranks[derived.teams[seat]] = (1, -order)
    places = [1 + sum(other < own for other in ranks) for own in ranks]
    points = [0] * len(places)
    if places.count(1) == 1:
        winner = places.index(1)
        points[winner] = _score_win(derived, state, winner, reason)
    by_seat = tuple(places[team] for team in derived.teams), tuple(points[team] for team in derived.teams)
    return replace(state, phase="over", result=Result(*by_seat, reason))


def _score_win(derived: DerivedRules, state: State, winner: int, reason: str) -> int:
    """Score the only winner; after a forfeit count as if it had no card left."""
    left = _count_left(derived, state)
    own = 0 if reason == "forfeit" else left[winner]
    more = sum(max(0, cards - own) for team, cards in enumerate(left) if team != winner)
    return SCORES[derived.rules.scoring](own == 0, more)
