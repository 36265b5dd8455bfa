"""Intervals as pages show them: as text, as whiskers on one scale, and the deals of two bots by outcome as a bar."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from malice.site_pages import text
from malice.tournaments.ratings.fit import Rating


def format_percents(low: float | None, high: float | None) -> str:
    """An interval of shares, 0..1, in percent; empty if an end is unknown."""
    low, high = text.drop_unknown(low), text.drop_unknown(high)
    if low is None or high is None:
        return ""
    return f"{text.format_decimal(100 * low, 1)} … {text.format_decimal(100 * high, 1)}"


def format_rank_range(rating: Rating) -> str:
    """The ranks that a bot may have, from its games; empty if unknown."""
    low, high = rating.rank_low, rating.rank_high
    if low is None or high is None:
        return ""
    return str(low) if low == high else f"{low}–{high}"


def format_interval(rating: Rating) -> str:
    """The 95 % interval of an Elo in words; with one end, as a bound."""
    return format_ends(rating.low, rating.high)


def format_ends(low: float | None, high: float | None) -> str:
    """An interval of Elo in words; with one end, as a bound."""
    low, high = text.drop_unknown(low), text.drop_unknown(high)
    if low is not None and high is not None:
        return f"{text.format_signed(low)} … {text.format_signed(high)}"
    if low is not None:
        return f"≥ {text.format_signed(low)}"
    return text.NONE if high is None else f"≤ {text.format_signed(high)}"


class Whisker(Struct, frozen=True):
    """A rating and its interval, in percent of the column's width."""

    low: float
    high: float
    at: float
    open_low: bool
    open_high: bool


def find_span(ratings: Sequence[Rating]) -> tuple[float, float] | None:
    """The lowest and highest figure of all intervals; None if no two figures differ."""
    values = [text.drop_unknown(value) for rating in ratings for value in (rating.elo, rating.low, rating.high)]
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if known and min(known) < max(known) else None


def make_whisker(rating: Rating, span: tuple[float, float] | None) -> Whisker | None:
    """What a column with this span shows of a rating; None without one."""
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


OUTCOMES = ("won both", "won one, drew one", "one each", "lost one, drew one", "lost both")
"""What a deal of two games is called: 2 points, 1½, 1, ½, none."""


class Piece(Struct, frozen=True):
    """A piece of the bar, in percent of its width."""

    points: int
    """Twice those of the deal, 0 to 4."""
    left: float
    width: float


class DealBar(Struct, frozen=True):
    """Deals by outcome."""

    pieces: tuple[Piece, ...]
    """The best outcome first; those that no deal had are left out."""
    summary: str
    """The counts in words, of what any deal had."""


def make_deal_bar(counts: Sequence[int]) -> DealBar | None:
    """Make the bar of deals of two games; None without deals.

    Args:
        counts: deals by the points of the first bot: 0, ½, 1, 1½, 2.
    """
    total = sum(counts)
    if not total:
        return None
    best_first = list(reversed(counts))
    ends = [round(100 * sum(best_first[: place + 1]) / total, 1) for place in range(len(best_first))]
    lefts = [0.0, *ends[:-1]]
    return DealBar(
        pieces=tuple(
            Piece(len(counts) - 1 - place, left, round(end - left, 1))
            for place, (left, end) in enumerate(zip(lefts, ends, strict=True))
            if end > left
        ),
        summary=f"{text.format_count(total, 'deal')}: "
        + "; ".join(f"{name}: {count:,}" for name, count in zip(OUTCOMES, best_first, strict=True) if count),
    )
