"""How far each seat is from winning."""

from __future__ import annotations

from malice.referee.games.nuts.messages import View

MOST = 52
"""The most points of a hand: the whole pack of a team in the centre."""


def count_missing(view: View) -> tuple[int, ...]:
    """Return by seat how many points its team lacks of the most that a hand can bring."""
    missing = [MOST - side.points for side in view.sides]
    return tuple(missing[seat % len(missing)] for seat in range(len(view.busy)))
