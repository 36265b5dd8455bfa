"""Places and points at the end of a game."""

from __future__ import annotations

from msgspec.structs import replace

from referee.rules import Result
from referee.spite.setting import Setting
from referee.spite.state import State


def won(setting: Setting, state: State, winner: int, reason: str) -> State:
    """End the game with `winner` first; the others rank by the pay-off cards they have left."""
    left = [len(pile) for pile in state.payoffs]
    left[winner] = -1
    return _over(setting, state, left, reason)


def ended(setting: Setting, state: State, reason: str, rule: str) -> State:
    """End the game without a winner by play: `rule` is "fewest" or "draw"."""
    left = [len(pile) if rule == "fewest" else 0 for pile in state.payoffs]
    return _over(setting, state, left, reason)


def _over(setting: Setting, state: State, left: list[int], reason: str) -> State:
    """Rank by `left`, fewest first and equal tied; withdrawn seats come last, the first out lowest."""
    ranks = [
        (1, -state.out.index(seat)) if seat in state.out else (0, left[seat]) for seat in range(setting.seats)
    ]
    places = tuple(1 + sum(other < own for other in ranks) for own in ranks)
    return replace(state, phase="over", result=Result(places, _scores(setting, state, places), reason))


def _scores(setting: Setting, state: State, places: tuple[int, ...]) -> tuple[int, ...]:
    """Score the single winner; a shared first place scores nothing."""
    if places.count(1) != 1:
        return (0,) * setting.seats
    winner = places.index(1)
    return tuple(_points(setting, state, winner) if seat == winner else 0 for seat in range(setting.seats))


def _points(setting: Setting, state: State, winner: int) -> int:
    """Return the winner's points: a bonus for an empty pile, and the cards that the others have more."""
    own = len(state.payoffs[winner])
    more = sum(max(0, len(pile) - own) for seat, pile in enumerate(state.payoffs) if seat != winner)
    bonus = {"five_plus": 5, "skipbo": 25}.get(setting.rules.scoring, 0) if own == 0 else 0
    match setting.rules.scoring:
        case "win_only":
            return 1
        case "skipbo":
            return bonus + 5 * more
        case "five_plus" | "remain_only":
            return bonus + more
