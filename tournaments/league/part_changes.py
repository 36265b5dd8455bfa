"""What changed in the standings since the part before the newest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean

from msgspec import Struct

from malice.tournaments.league.contents import LeagueContents, TablePlace
from malice.tournaments.league.part_ratings import PartRatings, PartStep
from malice.tournaments.league.progression import Changes, News, Progression, RankChange
from malice.tournaments.league.ranks import rank_entries
from malice.tournaments.league.standings import Row, Standings
from malice.tournaments.ratings.fit import Rating

_UNRATED = Rating(games=0, wins=0, draws=0, losses=0, score=None, average_opponent=None, pool=-1)


class Before(Struct, frozen=True):
    """The standings of one kind of game after the part before the newest."""

    ratings: Mapping[str, Rating]
    """Of those that had one."""
    ranks: Mapping[str, int]


def compute_part_changes(
    league: LeagueContents,
    found: Sequence[PartRatings],
    all_standings: Sequence[Standings],
    table: Sequence[TablePlace] = (),
) -> Changes | None:
    """Return what the newest part with rated games changed; None without a part before it.

    Only kinds of games that this part has are compared. Who does not play now takes no rank then either.

    Args:
        league: the tournament.
        found: what the standings were after each part.
        all_standings: what they are now.
        table: of a format that keeps one: as it was then.
    """
    newest = max((each.steps[-1].parts[-1] for each in found), default=-1)
    steps = {(each.ruleset, each.seats): each.steps for each in found if each.steps[-1].parts[-1] == newest}
    kinds = [each for each in all_standings if (each.ruleset, each.seats) in steps]
    if not kinds:
        return None
    *_, before, last = next(iter(steps.values()))
    progressions = (
        _compare_parts(each, *_look_back(each, steps[each.ruleset, each.seats][-2], league, table)) for each in kinds
    )
    return Changes(before.titles[-1], tuple(progressions), last.titles[-1])


def _look_back(
    standings: Standings, step: PartStep, league: LeagueContents, table: Sequence[TablePlace]
) -> tuple[Before, frozenset[str]]:
    """Return the standings after a step, and the labels that had played by then in whatever version."""
    last = step.parts[-1]
    tables = [each for part in league.parts() if part.number <= last for each in part.tables]
    known = frozenset(entrant.label for each in tables for entrant in each.entrants)
    active = [row.label for row in standings.rows if row.state == "playing"]
    if standings.by_table:
        places = {place.label: place.place for place in table if place.label in active}
        ranks = {label: 1 + sum(other < own for other in places.values()) for label, own in places.items()}
    else:
        ranks = _rank(step.ratings, active)
    return Before(step.ratings, ranks), known


def _rank(ratings: Mapping[str, Rating], active: Sequence[str]) -> dict[str, int]:
    all_ratings = [ratings.get(label, _UNRATED) for label in active]
    numbers = range(len(active))
    return {
        active[found.number]: found.rank
        for found in rank_entries(all_ratings, active, numbers, numbers)
        if found.rank is not None
    }


def _compare_parts(standings: Standings, before: Before, known: frozenset[str]) -> Progression:
    rows = [row for row in standings.rows if row.games]
    rises = [
        row.rating.elo - old
        for row in rows
        if row.rating.elo is not None and (old := _find_elo(before, row.label)) is not None
    ]
    drift = mean(rises) if rises else 0.0
    return Progression(standings.ruleset, standings.seats, drift, tuple(_list_part_changes(rows, before, known, drift)))


def _list_part_changes(
    rows: Sequence[Row], before: Before, known: frozenset[str], drift: float
) -> Iterator[RankChange]:
    for row in rows:
        old, elo = _find_elo(before, row.label), row.rating.elo
        news: News = "" if old is not None else "new version" if row.label in known else "new"
        yield RankChange(
            label=row.label,
            news=news,
            rank_before=before.ranks.get(row.label),
            rank=row.rank,
            elo_before=old,
            elo=elo,
            gain=None if elo is None or old is None else elo - old - drift,
        )


def _find_elo(before: Before, label: str) -> float | None:
    rating = before.ratings.get(label)
    return None if rating is None else rating.elo
