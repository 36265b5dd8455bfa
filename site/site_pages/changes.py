"""The box "What changed" of the front page: ranks and Elo before and after."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from malice.site_pages import text
from malice.site_pages.rankings import Name, Ranking, SortableCell, make_name
from malice.tournaments.league.progression import Changes, Progression, RankChange

MOVERS = 5


class ChangeRow(Struct, frozen=True):
    """An entry before and after."""

    bot: Name
    has_page: bool
    """An entry of another league has none."""
    rank: SortableCell
    rank_before: SortableCell
    elo: SortableCell
    elo_before: SortableCell
    gain: SortableCell
    news: str


class ChangeTable(Struct, frozen=True):
    """What changed under one ruleset with one number of seats."""

    title: str
    anchor: str
    """The id of its ranking."""
    zero: str
    """What gains are measured from, in a sentence."""
    rows: list[ChangeRow]
    movers: list[tuple[Name, RankMark]]
    """Whose rank moved most; at most `MOVERS`."""
    unmoved: bool
    """Whether no rank moved."""


class ChangeBox(Struct, frozen=True):
    """What changed under all rulesets."""

    since: str
    tables: list[ChangeTable]
    part: str
    """The title of the part that brought the changes; empty if somebody asked for other ones."""


class RankMark(Struct, frozen=True):
    """How the rank of an entry moved."""

    text: str
    """An arrow with the number of ranks, or `new`."""
    title: str
    """The same in words."""
    up: bool | None
    """None if it is new."""


def mark_moves(changes: Changes | None) -> dict[tuple[str, int], dict[str, RankMark]]:
    """How ranks moved, by ruleset and number of seats, then by the name of the bot's page."""
    found = {} if changes is None else {(each.ruleset, each.seats): each.moves for each in changes.progressions}
    return {
        kind: {text.make_slug(move.label): mark for move in moves if (mark := _mark_move(move))}
        for kind, moves in found.items()
    }


def _mark_move(move: RankChange) -> RankMark | None:
    if move.rank is None:
        return None
    if move.rank_before is None:
        return RankMark("new", "has not been ranked before", None) if move.news == "new" else None
    rise = move.rank_before - move.rank
    if not rise:
        return None
    return RankMark(f"{'▲' if rise > 0 else '▼'}{abs(rise)}", f"was {move.rank_before}", rise > 0)


def make_change_box(changes: Changes | None, rankings: Sequence[Ranking], labels: Collection[str]) -> ChangeBox | None:
    """Make the box of changes; None without one.

    Args:
        changes: what changed; None if nothing can be told.
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
    return ChangeBox(changes.since, tables, changes.part)


def _make_table(progression: Progression, ranking: Ranking, labels: Collection[str]) -> ChangeTable:
    return ChangeTable(
        title=ranking.title,
        anchor=ranking.anchor,
        zero=_explain_zero(progression),
        rows=[_make_row(place, move, labels) for place, move in enumerate(progression.moves, 1)],
        movers=_list_movers(progression.moves, labels)[:MOVERS],
        unmoved=not any(_mark_move(move) for move in progression.moves),
    )


def _list_movers(moves: Sequence[RankChange], labels: Collection[str]) -> list[tuple[Name, RankMark]]:
    """The entries with a page whose rank moved, those that moved most first, new ones last."""

    def order(move: RankChange) -> int:
        return 0 if move.rank is None or move.rank_before is None else -abs(move.rank_before - move.rank)

    moved = [(move, mark) for move in moves if move.label in labels and (mark := _mark_move(move))]
    return [(make_name(move.label), mark) for move, mark in sorted(moved, key=lambda pair: order(pair[0]))]


def _explain_zero(progression: Progression) -> str:
    if not any(move.news == "" and move.gain is not None for move in progression.moves):
        return "No bot stayed the same, so the gain is the plain difference."
    moved = text.format_signed(progression.drift)
    return (
        "Elo is relative, so the gain takes the bots that did not change as the zero"
        f" (on average their figures moved by {moved})."
    )


def _make_row(place: int, move: RankChange, labels: Collection[str]) -> ChangeRow:
    return ChangeRow(
        bot=make_name(move.label),
        has_page=move.label in labels,
        rank=SortableCell(text.NONE) if move.rank is None else SortableCell(str(move.rank), place),
        rank_before=SortableCell(text.NONE)
        if move.rank_before is None
        else SortableCell(str(move.rank_before), move.rank_before),
        elo=_make_elo(move.elo),
        elo_before=_make_elo(move.elo_before),
        gain=_make_elo(move.gain),
        news=move.news,
    )


def _make_elo(elo: float | None) -> SortableCell:
    return SortableCell(text.format_signed(elo), elo)
