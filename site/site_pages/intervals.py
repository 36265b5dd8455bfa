"""Intervals as pages print them: of scores, of ranks and of Elo."""

from __future__ import annotations

from malice.site_pages import text
from malice.tournaments.ratings.fit import Rating


def format_percents(low: float | None, high: float | None) -> str:
    """Return an interval of shares, 0..1, in percent; empty if an end is unknown."""
    low, high = text.drop_unknown(low), text.drop_unknown(high)
    if low is None or high is None:
        return ""
    return f"{text.format_decimal(100 * low, 1)} … {text.format_decimal(100 * high, 1)}"


def format_rank_range(rating: Rating) -> str:
    """Return the ranks that a bot may have, from its games; empty if unknown."""
    low, high = rating.rank_low, rating.rank_high
    if low is None or high is None:
        return ""
    return str(low) if low == high else f"{low}–{high}"


def format_interval(rating: Rating) -> str:
    """Return the 95 % interval of an Elo in words; with one end, as a bound."""
    return format_ends(rating.low, rating.high)


def format_ends(low: float | None, high: float | None) -> str:
    """Return an interval of Elo in words; with one end, as a bound."""
    low, high = text.drop_unknown(low), text.drop_unknown(high)
    if low is not None and high is not None:
        return f"{text.format_signed(low)} … {text.format_signed(high)}"
    if low is not None:
        return f"≥ {text.format_signed(low)}"
    return text.NONE if high is None else f"≤ {text.format_signed(high)}"
