"""Whiskers: a rating and its interval as a small picture, all of a column on one scale."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from malice.site_pages import text
from malice.tournaments.ratings.fit import Rating


class Whisker(Struct, frozen=True):
    """A rating and its interval, in percent of the column's width."""

    low: float
    high: float
    at: float
    open_low: bool
    open_high: bool


def find_span(ratings: Sequence[Rating]) -> tuple[float, float] | None:
    """Return the lowest and highest figure of all intervals."""
    values = [text.drop_unknown(value) for rating in ratings for value in (rating.elo, rating.low, rating.high)]
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if known and min(known) < max(known) else None


def make_whisker(rating: Rating, span: tuple[float, float] | None) -> Whisker | None:
    """Return what a column with this span shows of a rating; None without one."""
    elo, low, high = text.drop_unknown(rating.elo), text.drop_unknown(rating.low), text.drop_unknown(rating.high)
    if span is None or elo is None:
        return None
    width = span[1] - span[0]

    def place(figure: float) -> float:
        return round(3 + 94 * (figure - span[0]) / width, 1)

    return Whisker(
        low=0 if low is None else place(low),
        high=100 if high is None else place(high),
        at=place(elo),
        open_low=low is None,
        open_high=high is None,
    )
