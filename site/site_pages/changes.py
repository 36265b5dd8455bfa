"""The box "What changed" of the front page: ranks and Elo before and after."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from site_pages import text
from site_pages.rankings import Cell, Name, Ranking, make_name
from tournaments.league.progression import Changes, Move, Progression


class ChangeRow(Struct, frozen=True):
    """An entry before and after."""

    bot: Name
    has_page: bool
    """An entry of another league has none."""
    rank: Cell
    rank_before: Cell
    elo: Cell
    elo_before: Cell
    gain: Cell
    news: str


class ChangeTable(Struct, frozen=True):
    """What changed under one ruleset with one number of seats."""

    title: str
    anchor: str
    """The id of its ranking."""
    zero: str
    """What gains are measured from, in a sentence."""
    rows: list[ChangeRow]


class ChangeBox(Struct, frozen=True):
    """What changed under all rulesets."""

    since: str
    tables: list[ChangeTable]


def make_change_box(changes: Changes | None, rankings: Sequence[Ranking], labels: Collection[str]) -> ChangeBox | None:
    """Return what the box shows; None without a box.

    Args:
        changes: what changed; None if nobody asked.
        rankings: the rankings of the page.
        labels: the entries that have a page.
    """
    if changes is None:
        return None
    found = {(ranking.ruleset, ranking.seats): ranking for ranking in rankings}
    tables = [
        _make_table(each, found[each.ruleset, each.seats], labels)
        for each in changes.progressions
        if (each.ruleset, each.seats) in found
    ]
    return ChangeBox(changes.since, tables)


def _make_table(progression: Progression, ranking: Ranking, labels: Collection[str]) -> ChangeTable:
    return ChangeTable(
        title=ranking.title,
        anchor=ranking.anchor,
        zero=_explain_zero(progression),
        rows=[_make_row(place, move, labels) for place, move in enumerate(progression.moves, 1)],
    )


def _explain_zero(progression: Progression) -> str:
    if not any(move.news == "" and move.gain is not None for move in progression.moves):
        return "No bot stayed the same, so the gain is the plain difference."
    moved = text.format_signed(progression.drift)
    return (
        "Elo is relative, so the gain takes the bots that did not change as the zero"
        f" (on average their figures moved by {moved})."
    )


def _make_row(place: int, move: Move, labels: Collection[str]) -> ChangeRow:
    return ChangeRow(
        bot=make_name(move.label),
        has_page=move.label in labels,
        rank=Cell(text.NONE) if move.rank is None else Cell(str(move.rank), place),
        rank_before=Cell(text.NONE) if move.rank_before is None else Cell(str(move.rank_before), move.rank_before),
        elo=_make_elo(move.elo),
        elo_before=_make_elo(move.elo_before),
        gain=_make_elo(move.gain),
        news=move.news,
    )


def _make_elo(elo: float | None) -> Cell:
    return Cell(text.format_signed(elo), elo)
