"""Series: a table plays deal after deal in one rotation until an entry has the points that win.

Every game is rated on its own; points count for the series alone. Each rotation of a table has its own series, so that
the luck of the cards is the same for all seats.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from malice.referee.records import Key
from malice.referee.rulesets import Ruleset
from malice.tournaments.league.contents import Contents, GameSummary
from malice.tournaments.league.parts import Part, list_chain


class Score(Struct, frozen=True):
    """The score of a series after a game."""

    series: int
    """The number of the series in this table and rotation, from 0."""
    points: tuple[int, ...]
    """By seat of the game."""
    won: bool
    """Whether this game decided the series."""


class SeriesScore(Struct, frozen=True):
    """The series of an entry under one ruleset."""

    won: int
    played: int
    """Series that were decided."""


def plays_series(rulesets: Iterable[Ruleset]) -> bool:
    """Whether games of any of these rulesets belong to series."""
    return any(each.match.target for each in rulesets)


def score_league_series(league: Contents) -> dict[Key, Score]:
    """The score of the series after each game of a tournament, for the rulesets that play series."""
    targets = {each.name: each.match.target for each in league.rulesets}
    return dict(score_series(league.games, targets, league.parts)) if any(targets.values()) else {}


def score_series(
    games: Iterable[GameSummary], targets: Mapping[str, int], parts: Sequence[Part] = ()
) -> Iterator[tuple[Key, Score]]:
    """Yield the score of the series after each game, for the rulesets that play series.

    Args:
        games: finished games in any order; scores end before the first missing deal of a rotation.
        targets: by ruleset, the points that win a series; 0 where games are single.
        parts: those of the tournament, in which a table may go on with the series of an earlier one.
    """
    for (_, ruleset), chain in sorted(_chain_games(games, targets, parts).items()):
        yield from _score_chain(chain, targets[ruleset])


def _chain_games(
    games: Iterable[GameSummary], targets: Mapping[str, int], parts: Sequence[Part]
) -> dict[tuple[tuple[int, int, int], str], list[GameSummary]]:
    """The games of each chain of series, by its first table, rotation and ruleset, in the order of play."""
    chains: dict[tuple[tuple[int, int, int], str], list[GameSummary]] = defaultdict(list)
    for game in games:
        if targets[game.ruleset]:
            first = list_chain(parts, game.key.part, game.key.table)[0]
            chains[(*first, game.key.rotation), game.ruleset].append(game)
    for chain in chains.values():
        chain.sort(key=lambda game: game.key)
    return chains


def _score_chain(games: list[GameSummary], target: int) -> Iterator[tuple[Key, Score]]:
    points: dict[str, int] = defaultdict(int)
    series = 0
    for _, played in groupby(games, lambda game: game.key.part):
        for deal, game in enumerate(played):
            if game.key.deal != deal:
                return
            for label, score in zip(game.labels, game.scores, strict=True):
                points[label] += score
            won = max(points.values()) >= target
            yield game.key, Score(series, tuple(points[label] for label in game.labels), won)
            if won:
                points.clear()
                series += 1


def list_open_series(league: Contents) -> list[tuple[GameSummary, Score]]:
    """The undecided series, each with its last game and the score after that game."""
    targets = {each.name: each.match.target for each in league.rulesets}
    return list_undecided(league.games, targets, league.parts) if any(targets.values()) else []


def list_undecided(
    games: Iterable[GameSummary], targets: Mapping[str, int], parts: Sequence[Part]
) -> list[tuple[GameSummary, Score]]:
    """The undecided series, each with its last game and the score after that game.

    A series that began only after the planned deals is left out: it came with the deals that decided the one
    before.

    Args: as `score_series`.
    """
    played = list(games)
    scores = dict(score_series(played, targets, parts))
    found = []
    for chain in _chain_games(played, targets, parts).values():
        scored = [(game, scores[game.key]) for game in chain if game.key in scores]
        last = max((at for at, (game, _) in enumerate(scored) if not _is_in_block(game, parts)), default=0)
        if scored and not any(score.won for _, score in scored[last:]):
            found.append(scored[-1])
    return found


def _is_in_block(game: GameSummary, parts: Sequence[Part]) -> bool:
    return bool(parts) and parts[game.key.part].block


def count_series(
    games: Iterable[GameSummary], targets: Mapping[str, int], parts: Sequence[Part] = ()
) -> dict[str, dict[str, SeriesScore]]:
    """Count the decided series by ruleset and label; entries that tie with the most points all win.

    Args: as `score_series`.
    """
    played = {game.key: game for game in games}
    counts: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for key, score in score_series(played.values(), targets, parts):
        if score.won:
            game = played[key]
            for label, points in zip(game.labels, score.points, strict=True):
                counts[game.ruleset][label][0] += points == max(score.points)
                counts[game.ruleset][label][1] += 1
    return {
        ruleset: {label: SeriesScore(*count) for label, count in by_label.items()}
        for ruleset, by_label in counts.items()
    }
