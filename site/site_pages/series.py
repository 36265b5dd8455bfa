"""Series and teams: the state of a series after each game, how many each entry won, and which teams won."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct

from malice.referee.records import Key
from malice.site_pages import text
from malice.site_pages.deals import Deals, Kind, Team
from malice.site_pages.rankings import Name, SortableCell, make_name
from malice.tournaments.league.contents import Contents
from malice.tournaments.league.series import Score, SeriesScore, score_league_series


class SeriesRow(Struct, frozen=True):
    """A row of the table: an entry and its decided series."""

    bot: Name
    won: SortableCell
    played: SortableCell
    share: SortableCell


def describe_standing(score: Score | None) -> str:
    """The state of a series after a game, with the points by seat; empty for a game outside a series."""
    if score is None:
        return ""
    points = " – ".join(map(text.format_decimal, score.points))
    return f"series {score.series}: {points}{', won' if score.won else ''}"


def find_targets(source: Contents) -> dict[str, int]:
    """The points that win a series, by ruleset; 0 where games are single or the tournament plays no series."""
    plays = source.config.series
    return {ruleset.name: ruleset.match.target if plays else 0 for ruleset in source.rulesets}


def score_played_series(source: Contents) -> dict[Key, Score]:
    """The score of the series after each game; empty if the tournament plays no series."""
    return score_league_series(source) if source.config.series else {}


def make_series_rows(scores: Mapping[str, SeriesScore]) -> list[SeriesRow]:
    """The entries, highest share of series won first."""
    order = sorted(scores, key=lambda label: (-scores[label].won / scores[label].played, label))
    return [_make_series_row(label, scores[label]) for label in order]


def _make_series_row(label: str, score: SeriesScore) -> SeriesRow:
    share = score.won / score.played
    return SeriesRow(
        bot=make_name(label),
        won=SortableCell(f"{score.won:,}", score.won),
        played=SortableCell(f"{score.played:,}", score.played),
        share=SortableCell(text.format_percent(share), share),
    )


class TeamRow(Struct, frozen=True):
    """A row of the table: a team and its results."""

    bots: list[Name]
    games: SortableCell
    won: SortableCell
    drawn: SortableCell
    lost: SortableCell
    score: SortableCell


def make_team_rows(deals: Deals, kind: Kind, shown: Collection[str]) -> list[TeamRow]:
    """The teams of a ruleset, best score first; none if it has no partners.

    Args:
        deals: the results.
        kind: the ruleset, and how many seats it has.
        shown: the names that have pages; teams of others, older versions, are left out.
    """
    found = deals.count_team_results(kind)
    counts = {team: result for team, result in found.items() if set(team) <= set(shown)}

    def order(team: Team) -> tuple[float, int, Team]:
        return (-_compute_score(counts[team]), -sum(counts[team]), team)

    return [_make_team_row(team, counts[team]) for team in sorted(counts, key=order)]


def _compute_score(counts: tuple[int, int, int]) -> float:
    won, drawn, lost = counts
    return (won + drawn / 2) / (won + drawn + lost)


def _make_team_row(team: Team, counts: tuple[int, int, int]) -> TeamRow:
    won, drawn, lost = counts
    score = _compute_score(counts)
    return TeamRow(
        bots=[make_name(label) for label in team],
        games=_make_count(sum(counts)),
        won=_make_count(won),
        drawn=_make_count(drawn),
        lost=_make_count(lost),
        score=SortableCell(text.format_percent(score), score),
    )


def _make_count(count: int) -> SortableCell:
    return SortableCell(f"{count:,}", count)
