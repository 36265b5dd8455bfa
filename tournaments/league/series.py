"""Series: a table plays deal after deal in one rotation until an entry has the points that win.

Every game is rated on its own; points count for the series alone. Each rotation of a table has its own series, so that
the luck of the cards is the same for all seats.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from referee.records import Key
from tournaments.league.contents import Game, LeagueContents


class Score(Struct, frozen=True):
    """The score of a series after a game."""

    series: int
    """The number of the series in this table and rotation, from 0."""
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
    return dict(score_series(league.games(), {each.name: each.match.target for each in league.rulesets()}))


def score_series(games: Iterable[Game], targets: Mapping[str, int]) -> Iterator[tuple[Key, Score]]:
    """Return the score of the series after each game, for the rulesets that play series.

    Args:
        games: finished games in any order; scores end before the first missing deal of a rotation.
        targets: by ruleset, the points that win a series; 0 where games are single.
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


def list_open_series(league: LeagueContents) -> list[tuple[Game, Score]]:
    """Return the undecided series, each with its last game and the score after that game.

    A series that began only after the planned deals is left out: it came with the deals that decided the one before.
    """
    scores, last_deal = score_league_series(league), league.config().deals - 1
    chains: dict[tuple[int, int], tuple[Game, Score]] = {}
    settled: set[tuple[int, int]] = set()
    for game in sorted(league.games(), key=lambda game: game.key):
        if score := scores.get(game.key):
            chain = (game.key.table, game.key.rotation)
            chains[chain] = game, score
            if score.won and game.key.deal >= last_deal:
                settled.add(chain)
    return [(game, score) for chain, (game, score) in chains.items() if chain not in settled and not score.won]


def tally_series(games: Iterable[Game], targets: Mapping[str, int]) -> dict[str, dict[str, Tally]]:
    """Count the decided series by ruleset and label; entries that tie with the most points all win."""
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
