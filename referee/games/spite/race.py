"""How far each seat is from winning."""

from __future__ import annotations

from malice.referee.games.spite.messages import View


def count_left(view: View) -> tuple[int, ...]:
    """Return by seat how many pay-off cards its team has left, as a spectator sees it."""
    left: dict[int, int] = {}
    for seat in view.seats:
        left[seat.team] = left.get(seat.team, 0) + (seat.payoff.left or 0)
    return tuple(left[seat.team] for seat in view.seats)
