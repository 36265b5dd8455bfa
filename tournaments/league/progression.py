"""What changed between two states of the standings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import mean
from typing import Literal

from msgspec import Struct

from malice.tournaments.league.choice import EVERYTHING, Choice
from malice.tournaments.league.contents import LeagueContents
from malice.tournaments.league.ranking import compute_league_standings
from malice.tournaments.league.standings import Row, Standings

News = Literal["", "new", "gone", "new version"]


class RankChange(Struct, frozen=True):
    """An entry before and after."""

    label: str
    news: News
    """Whether it is new, gone, or plays in another version; empty if it is the same bot."""
    rank_before: int | None
    rank: int | None
    elo_before: float | None
    elo: float | None
    gain: float | None
    """By how much its Elo rose, relative to the entries that are the same bots as before; None without both figures."""


class Progression(Struct, frozen=True):
    """What changed under one ruleset with one number of seats."""

    ruleset: str
    seats: int
    drift: float
    """By how much the Elo of the entries that are the same bots rose on average, which counts as no change."""
    moves: tuple[RankChange, ...]
    """In the order of the ranking; those that are gone come last."""


class Changes(Struct, frozen=True):
    """What changed in a league since an earlier state of it, or since another league."""

    since: str
    """The name of its file, without its folder, the day, or the title of a part."""
    progressions: tuple[Progression, ...]
    part: str = ""
    """The title of the newest part, if the earlier state is that before this part."""


def compute_progression(
    before: LeagueContents, after: LeagueContents, choice: Choice = EVERYTHING
) -> tuple[Progression, ...]:
    """Return what changed between two states of a league, or between two leagues.

    Args:
        before: the earlier state.
        after: the later one.
        choice: which games of the later state to rate.
    """
    earlier = {(each.ruleset, each.seats): each for each in compute_league_standings(before, Choice(choice.versions))}
    same = _list_same(before, after)
    return tuple(
        _compare(earlier.get((standings.ruleset, standings.seats)), standings, same)
        for standings in compute_league_standings(after, choice)
    )


def _list_same(before: LeagueContents, after: LeagueContents) -> frozenset[str]:
    """Return the labels that stand for the same content in both."""
    contents = {entry.label: entry.hash for entry in before.entries()}
    return frozenset(entry.label for entry in after.entries() if contents.get(entry.label) == entry.hash)


def _compare(before: Standings | None, after: Standings, same: frozenset[str]) -> Progression:
    old = {row.label: row for row in before.rows if row.games} if before else {}
    # Who changed and has not played since is not gone.
    here = {row.label for row in after.rows if row.state != "disqualified"} & old.keys()
    new = {row.label: row for row in after.rows if row.games or row.label in here}
    pairs = [(_get_elo(old.get(label)), _get_elo(new[label])) for label in new if label in same]
    rises = [elo - before for before, elo in pairs if elo is not None and before is not None]
    drift = mean(rises) if rises else 0.0
    return Progression(after.ruleset, after.seats, drift, tuple(_list_moves(old, new, same, drift)))


def _list_moves(
    old: Mapping[str, Row], new: Mapping[str, Row], same: frozenset[str], drift: float
) -> Iterator[RankChange]:
    for label in [*new, *(label for label in old if label not in new)]:
        before, after = old.get(label), new.get(label)
        elo_before, elo = _get_elo(before), _get_elo(after)
        yield RankChange(
            label=label,
            news=_describe_news(before, after, label in same),
            rank_before=before.rank if before else None,
            rank=after.rank if after else None,
            elo_before=elo_before,
            elo=elo,
            gain=None if elo is None or elo_before is None else elo - elo_before - drift,
        )


def _get_elo(row: Row | None) -> float | None:
    return row.rating.elo if row else None


def _describe_news(before: Row | None, after: Row | None, same: bool) -> News:
    if before is None:
        return "new"
    if after is None:
        return "gone"
    return "" if same else "new version"
