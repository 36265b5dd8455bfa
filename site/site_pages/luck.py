"""The section "Without luck" of the front page: every two entries with the luck of the cards and without."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from malice.referee.luck import find_luck
from malice.referee.rulesets import Ruleset
from malice.site_pages import text
from malice.site_pages.intervals import format_ends, format_percents
from malice.site_pages.outcomes import DealBar, make_deal_bar
from malice.site_pages.rankings import Name, SortableCell, make_name
from malice.tournaments.league.comparison import Comparison
from malice.tournaments.league.standings import Standings
from malice.tournaments.ratings.adjustment import Adjustment
from malice.tournaments.ratings.comparison import Advantage

SEATS = 2


class LuckScore(Struct, frozen=True):
    """What the first of two entries has, with luck or without; each interval as text."""

    elo: SortableCell
    elo_interval: str
    score: SortableCell
    score_interval: str


class LuckRow(Struct, frozen=True):
    """Two entries."""

    bot: Name
    other: Name
    deals: SortableCell
    outcomes: DealBar | None
    plain: LuckScore
    adjusted: LuckScore
    factor: SortableCell
    """How many times the games would tell as much with luck."""
    factor_interval: str


class LuckTable(Struct, frozen=True):
    """The pairs of a ranking whose score without luck is the sharper one."""

    rows: list[LuckRow]
    function: str
    """The beginning of the hash of the function that says what luck is."""
    exact: bool
    """Whether a 95 % interval is one."""
    pairs: list[tuple[Comparison, Adjustment]]
    """What the rows are made of."""


def make_luck_table(
    sharper: Sequence[Comparison] | None, standings: Standings, rulesets: Iterable[Ruleset]
) -> LuckTable | None:
    """Return what the section of a ranking shows; None without one.

    Args:
        sharper: the pairs of all rulesets; None if nobody asked.
        standings: the ranking.
        rulesets: those of the league.
    """
    if sharper is None or standings.seats != SEATS:
        return None
    luck = next(find_luck(ruleset) for ruleset in rulesets if ruleset.name == standings.ruleset)
    if luck is None:
        return None
    pairs = [(one, one.adjusted) for one in sharper if one.adjusted and one.rulesets == (standings.ruleset,)]
    rows = [_make_row(one, adjusted) for one, adjusted in pairs]
    return LuckTable(rows, luck.hash[:8], all(one.exact for one, _ in pairs), pairs)


def _make_row(one: Comparison, adjusted: Adjustment) -> LuckRow:
    low, high = text.format_decimal(adjusted.factor_low, 2), text.format_decimal(adjusted.factor_high, 2)
    return LuckRow(
        bot=make_name(one.new.label),
        other=make_name(one.base.label),
        deals=SortableCell(f"{one.advantage.deals:,}", one.advantage.deals),
        outcomes=make_deal_bar(one.advantage.counts),
        plain=_make_luck_score(one.advantage),
        adjusted=_make_luck_score(adjusted),
        factor=SortableCell(text.format_decimal(adjusted.factor, 2), adjusted.factor),
        factor_interval=f"{low} … {high}",
    )


def _make_luck_score(found: Advantage | Adjustment) -> LuckScore:
    return LuckScore(
        elo=SortableCell(text.format_signed(found.elo), found.elo),
        elo_interval=format_ends(found.elo_low, found.elo_high),
        score=SortableCell(text.format_percent(found.score), found.score),
        score_interval=format_percents(found.score_low, found.score_high),
    )
