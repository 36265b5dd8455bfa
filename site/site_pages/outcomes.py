"""The deals of two bots by outcome, as a bar: from those that the first won from both seats to those that it lost."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from malice.site_pages import text

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
    """The counts in words."""


def make_deal_bar(counts: Sequence[int]) -> DealBar | None:
    """Return the bar of deals of two games; None without deals.

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
        + "; ".join(f"{name}: {count:,}" for name, count in zip(OUTCOMES, best_first, strict=True)),
    )
