"""Series: deals of one table in one rotation, one after the other, until an entry has the points that win.

A series is a chain of games; every game is rated for itself, and the points only serve the series. Each
rotation of a table has series of its own, so that the luck of the cards meets all seats alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from referee.records import Key
from tournaments.league.contents import Game, LeagueContents


class Score(Struct, frozen=True):
    """Where a series stands after a game."""

    series: int
    """Counts the series of this table and rotation, from 0."""
    points: tuple[int, ...]
    """By seat of the game."""
    won: bool
    """Whether this game decided the series."""


class Tally(Struct, frozen=True):
    """The series of an entry under one ruleset."""

    won: int
    played: int
    """Series that were decided."""


def score_league_series(league: LeagueContents) -> dict[Key, Score]:
    """Return the score of the series after each game of a league, for the rulesets that play series."""
    return dict(score_series(league.games(), {each.name: each.rules.match_target for each in league.rulesets()}))


def score_series(games: Iterable[Game], targets: Mapping[str, int]) -> Iterator[tuple[Key, Score]]:
    """Return where the series stands after each game, for the rulesets that play series.

    Args:
        games: finished games in any order; a chain breaks off before a deal that is missing.
        targets: by ruleset, the points that win a series; 0 for single games.
    """
    chains: dict[tuple[int, int], list[Game]] = defaultdict(list)
    for game in games:
        if targets[game.ruleset]:
            chains[game.key.table, game.key.rotation].append(game)
    for chain in chains.values():
        yield from _score_chain(sorted(chain, key=lambda game: game.key.deal), targets[chain[0].ruleset])


def _score_chain(games: list[Game], target: int) -> Iterator[tuple[Key, Score]]:
    points: dict[str, int] = defaultdict(int)
    series = 0
    for deal, game in enumerate(games):
        if game.key.deal != deal:
            return
        for label, score in zip(game.labels, game.scores, strict=True):
            points[label] += score
        won = max(points.values()) >= target
        yield game.key, Score(series, tuple(points[label] for label in game.labels), won)
        if won:
            points.clear()
            series += 1


def tally_series(games: Iterable[Game], targets: Mapping[str, int]) -> dict[str, dict[str, Tally]]:
    """Count the decided series by ruleset and label; equal points at the end win it for all who have them."""
    played = {game.key: game for game in games}
    counts: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for key, score in score_series(played.values(), targets):
        if score.won:
            game = played[key]
            for label, points in zip(game.labels, score.points, strict=True):
                counts[game.ruleset][label][0] += points == max(score.points)
                counts[game.ruleset][label][1] += 1
    return {
        ruleset: {label: Tally(*count) for label, count in by_label.items()} for ruleset, by_label in counts.items()
    }
