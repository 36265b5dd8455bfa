"""95 % intervals for a share of the points, of players and of seats, with the deal group as the unit of
independence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from malice.tournaments.ratings.bradley_terry import student_quantile
from malice.tournaments.ratings.one_sided import TAIL
from malice.tournaments.ratings.pairings import Bools, Floats, GroupRows, Ints, Pairings, make_pairings, sum_groups
from malice.tournaments.ratings.pairs import convert_to_elo
from malice.tournaments.ratings.rated_games import RatedGame, RatedGames, gather

FEW = 5
"""Fewer deal groups than this do not tell their own spread, nor does a spread tell much to which fewer contribute."""
RARE = 3
"""If fewer deal groups than this are uneven, their spread is nearly nothing, whatever the truth."""
NOTHING = 1e-9
"""A variance this small relative to that of independent games is a rounding error."""


def find_clusters(pairings: Pairings) -> Pairings:
    """Group the rows by what varies independently: deals, or deals of each table if deals are too few.

    Only where all tables have the same cards is there a difference. From two, three or four deals no spread between
    them can be told; what the tables share beside that is small.
    """
    return pairings.part_tables() if pairings.groups < FEW else pairings


def find_unsure(pairings: Pairings) -> Bools:
    """Find the players whose results come from too few deal groups to tell their spread.

    What was won or lost outright says nothing about the spread where nearly all is alike, and an even group never does.
    """
    seen = pairings.by_group

    def number(chosen: Bools) -> Ints:
        return np.bincount(seen.player[chosen], minlength=pairings.players)

    mixed = np.minimum(number(seen.points < seen.count), number(seen.points > 0))
    return np.asarray((mixed < FEW) | (number(2 * seen.points != seen.count) < RARE))


def estimate_scores(pairings: Pairings) -> tuple[Floats, Floats, Floats]:
    """Estimate each player's score, 0..1, and its lower and upper end; nan if the games do not determine it.

    This is Wilson's interval, which stays within 0 and 1, with Student's t for the number of groups. Its number of
    games is that of independent games with the variance between deal groups. For a player who won (or lost) every game,
    one end is the score at which as many won (or lost) groups have a chance of 2.5 %. One group has no interval.
    """
    pairings = find_clusters(pairings)
    seen = pairings.by_group
    players = pairings.players
    points, count = sum_groups(seen.player, seen.points, players), sum_groups(seen.player, seen.count, players)
    groups = np.bincount(seen.player, minlength=players)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = points / count
        variance = _estimate_variance(seen, score, count, groups, find_unsure(pairings))
        t = np.array([student_quantile(each - 1) if each > 1 else np.nan for each in groups.tolist()])
        low, high = _compute_wilson(score, variance, t)
        bound = TAIL ** (1 / groups)
    won, lost = (groups > 1) & (points == count), (groups > 1) & (points == 0)
    low[won], high[won] = bound[won], 1.0
    low[lost], high[lost] = 0.0, 1 - bound[lost]
    return score, low, high


def compute_wilson(score: float, variance: float, t: float) -> tuple[float, float]:
    """Wilson's interval of a share between 0 and 1, for as many independent games as have this variance."""
    low, high = _compute_wilson(np.array(score), np.array(variance), np.array(t))
    return max(0.0, float(low)), min(1.0, float(high))


def _compute_wilson(score: Floats, variance: Floats, t: Floats) -> tuple[Floats, Floats]:
    extra = t**2 * variance / (score * (1 - score))  # t^2 over the number of independent games
    middle = (score + extra / 2) / (1 + extra)
    half = t / (1 + extra) * np.sqrt(variance + (t * variance / (2 * score * (1 - score))) ** 2)
    return middle - half, middle + half


def _estimate_variance(seen: GroupRows, score: Floats, count: Floats, groups: Ints, unsure: Bools) -> Floats:
    """Estimate by a jackknife over deal groups; not below independent games where groups say too little."""
    players = len(score)
    without = ((score * count)[seen.player] - seen.points) / (count[seen.player] - seen.count)
    moved = sum_groups(seen.player, (without - score[seen.player]) ** 2, players)
    measured = moved * (groups - 1) / groups
    independent = score * (1 - score) * sum_groups(seen.player, seen.weight, players) / count**2
    return np.asarray(np.where(unsure, np.maximum(measured, independent), measured))


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
    """Rate what each seat is worth; the seats of partners count as one.

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
