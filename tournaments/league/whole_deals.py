"""Games of two entries deal by deal, and the points that one of them got."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from malice.tournaments.league.contents import GameSummary


def list_complete_deals(games: Iterable[GameSummary], label: str) -> list[tuple[float, float]]:
    """Return what an entry got in both games of each deal; nothing where a deal is one game."""
    whole = [deal for deal in group_complete_deals(games) if len(deal) == 2]
    return [(get_score(one, label), get_score(other, label)) for one, other in whole]


def group_complete_deals(games: Iterable[GameSummary]) -> list[list[GameSummary]]:
    """Return the deals of which all games are there."""
    deals: dict[tuple[int, int, int], list[GameSummary]] = defaultdict(list)
    for game in games:
        deals[game.key.part, game.key.table, game.key.deal].append(game)
    return [deal for deal in deals.values() if len(deal) == deal[0].rotations]


def compute_score(games: Iterable[GameSummary], label: str) -> float:
    """Return the share of the points that an entry got in its games; one half without games."""
    scores = [get_score(game, label) for game in games if label in game.labels]
    return sum(scores) / len(scores) if scores else 0.5


def get_score(game: GameSummary, label: str) -> float:
    """Return the share of the points of a game that an entry got."""
    return game.finish().points[game.labels.index(label)] / 2
