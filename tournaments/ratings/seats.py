"""What a seat is worth: the share of the points that whoever sat there got, with the deal group as the unit."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from malice.tournaments.ratings.pairings import make_pairings
from malice.tournaments.ratings.pairs import convert_to_elo
from malice.tournaments.ratings.rated_games import RatedGame, RatedGames, gather
from malice.tournaments.ratings.scores import estimate_scores


class SeatScore(Struct, frozen=True):
    """What whoever sat at a seat got, against the other seats of the table."""

    seats: tuple[int, ...]
    """A seat, or those of partners."""
    score: float | None
    """The share of the points, 0..1. Where every deal is played in every rotation, the strength of bots cancels out."""
    score_low: float | None
    """The 95 % interval, clustered by deal group."""
    score_high: float | None
    elo: float | None
    """The Elo difference of equal seats that leads to this score; the more the bots differ, the less it says."""
    elo_low: float | None
    elo_high: float | None


def rate_seats(games: Sequence[RatedGame] | RatedGames, sides: Sequence[tuple[int, ...]]) -> tuple[SeatScore, ...]:
    """Return what each seat is worth; the seats of partners count as one.

    Args:
        games: games between the sides; their players are not looked at.
        sides: the seats of each team, in the order of the teams of a game.
    """
    pairings = make_pairings(gather(games).play_sides(), len(sides))
    figures = zip(*(each.tolist() for each in estimate_scores(pairings)), strict=True)
    return tuple(_make_seat(seats, *map(_keep_finite, found)) for seats, found in zip(sides, figures, strict=True))


def _make_seat(seats: tuple[int, ...], score: float | None, low: float | None, high: float | None) -> SeatScore:
    elos = [None if share is None else convert_to_elo(share) for share in (score, low, high)]
    return SeatScore(seats, score, low, high, *elos)


def _keep_finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
